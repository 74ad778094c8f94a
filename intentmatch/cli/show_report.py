"""An evaluation in a terminal: the headline, the worst of it, and where to look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show

if TYPE_CHECKING:
    from intentmatch.evaluation.gate import Check
    from intentmatch.evaluation.metrics import IntentRow, LanguageRow
    from intentmatch.evaluation.outcomes import Outcome
    from intentmatch.evaluation.reports.report import Part, Report

_WORST = 10
_CONFUSIONS = 6
_EXAMPLES = 2
_HINTS = 8


def report(found: Report) -> None:
    """Each part, then what the learning curve says."""
    for number, part in enumerate(found.parts):
        if number:
            click.echo()
        _part(part)
    if found.curve:
        _curve(found)


def gate(checks: Sequence[Check]) -> None:
    """What was demanded: passed to standard output, failed to standard error."""
    for check in checks:
        if check.passed:
            click.echo("\n" + click.style("passed: ", fg="green", bold=True) + check.says)
        else:
            click.echo(click.style("gate failed: ", fg="red", bold=True) + check.says, err=True)


def _part(part: Part) -> None:
    from intentmatch.evaluation.metrics import intent_rows, language_rows
    from intentmatch.evaluation.reports.report import HELD_OUT, TITLES

    n = part.numbers
    outside = "left out" if part.name == HELD_OUT else "out of scope"
    title = f"{TITLES[part.name].capitalize()}: {n.in_scope} in scope, {n.cases - n.in_scope} {outside}"
    title += " with their intent" if part.name == HELD_OUT else ""
    click.echo(click.style(title, bold=True))
    show.table(["", "", ""], _headline(part, outside))
    if part.not_asked:
        click.echo(f"  {part.not_asked} utterances not asked: their intents would have been left with none.")
    if part.negatives:
        taken = sum(negative.taken for negative in part.negatives)
        click.echo(f"  {taken} of {len(part.negatives)} negative utterances were taken for the intent they are not.")
    languages = language_rows(part.outcomes)
    if len(languages) > 1:
        _languages(languages, outside)
    rows = [row for row in intent_rows(part.outcomes) if row.cases]
    if rows:
        _intents(sorted(rows, key=lambda row: (row.recall or 0.0, row.intent)))
    _confusions(part)


def _headline(part: Part, outside: str) -> list[list[str]]:
    """What, how much, and of what it is a share."""
    from intentmatch.evaluation.reports.number_format import decimal, percent
    from intentmatch.evaluation.reports.report import HELD_OUT

    n = part.numbers
    rows = [
        ["overall accuracy", percent(n.overall), "right, or rightly refused; of all of them"],
        ["accuracy", percent(n.accuracy), "of those in scope"],
        ["macro F1", decimal(n.macro_f1), "over intents, among those in scope"],
        ["asked about", percent(n.asked), "of those in scope: ambiguous, the right one among the rivals"],
        ["refused", percent(n.lost), "of those in scope, wrongly"],
        ["another intent", percent(n.wrong), "of those in scope"],
        ["out-of-scope recall", percent(n.oos_recall), f"of those {outside}: refused"],
        ["out-of-scope precision", percent(n.oos_precision), f"of the refused: {outside}"],
        ["AUROC", decimal(n.auroc), f"surer of those in scope than of those {outside}"],
        ["calibration error", decimal(n.ece), "of the confidence" + (", in scope" if part.name == HELD_OUT else "")],
        ["coverage", percent(n.coverage), f"answered, {percent(n.precision)} of that rightly"],
    ]
    if part.latency is not None:
        timed = f"of one match, over {part.latency.messages} messages; p99 {part.latency.p99:,.0f} µs"
        rows.append(["latency p50", f"{part.latency.p50:,.0f} µs", timed])
    return rows


def _languages(rows: Sequence[LanguageRow], outside: str) -> None:
    from intentmatch.evaluation.reports.number_format import percent

    _heading("Languages")
    show.table(
        ["language", "in scope", "accuracy", outside, "refused"],
        [
            [r.language or "not said", str(r.in_scope), percent(r.accuracy), str(r.out_of_scope), percent(r.refused)]
            for r in rows
        ],
    )


def _intents(rows: Sequence[IntentRow]) -> None:
    from intentmatch.evaluation.reports.number_format import decimal, percent

    _heading("Intents, the worst first" + (f", {_WORST} of {len(rows)}" if len(rows) > _WORST else ""))
    cells = [
        [
            r.intent,
            *map(str, (r.cases, r.right, r.asked, r.lost)),
            percent(r.precision),
            percent(r.recall),
            decimal(r.f1),
        ]
        for r in rows[:_WORST]
    ]
    show.table(["intent", "cases", "right", "asked", "refused", "precision", "recall", "F1"], cells)


def _confusions(part: Part) -> None:
    from intentmatch.evaluation.metrics import confusions

    # A refusal confuses nothing with nothing; how many there are stands above.
    matched = [o for o in part.outcomes if o.verdict == "matched"]
    found = confusions([o for o in matched if o.in_scope]) or confusions(matched)
    if not found:
        return
    _heading("Worst confusions")
    for confusion in found[:_CONFUSIONS]:
        click.echo(f"  {len(confusion.outcomes)} x {confusion.expected} answered with {confusion.answer}")
        for outcome in confusion.outcomes[:_EXAMPLES]:
            click.echo(click.style(f"      {_line(outcome)}", dim=True))


def _line(outcome: Outcome) -> str:
    from intentmatch.evaluation.reports.number_format import place

    said = f"“{outcome.case.text}” {place(outcome.case.location)}".rstrip()
    if outcome.nearest is None:
        return said
    return f"{said}  nearest: “{outcome.nearest.text}” {place(outcome.nearest.location)}".rstrip()


def _curve(found: Report) -> None:
    from intentmatch.evaluation.reports.number_format import percent

    _heading("Learning curve")
    show.table(
        ["of each intent's utterances", "in all", "accuracy"],
        [[f"{point.share:.0%}", str(point.utterances), percent(point.accuracy)] for point in found.curve],
    )
    for hint in found.hints[:_HINTS]:
        gain = f"{100 * hint.gain:+.1f} points from the last doubling"
        click.echo(f"  {hint.intent}: {percent(hint.accuracy)}, {gain}: {hint.says}")


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True))
