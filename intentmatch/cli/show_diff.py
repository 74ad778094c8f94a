"""A comparison in a terminal: what was edited, what it did to which intent, and each answer that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show

if TYPE_CHECKING:
    from intentmatch.evaluation.compare.changes import Change
    from intentmatch.evaluation.compare.diff import Diff

_INTENTS = 20
_FACTS = 12
_CHANGES = 15
_COLOURS = {"better": "green", "worse": "red", "other": "yellow"}


def diff(found: Diff, failed: bool) -> None:
    """The summary, the intents, the changes, and the verdict in one line."""
    from intentmatch.evaluation.compare.diff import EFFECTS

    click.echo(click.style(f"{found.names[0]} against {found.names[1]}", bold=True))
    _asked(found)
    _edit(found)
    _intents(found)
    if found.facts:
        _heading("Settings and thresholds")
        show.table(["", "before", "now"], [[*fact] for fact in found.facts[:_FACTS]])
        _more(len(found.facts) - _FACTS)
    for effect, title in EFFECTS.items():
        some = [change for change in found.changes if change.effect == effect]
        if some:
            _changes(title, some)
    click.echo()
    click.echo(click.style(found.summary, fg="red" if failed else "green", bold=True))


def _asked(found: Diff) -> None:
    from intentmatch.evaluation.compare.diff import TITLES
    from intentmatch.evaluation.reports.number_format import percent

    rows = []
    for asked in found.asked:
        before, now = asked.accuracy()
        changed = [change for change in found.changes if change.source == asked.source]
        counts = [str(sum(c.effect == effect for c in changed)) for effect in ("better", "worse", "other")]
        rows.append([TITLES[asked.source], str(len(asked.new)), percent(before), percent(now), *counts])
    show.table(["asked of both", "", "right before", "right now", "fixed", "broken", "otherwise"], rows)
    old, new = found.not_asked
    if old or new:
        click.echo(f"  utterances that were not held out of both: {old} of the old, {new} of the new")


def _edit(found: Diff) -> None:
    """Intents that are new, gone or renamed."""
    lines = [f"renamed: {old} to {new}" for old, new in found.edit.renamed.items()]
    lines += [f"new: {name}" for name in found.edit.added]
    lines += [f"gone: {name}" for name in found.edit.removed]
    if lines:
        _heading("Intents")
    for line in lines:
        click.echo(f"  {line}")


def _intents(found: Diff) -> None:
    from intentmatch.evaluation.compare.diff import INTENT_HEAD

    rows = found.intent_cells()
    if rows:
        _heading("Intents, the worst first" + (f", {_INTENTS} of {len(rows)}" if len(rows) > _INTENTS else ""))
        show.table(INTENT_HEAD, rows[:_INTENTS])


def _changes(title: str, some: Sequence[Change]) -> None:
    from intentmatch.evaluation.compare.changes import describe_answer
    from intentmatch.evaluation.reports.number_format import place

    _heading(f"{title}: {len(some)}")
    # A test case is a promise; what was held out is a sample.
    ordered = sorted(some, key=lambda change: ("tests", "messages", "held_out").index(change.source))
    for change in ordered[:_CHANGES]:
        where = place(change.new.case.location)
        message = click.style(f"“{change.new.case.text}”", fg=_COLOURS[change.effect])
        click.echo(f"  {message}{f' {where}' if where else ''}  {_moved(change)}")
        lines = [
            f"before: {describe_answer(change.old)}",
            f"now:    {describe_answer(change.new)}",
            *(f"why: {r}" for r in change.reasons),
        ]
        for line in lines:
            click.echo(click.style(f"      {line}", dim=True))
    _more(len(some) - _CHANGES)


def _moved(change: Change) -> str:
    """From what to what, and what it should have been where both are wrong."""
    from intentmatch.evaluation.outcomes import expected_name

    moved = f"{change.old.answer} → {change.new.answer}"
    told = change.source != "messages" and change.effect == "other"
    return f"{moved} (expected {expected_name(change.new.case)})" if told else moved


def _more(left: int) -> None:
    if left > 0:
        click.echo(f"  and {left} more; --json and --html write all of them")


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True))
