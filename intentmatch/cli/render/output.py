"""Output that every command shares: tables, problems, diffs, JSON and errors.

Colours and rules appear in a terminal only; in a file or a pipe the same text is plain. All text goes through `echo`,
which lets no sign of a file name, a message or an author's name act on the terminal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from intentmatch.core.errors import IntentMatchError, Problem, RegistryError, counted
from intentmatch.text.printable import one_line, shown, shown_json

PROBLEM_FORMS = ("human", "full", "concise", "github")
"""Forms of `problems`: full shows source lines, concise does not; human is full in a terminal, concise elsewhere."""

# In fewer columns, more words would be broken than wrapped.
_LEAST_COLUMNS = 40
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


# Begins the codes of our colours until they are printed: text of others cannot know it, so that its codes stay text.
_OURS = str(int.from_bytes(os.urandom(8), "big"))
_STYLED = re.compile(rf"\x1b\[{_OURS};([0-9;]*m)")

_left_out: list[str] = []


def shorten(prefix: str) -> None:
    """Leave a prefix of paths out of all that is printed from now on."""
    _left_out.append(prefix)


def lengthen(prefix: str) -> None:
    """Print a prefix of paths again."""
    _left_out.remove(prefix)


def _short(text: str) -> str:
    for prefix in _left_out:
        text = text.replace(prefix, "")
    return text


def style(text: str, **styles: Any) -> str:
    """Return a text with styles for `echo`, as `click.style` does."""
    return click.style(text, **styles).replace("\x1b[", f"\x1b[{_OURS};") if styles else text


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a text as it is, but for signs that would act on the terminal: they are written as `\\x1b`."""
    # Every second part is a code of ours.
    parts = _STYLED.split(_short(text))
    parts[::2] = map(shown, parts[::2])
    parts[1::2] = (f"\x1b[{code}" for code in parts[1::2])
    click.echo("".join(parts), err=err)


def in_terminal(*, err: bool = False) -> bool:
    """Whether what is printed is read in a terminal, and so must fit its width."""
    return (sys.stderr if err else sys.stdout).isatty()


def width() -> int:
    """Return the columns of the terminal."""
    return max(_LEAST_COLUMNS, shutil.get_terminal_size().columns)


def say(text: str = "", *, err: bool = False, indent: str | None = None) -> None:
    """Print a text; in a terminal, lines that are too long are wrapped between words.

    Further lines begin with `indent`, by default two spaces more than the first one.
    """
    text = _short(text)
    if in_terminal(err=err) and len(text) > _LEAST_COLUMNS:
        from intentmatch.cli.render.layout import wrapped

        text = "\n".join(wrapped(text, width(), indent))
    echo(text, err=err)


def heading(text: str) -> None:
    """Print an empty line and a bold heading."""
    say("\n" + style(text, bold=True))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: laid out in the width of a terminal, elsewhere with one line for each row."""
    from intentmatch.cli.render import layout

    rows = [[_cell(cell) for cell in row] for row in rows]
    if in_terminal():
        lines = layout.table(headers, rows, width(), partial(style, bold=True))
    else:
        widths = [max(layout.cells(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
        lines = [layout.aligned(row, widths) for row in [headers, *rows]]
    for line in lines:
        echo(line)


def _cell(text: str) -> str:
    """Return a text of one line, with its styles."""
    parts = _STYLED.split(text)
    parts[::2] = map(one_line, parts[::2])
    parts[1::2] = (f"\x1b[{_OURS};{code}" for code in parts[1::2])
    return "".join(parts)


def problems(found: Sequence[Problem], form: str) -> None:
    """Print problems in one of `PROBLEM_FORMS`."""
    for problem in found:
        if form == "github":
            echo(_annotation(problem))
        else:
            _problem(problem, full=form == "full" or (form == "human" and in_terminal()))


def _problem(problem: Problem, *, full: bool, err: bool = False) -> None:
    """Print the line `file:line:column: ...` of a problem and its hint; with `full`, its source line in between."""
    severity = style(problem.severity, fg=_SEVERITY_COLOURS[problem.severity], bold=True)
    say(f"{one_line(str(problem.location))}: {severity} [{problem.rule}] {problem.message}", err=err)
    if full:
        from intentmatch.cli.render.source import excerpt  # not needed by most commands

        if lines := excerpt(problem.location):
            echo(lines[0], err=err)
            echo(style(lines[1], fg=_SEVERITY_COLOURS[problem.severity]), err=err)
    if problem.hint:
        say(style(f"  hint: {problem.hint}", dim=True), err=err)
    if full:
        echo(err=err)


def diff(text: str) -> None:
    """Print a unified diff."""
    for line in _short(text).split("\n")[:-1]:
        colour = _DIFF_COLOURS.get(line[:1])
        echo(style(line, fg=colour) if colour else line)


def as_json(value: Any) -> None:
    """Print one JSON value on one line, in UTF-8."""
    # UTF-8 whatever the terminal has: programs read this.
    click.echo(shown_json(_short(json.dumps(value, ensure_ascii=False))).encode("utf-8", "replace"))


def problem_to_dict(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain JSON values."""
    return {
        "path": problem.location.path,
        "line": problem.location.line,
        "column": problem.location.column,
        "severity": problem.severity,
        "rule": problem.rule,
        "message": problem.message,
        "hint": problem.hint,
    }


def error(raised: IntentMatchError) -> None:
    """Print an error on stderr; for a registry, each of its problems and the number of errors."""
    if isinstance(raised, RegistryError):
        count = sum(problem.severity == "error" for problem in raised.problems)
        for problem in raised.problems:
            _problem(problem, full=in_terminal(err=True), err=True)
        echo(style(counted(count, "error"), fg="red"), err=True)
    else:
        say(style("error: ", fg="red", bold=True) + str(raised), err=True)


def _annotation(problem: Problem) -> str:
    """Return a problem as a GitHub workflow command."""

    def escaped(text: str, more: str = "") -> str:
        # The percent sign first, which the others are written with.
        for character in "%\r\n" + more:
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    place = problem.location
    body = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
    path = escaped(place.path, ",:")
    level = _GITHUB_LEVELS[problem.severity]
    return f"::{level} file={path},line={place.line},col={place.column},title={problem.rule}::{escaped(body)}"
