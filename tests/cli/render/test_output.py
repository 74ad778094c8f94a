"""What commands print: nothing of others acts on the terminal, and our own colours do."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import click
import pytest
from command_line import SHOP, run

import intentmatch.cli
from intentmatch.cli.render import output
from intentmatch.core.errors import InputError, Location, Problem, RegistryError

HOSTILE = "a\x1b[2J\x1b[31mred\x07\x9b31m\u202egpj.exe\u2066\x7f\r"
ACTING = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\x7f", "\r")


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let click keep colours, and commands believe in a terminal."""
    monkeypatch.setattr(click.utils, "should_strip_ansi", lambda *_: False)
    monkeypatch.setattr(output, "in_terminal", lambda **_: True)


PRINTED = {
    "say": lambda: output.say(HOSTILE),
    "styled": lambda: output.say(output.style(HOSTILE)),
    "long": lambda: output.say("word " * 40 + HOSTILE),
    "heading": lambda: output.echo(HOSTILE),
    "table": lambda: output.table(["a"], [[HOSTILE]]),
    "diff": lambda: output.diff(f" {HOSTILE}\n"),
    "json": lambda: output.as_json({"a": HOSTILE}),
    "error": lambda: output.error(InputError(HOSTILE)),
    "problem": lambda: output.error(RegistryError([Problem(Location(HOSTILE), "error", HOSTILE, HOSTILE, HOSTILE)])),
    "annotation": lambda: output.problems([Problem(Location(HOSTILE), "error", "x", HOSTILE, HOSTILE)], "github"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_text_of_others_does_not_act(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    PRINTED[name]()

    told = printed(capsys)
    assert "gpj.exe" in told
    assert [sign for sign in ACTING if sign in told] == []


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("name", PRINTED)
def test_text_of_others_does_not_act_in_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    PRINTED[name]()

    told = click.unstyle(printed(capsys))
    assert [sign for sign in ACTING if sign in told] == []


@pytest.mark.usefixtures("terminal")
def test_our_colours_stay(capsys: pytest.CaptureFixture[str]) -> None:
    output.say(output.style("red", fg="red", bold=True) + "\x1b[32mgreen")
    output.table(["a"], [[output.style("dim", dim=True)]])

    told = printed(capsys)
    assert "\x1b[31m\x1b[1mred\x1b[0m\\x1b[32mgreen" in told
    assert "\x1b[2mdim\x1b[0m" in told


def test_cell_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["author", "note"], [["anna", "one\nroot    forged"]])

    assert printed(capsys).splitlines()[1:] == ["  anna    one\\nroot    forged"]


def test_file_name_stays_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.problems([Problem(Location("a\nb.yaml:1:1: error"), "error", "x", "wrong")], "concise")

    assert printed(capsys) == "a\\nb.yaml:1:1: error:1:1: error [x] wrong\n"


def test_commands_print_hostile_files_and_messages_as_text(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a\x1b[2J\u202e.yaml").write_text(SHOP + "extra\u202e: 1\n", encoding="utf-8")
    answers = [
        run("validate", "-i", str(folder)),
        run("match", "-i", str(folder), HOSTILE),
        run("match", "-i", str(folder), "--json", HOSTILE),
        run("validate", str(tmp_path / "none\x1b[2J")),
    ]

    assert all(answer.output for answer in answers)
    assert [sign for answer in answers for sign in ACTING if sign in answer.output] == []


def test_json_of_a_command_keeps_the_message(shop: str) -> None:
    answer = run("match", "-i", shop, "--json", "where is \u202emy order")

    assert "where is \u202emy order" in json.loads(answer.stdout).values()


def test_one_module_prints() -> None:
    folder = Path(intentmatch.cli.__file__).parent
    named = {
        (file.relative_to(folder).as_posix(), node.attr)
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "click"
        and node.attr in ("echo", "style", "secho")
    }  # fmt: skip

    # A schema of ours is written as bytes.
    assert named == {("render/output.py", "echo"), ("render/output.py", "style"), ("check.py", "echo")}
