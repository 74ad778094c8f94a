"""Output that every command shares: tables, problems, diffs, JSON and errors.

Colours and rules appear in a terminal only; in a file or a pipe the same text is plain.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from intentmatch.core.errors import IntentMatchError, Problem, RegistryError

PROBLEM_FORMS = ("human", "full", "concise", "github")
"""Forms of `problems`: full shows source lines, concise does not; human is full in a terminal, concise elsewhere."""

_GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def heading(text: str) -> None:
    """Print an empty line and a bold heading."""
    click.echo("\n" + click.style(text, bold=True))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: with rules and colours in a terminal, padded with spaces elsewhere."""
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(*headers, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for row in rows:
            drawn.add_row(*(Text(cell) for cell in row))
        Console().print(drawn)
        return
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    for row in [headers, *rows]:
        click.echo(("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip())


def problems(found: Sequence[Problem], form: str) -> None:
    """Print problems in one of `PROBLEM_FORMS`."""
    for problem in found:
        if form == "github":
            click.echo(_annotation(problem))
        else:
            _problem(problem, full=form == "full" or (form == "human" and sys.stdout.isatty()))


def _problem(problem: Problem, *, full: bool, err: bool = False) -> None:
    """Print the line `file:line:column: ...` of a problem and its hint; with `full`, its source line in between."""
    severity = click.style(problem.severity, fg=_SEVERITY_COLOURS[problem.severity], bold=True)
    click.echo(f"{problem.location}: {severity} [{problem.rule}] {problem.message}", err=err)
    if full:
        from intentmatch.cli.render.source import excerpt  # not needed by most commands

        if lines := excerpt(problem.location):
            click.echo(lines[0], err=err)
            click.echo(click.style(lines[1], fg=_SEVERITY_COLOURS[problem.severity]), err=err)
    if problem.hint:
        click.echo(click.style(f"  hint: {problem.hint}", dim=True), err=err)
    if full:
        click.echo(err=err)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun, in the plural where needed: "1 error", "2 errors"."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def diff(text: str) -> None:
    """Print a unified diff."""
    for line in text.split("\n")[:-1]:
        colour = _DIFF_COLOURS.get(line[:1])
        click.echo(click.style(line, fg=colour) if colour else line)


def as_json(value: Any) -> None:
    """Print one JSON value on one line, in UTF-8."""
    click.echo(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


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
            _problem(problem, full=sys.stderr.isatty(), err=True)
        click.echo(click.style(counted(count, "error"), fg="red"), err=True)
    else:
        click.echo(click.style("error: ", fg="red", bold=True) + str(raised), err=True)


def _annotation(problem: Problem) -> str:
    """Return a problem as a GitHub workflow command."""

    def escaped(text: str, more: str = "") -> str:
        for character in "%\r\n" + more:
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    place = problem.location
    body = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
    path = escaped(place.path, ",:")
    level = _GITHUB_LEVELS[problem.severity]
    return f"::{level} file={path},line={place.line},col={place.column},title={problem.rule}::{escaped(body)}"
