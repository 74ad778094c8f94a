"""The guide page `cli` is made from `--help`: what stands between the comments `help: NAME` and `end of help`.

    python tests/cli_page.py     # write it again

What stands elsewhere on the page is written by hand, such as links to other pages.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

import click

from intentmatch.cli.commands import HEADINGS, cli, first_sentence

PAGE = Path(__file__).parents[1] / "intentmatch" / "guide" / "cli.md"
_BLOCK = re.compile(r"<!-- help: ([\w -]+) -->\n.*?<!-- end of help -->", re.DOTALL)
_SHARED = 6
"""An option that so many commands have, with the same help, stands in the table of shared options alone."""

Option = tuple[str, str]
"""An option as it is written, and its help."""


def made(page: str) -> str:
    """Return the page with all its blocks made from `--help`. Raises AssertionError if a command has none."""
    asked = [name for name in _BLOCK.findall(page) if name not in ("commands", "options")]
    known = [name for names in HEADINGS.values() for name in names]
    assert sorted(asked) == sorted(known), f"commands with and without a block: {sorted(set(asked) ^ set(known))}"
    shared = _shared_options()

    def block(found: re.Match[str]) -> str:
        name = found[1]
        if name == "commands":
            rows = [f"| [`{one}`](#{one}) | {first_sentence(_command(one))} |" for one in known]
            text = "\n".join(["| command | what it does |", "|---|---|", *rows])
        elif name == "options":
            text = _table(shared)
        else:
            text = "\n\n".join(_part(path, command, shared) for path, command in _with_subcommands(name))
        return f"<!-- help: {name} -->\n{text}\n<!-- end of help -->"

    return _BLOCK.sub(block, page)


def _command(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    return command


def _with_subcommands(name: str) -> list[tuple[str, click.Command]]:
    command = _command(name)
    more = command.commands.items() if isinstance(command, click.Group) else ()
    return [(name, command), *((f"{name} {word}", one) for word, one in more)]


def _part(path: str, command: click.Command, shared: list[Option]) -> str:
    """The usage, the help and the options of a command."""
    context = click.Context(command, info_name=f"intentmatch {path}", max_content_width=10_000)
    usage = command.get_usage(context).removeprefix("Usage: ")
    options = [option for option in _options(command) if option not in shared]
    paragraphs = [_paragraph(text) for text in inspect.cleandoc(command.help or "").split("\n\n")]
    return "\n\n".join([f"`{usage}`", *paragraphs, *([_table(options)] if options else [])])


def _paragraph(text: str) -> str:
    if text.startswith("\b\n"):
        return f"<!-- shown -->\n```text\n{text[2:]}\n```"
    return textwrap.fill(re.sub(r"<(?=\w)", r"\\<", " ".join(text.split())), 120, break_on_hyphens=False)


def _options(command: click.Command) -> list[Option]:
    context = click.Context(command)
    options = [one for one in command.params if isinstance(one, click.Option)]
    records = [option.get_help_record(context) for option in options]
    return [(_written(names), " ".join(text.split())) for names, text in filter(None, records)]


def _written(names: str) -> str:
    """An option of `--help` as code: the type of a number is N."""
    short = re.sub(r"\b(INTEGER|FLOAT)( RANGE)?\b", "N", names)
    return ", ".join(f"`{one}`" for one in re.split(r", | / ", short))


def _table(options: list[Option]) -> str:
    cells = [(names.replace("|", r"\|"), text.replace("|", r"\|")) for names, text in options]
    return "\n".join(["| option | meaning |", "|---|---|", *(f"| {names} | {text} |" for names, text in cells)])


def _shared_options() -> list[Option]:
    every = [option for names in HEADINGS.values() for name in names for _, command in _with_subcommands(name)
             for option in _options(command)]  # fmt: skip
    return [option for option, count in Counter(every).items() if count >= _SHARED]


def main() -> int:
    """Write the page again."""
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
