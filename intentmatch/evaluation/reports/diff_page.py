"""Render a comparison as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from intentmatch.evaluation.compare.changes import AnswerChange, describe_answer
from intentmatch.evaluation.compare.diff import EFFECTS, INTENT_HEAD, TITLES, Diff
from intentmatch.evaluation.outcomes import expected_name
from intentmatch.evaluation.reports.number_format import percent, place
from intentmatch.evaluation.reports.page import Section, page, paragraph, table


def to_html(diff: Diff, failed: bool) -> str:
    """Render the page, the changed answers first; `failed` colours the summary."""
    intro = "<h1>What the edit changed</h1>" + paragraph(f"{diff.names[0]} against {diff.names[1]}", "dim")
    intro += paragraph(diff.summary, "failed" if failed else "passed") + _edit(diff)
    return page("intentmatch diff", intro, [*_changes(diff), _asked(diff), *_intents(diff), *_facts(diff)])


def _changes(diff: Diff) -> Iterator[Section]:
    head = ["message", "where", "expected", "before", "now", "why"]
    for effect, title in EFFECTS.items():
        changed = [change for change in diff.changes if change.effect == effect]
        if changed:
            yield Section(f"{title}: {len(changed)}", table(head, map(_change, changed)))
    if not diff.changes:
        yield Section("Changed answers", paragraph("None: every message is answered as before."))


def _asked(diff: Diff) -> Section:
    rows = [[TITLES[a.source], str(len(a.new)), *map(percent, a.accuracy())] for a in diff.asked]
    return Section("Accuracy", table(["evaluated on both", "messages", "right before", "right now"], rows))


def _edit(diff: Diff) -> str:
    edits = [f"{old} was renamed to {new}" for old, new in diff.edit.renamed.items()]
    edits += [f"{name} was added" for name in diff.edit.added] + [f"{name} was removed" for name in diff.edit.removed]
    return paragraph("; ".join(edits)) if edits else ""


def _intents(diff: Diff) -> Iterator[Section]:
    rows = diff.intent_cells()
    if rows:
        yield Section("Intents, worst first", table(INTENT_HEAD, rows))


def _facts(diff: Diff) -> Iterator[Section]:
    if diff.facts:
        yield Section("Settings and thresholds", table(["", "before", "now"], diff.facts))


def _change(change: AnswerChange) -> list[str]:
    expected = "" if change.source == "messages" else expected_name(change.new.case)
    where = place(change.new.case.location)
    return [
        change.new.case.text,
        where,
        expected,
        describe_answer(change.old),
        describe_answer(change.new),
        "; ".join(change.reasons),
    ]
