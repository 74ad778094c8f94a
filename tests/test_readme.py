"""The README is a program: its blocks are executed in order, in one folder, as a newcomer would."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from documents import Document, Runner
from rule_ids import rules_in

from intentmatch.cli.commands import cli
from intentmatch.lint import CATALOGUE
from intentmatch.registry import grammar
from intentmatch.registry.slot_grammar import KINDS, SLOT_KEYS
from intentmatch.settings import PARSERS, Settings, parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = Document(ROOT / "README.md").blocks


def test_every_block_is_executed(tmp_path: Path) -> None:
    """Files are written, commands exit as they say, Python raises nothing."""
    Runner(Document(ROOT / "README.md"), tmp_path / "clone").run()


def test_the_shown_health_is_that_of_the_shown_intents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `lint` says of the README's own file."""
    (written,) = [block.code for block in BLOCKS if block.note == "file: shop/orders.yaml"]
    (shown,) = [block.code for block in BLOCKS if "[missing-language]" in block.code]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.yaml").write_text(written, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert CliRunner().invoke(cli, ["lint", "shop/"]).stdout == shown


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
