"""Whether a report is good enough to pass, and where it is not, by how much."""

from __future__ import annotations

from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.evaluation.metrics import intent_rows
from intentmatch.evaluation.reports.report import TITLES, Part, Report

# Intents that fell most are named, this many of them.
_NAMED = 5


class Check(NamedTuple):
    """One demand on a report."""

    name: str
    passed: bool
    says: str


class Fall(NamedTuple):
    """An intent that a report gets right less often than the one before it."""

    intent: str
    before: float
    now: float


def at_least(report: Report, percent: float) -> Check:
    """The overall accuracy of the headline part, in percent, must not be below this. None of no cases is below."""
    part = report.headline
    now = 100.0 * (part.numbers.overall or 0.0)
    says = f"overall accuracy of the {TITLES[part.name]} is {now:.1f} %"
    if now >= percent:
        return Check("fail-under", True, f"{says}, and {percent:g} % were asked for")
    return Check("fail-under", False, f"{says}, {percent - now:.1f} points below the {percent:g} % asked for")


def no_drop(report: Report, baseline: Report, points: float) -> Check:
    """The same number must not have fallen by more than this since the baseline, which must have that part."""
    part = report.headline
    before = baseline.part(part.name)
    if before is None or before.numbers.overall is None or part.numbers.overall is None:
        raise InputError(f"the baseline has no {TITLES[part.name]} to compare with: make it with the same options")
    then, now = 100.0 * before.numbers.overall, 100.0 * part.numbers.overall
    moved = f"overall accuracy of the {TITLES[part.name]} went from {then:.1f} to {now:.1f} %"
    # Shares of a few thousand cases do not add up to the last bit.
    if then - now <= points + 1e-9:
        return Check("max-drop", True, f"{moved}; a drop of {points:g} points is allowed")
    fell = ", ".join(f"{f.intent} ({f.before:.0%} to {f.now:.0%})" for f in falls(before, part)[:_NAMED])
    most = f". Fell most: {fell}" if fell else ""
    return Check("max-drop", False, f"{moved}, {then - now:.1f} points down, and {points:g} are allowed{most}")


def falls(before: Part, now: Part) -> list[Fall]:
    """Intents that are right less often than they were, the deepest fall first."""
    earlier = {row.intent: row.recall for row in intent_rows(before.outcomes)}
    found = [
        Fall(row.intent, was, row.recall)
        for row in intent_rows(now.outcomes)
        if row.recall is not None and (was := earlier.get(row.intent)) is not None and row.recall < was
    ]
    return sorted(found, key=lambda fall: (fall.now - fall.before, fall.intent))
