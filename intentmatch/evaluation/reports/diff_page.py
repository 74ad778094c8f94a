"""Render a comparison as one self-contained HTML page."""

from __future__ import annotations

from intentmatch.evaluation.compare.changes import Change, describe_answer
from intentmatch.evaluation.compare.diff import EFFECTS, INTENT_HEAD, TITLES, Diff
from intentmatch.evaluation.outcomes import expected_name
from intentmatch.evaluation.reports.html import page, paragraph, table
from intentmatch.evaluation.reports.number_format import percent, place


def to_html(diff: Diff, failed: bool) -> str:
    """Render the page; `failed` colours the summary."""
    body = "<h1>What the edit changed</h1>" + paragraph(f"{diff.names[0]} against {diff.names[1]}", "dim")
    body += paragraph(diff.summary, "failed" if failed else "passed") + _asked(diff) + _edit(diff) + _intents(diff)
    if diff.facts:
        body += "<h2>Settings and thresholds</h2>" + table(["", "before", "now"], diff.facts)
    for effect, title in EFFECTS.items():
        changed = [change for change in diff.changes if change.effect == effect]
        if changed:
            head = ["message", "where", "expected", "before", "now", "why"]
            body += f"<h2>{title}: {len(changed)}</h2>" + table(head, map(_change, changed))
    return page("intentmatch diff", body)


def _asked(diff: Diff) -> str:
    rows = [[TITLES[a.source], str(len(a.new)), *map(percent, a.accuracy())] for a in diff.asked]
    return table(["evaluated on both", "messages", "right before", "right now"], rows)


def _edit(diff: Diff) -> str:
    edits = [f"{old} was renamed to {new}" for old, new in diff.edit.renamed.items()]
    edits += [f"{name} was added" for name in diff.edit.added] + [f"{name} was removed" for name in diff.edit.removed]
    return paragraph("; ".join(edits)) if edits else ""


def _intents(diff: Diff) -> str:
    rows = diff.intent_cells()
    return "<h2>Intents, worst first</h2>" + table(INTENT_HEAD, rows) if rows else ""


def _change(change: Change) -> list[str]:
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
