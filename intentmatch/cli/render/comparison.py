"""The comparison of two versions: the edited intents, the effect on each intent, and each changed answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intentmatch.cli.render import output

if TYPE_CHECKING:
    from intentmatch.evaluation.compare.changes import AnswerChange
    from intentmatch.evaluation.compare.diff import Diff

_MOST_INTENTS = 20
_MOST_FACTS = 12
_MOST_CHANGES = 15
_COLOURS = {"better": "green", "worse": "red", "other": "yellow"}


def diff(found: Diff, failed: bool) -> None:
    """Print accuracies, edited intents, effects on intents, changed answers, and a summary line."""
    from intentmatch.evaluation.compare.diff import EFFECTS

    output.say(output.style(f"{found.names[0]} against {found.names[1]}", bold=True))
    _accuracies(found)
    _edited_intents(found)
    _effects(found)
    if found.facts:
        output.heading("Settings and thresholds")
        output.table(["", "before", "now"], [[*fact] for fact in found.facts[:_MOST_FACTS]])
        _more(len(found.facts) - _MOST_FACTS)
    for effect, title in EFFECTS.items():
        changes = [change for change in found.changes if change.effect == effect]
        if changes:
            _changes(title, changes)
    output.echo()
    output.say(output.style(found.summary, fg="red" if failed else "green", bold=True))


def _accuracies(found: Diff) -> None:
    """Print the accuracy of both versions for each kind of message, and the number of changes."""
    from intentmatch.evaluation.compare.diff import TITLES
    from intentmatch.evaluation.reports.number_format import percent

    rows = []
    for asked in found.asked:
        before, now = asked.accuracy()
        changed = [change for change in found.changes if change.source == asked.source]
        counts = [str(sum(c.effect == effect for c in changed)) for effect in ("better", "worse", "other")]
        rows.append([TITLES[asked.source], str(len(asked.new)), percent(before), percent(now), *counts])
    output.table(["asked of both", "", "right before", "right now", "fixed", "broken", "otherwise"], rows)
    old, new = found.not_asked
    if old or new:
        output.say(f"  utterances not held out of both: {old} of the old version, {new} of the new version")


def _edited_intents(found: Diff) -> None:
    """Print the intents that are renamed, new or removed."""
    lines = [f"renamed: {old} to {new}" for old, new in found.edit.renamed.items()]
    lines += [f"new: {name}" for name in found.edit.added]
    lines += [f"removed: {name}" for name in found.edit.removed]
    if lines:
        output.heading("Intents")
    for line in lines:
        output.say(f"  {line}")


def _effects(found: Diff) -> None:
    """Print the effect on each intent."""
    from intentmatch.evaluation.compare.diff import INTENT_HEAD

    rows = found.intent_cells()
    if rows:
        more = f", {_MOST_INTENTS} of {len(rows)}" if len(rows) > _MOST_INTENTS else ""
        output.heading(f"Intents, the worst first{more}")
        output.table(INTENT_HEAD, rows[:_MOST_INTENTS])


def _changes(title: str, changes: Sequence[AnswerChange]) -> None:
    """Print changed answers, each with both answers and the reasons."""
    from intentmatch.evaluation.compare.changes import describe_answer
    from intentmatch.evaluation.reports.number_format import place

    output.heading(f"{title}: {len(changes)}")
    # Test cases first: the author wrote them down as requirements, held-out utterances are a sample.
    ordered = sorted(changes, key=lambda change: ("tests", "messages", "held_out").index(change.source))
    for change in ordered[:_MOST_CHANGES]:
        where = place(change.new.case.location)
        message = output.style(f"“{change.new.case.text}”", fg=_COLOURS[change.effect])
        output.say(f"  {message}{f' {where}' if where else ''}  {_moved(change)}")
        lines = [
            f"before: {describe_answer(change.old)}",
            f"now:    {describe_answer(change.new)}",
            *(f"why: {r}" for r in change.reasons),
        ]
        for line in lines:
            output.say(output.style(f"      {line}", dim=True))
    _more(len(changes) - _MOST_CHANGES)


def _moved(change: AnswerChange) -> str:
    """Return both answers, and the expected one if both are wrong."""
    from intentmatch.evaluation.outcomes import expected_name

    moved = f"{change.old.answer} → {change.new.answer}"
    both_wrong = change.source != "messages" and change.effect == "other"
    return f"{moved} (expected {expected_name(change.new.case)})" if both_wrong else moved


def _more(left: int) -> None:
    """Say how many rows are not shown."""
    if left > 0:
        output.say(f"  and {left} more; --json and --html write all of them")
