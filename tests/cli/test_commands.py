"""The command group: its help, its headings, and what it imports."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import run

import intentmatch
from intentmatch.cli import commands
from intentmatch.cli.commands import HEADINGS, cli, first_sentence

FOLDER = Path(commands.__file__).parent
NAMES = [name for names in HEADINGS.values() for name in names]


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_every_command_stands_under_exactly_one_heading() -> None:
    """Every command of every module of the folder; a module that defines none need not be listed."""
    for file in FOLDER.glob("*.py"):
        if file.stem != "__init__":
            importlib.import_module(f"intentmatch.cli.{file.stem}")

    assert sorted(cli.commands) == sorted(NAMES)
    assert len(NAMES) == len(set(NAMES))


def test_help_lists_commands_under_headings() -> None:
    shown = run("--help").stdout
    sections = re.split(r"^(\w+):\n", shown, flags=re.MULTILINE)
    listed = {
        heading: [line.split()[0] for line in body.splitlines() if line.strip()]
        for heading, body in zip(sections[1::2], sections[2::2], strict=True)
    }

    assert list(HEADINGS) == ["Match", "Author", "Measure", "Operate", "Convert"]
    assert {heading: listed[heading] for heading in HEADINGS} == {h: list(names) for h, names in HEADINGS.items()}


@pytest.mark.parametrize("words", [("--help",), ("inbox", "--help")])
def test_no_description_is_cut_off_at_80_columns(words: tuple[str, ...]) -> None:
    """Each command has one line."""
    group = cli if len(words) == 1 else command("inbox")
    assert isinstance(group, click.Group)
    with click.Context(group) as context:
        described = {name: group.get_command(context, name) for name in group.list_commands(context)}

    lines = run(*words).stdout.splitlines()

    assert max(map(len, lines)) < 80
    for name, found in described.items():
        assert found is not None
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.split(maxsplit=1)[1] == first_sentence(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(name: str) -> None:
    done = run(name, "--help")

    assert done.exit_code == 0
    assert "Usage:" in done.stdout
    assert "Example" in done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_help(name: str) -> None:
    options = [parameter for parameter in command(name).params if isinstance(parameter, click.Option)]

    assert [option.name for option in options if not option.help] == []


def test_version_is_printed() -> None:
    assert intentmatch.__version__ in run("--version").stdout


def test_garbage_collection_is_frozen_at_exit() -> None:
    """Whatever the exit code: at exit the interpreter would search all objects of a registry."""
    program = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 0)); "
        "from intentmatch.cli import main; sys.argv = ['intentmatch', 'no-such-command']; main()"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "True")


def test_match_help_imports_only_what_match_needs() -> None:
    program = (
        "import sys; from intentmatch.cli.commands import cli; "
        "cli.main(['match', '--help'], standalone_mode=False); "
        "print(*(name for name in sys.modules if name.startswith('intentmatch.')))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    loaded = done.stdout.splitlines()[-1].split()
    assert {name.removeprefix("intentmatch.cli.") for name in loaded if name.startswith("intentmatch.cli.")} == {
        "commands",
        "completion",
        "match",
        "options",
        "render",
        "render.answer",
        "render.legacy_streams",
        "render.output",
        "render.progress",
    }
    assert {name for name in loaded if not name.startswith("intentmatch.cli")} == {
        "intentmatch.core",
        "intentmatch.core.errors",
        "intentmatch.storage",
        "intentmatch.storage.postgres",
        "intentmatch.storage.postgres.address",
        "intentmatch.storage.unwritable",
        "intentmatch.text",
        "intentmatch.text.printable",
    }
