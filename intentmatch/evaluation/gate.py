"""Pass/fail checks on a report: a minimum accuracy or robustness, and a maximum drop from a baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.evaluation import robustness
from intentmatch.evaluation.metrics import intent_rows
from intentmatch.evaluation.reports.report import TITLES, Report, ReportPart

OVERALL = "overall"
ROBUSTNESS = "robustness"
MEASURES = (OVERALL, ROBUSTNESS, *(f"{ROBUSTNESS}.{name}" for name in robustness.TITLES))
"""The shares that a minimum can be required of: overall accuracy, robustness, and each part of it."""

# Number of intents with the largest drop that a failed check names.
_NAMED = 5


class Check(NamedTuple):
    """Result of one check on a report."""

    name: str
    passed: bool
    says: str


class Fall(NamedTuple):
    """An intent with a lower recall than in the baseline."""

    intent: str
    before: float
    now: float


def at_least(report: Report, percent: float, measure: str = OVERALL) -> Check:
    """Check that one of `MEASURES` is at least `percent`; it is 0 without messages.

    The overall accuracy is that of the headline part. Raises `InputError` if the robustness was not measured.
    """
    now, says = _measured(report, measure)
    now *= 100.0
    says = f"{says} is {now:.1f} %"
    name = "fail-under" if measure == OVERALL else f"fail-under {measure}"
    if now >= percent:
        return Check(name, True, f"{says}; required: {percent:g} %")
    return Check(name, False, f"{says}, {percent - now:.1f} points below the required {percent:g} %")


def _measured(report: Report, measure: str) -> tuple[float, str]:
    """Return one of `MEASURES` as a share, and its name in words."""
    if measure == OVERALL:
        part = report.headline
        return part.numbers.overall or 0.0, f"overall accuracy of the {TITLES[part.name]}"
    if not report.robustness:
        raise InputError("the report has no robustness: measure it, or leave out this check")
    if measure == ROBUSTNESS:
        return robustness.overall(report.robustness) or 0.0, ROBUSTNESS
    name = measure.partition(".")[2]
    found = next(part for part in report.robustness if part.name == name)
    if found.share is None:
        return 0.0, f"{ROBUSTNESS} ({robustness.TITLES[found.name]}: no messages)"
    return found.share, f"{ROBUSTNESS} ({robustness.TITLES[found.name]})"


def no_drop(report: Report, baseline: Report, points: float) -> Check:
    """Check that the overall accuracy fell by at most `points` percentage points since the baseline.

    Both are weighed by the report's share of out-of-scope messages.

    Raises `InputError` if the baseline lacks the headline part of the report.
    """
    part = report.headline
    before = baseline.part(part.name)
    # Otherwise another share would look like a gain or a loss.
    before = before and replace(before, out_of_scope_share=part.out_of_scope_share)
    if before is None or before.numbers.overall is None or part.numbers.overall is None:
        raise InputError(f"the baseline has no {TITLES[part.name]} to compare with: create it with the same options")
    then, now = 100.0 * before.numbers.overall, 100.0 * part.numbers.overall
    change = f"overall accuracy of the {TITLES[part.name]} changed from {then:.1f} to {now:.1f} %"
    # Tolerance for floating-point rounding.
    if then - now <= points + 1e-9:
        return Check("max-drop", True, f"{change}; a drop of {points:g} points is allowed")
    largest = ", ".join(f"{f.intent} ({f.before:.0%} to {f.now:.0%})" for f in falls(before, part)[:_NAMED])
    drop = f"a drop of {then - now:.1f} points; allowed: {points:g}"
    intents = f". Largest drops: {largest}" if largest else ""
    return Check("max-drop", False, f"{change}, {drop}{intents}")


def falls(before: ReportPart, now: ReportPart) -> list[Fall]:
    """Return the intents whose recall fell, largest drop first."""
    earlier = {row.intent: row.recall for row in intent_rows(before.outcomes)}
    found = [
        Fall(row.intent, was, row.recall)
        for row in intent_rows(now.outcomes)
        if row.recall is not None and (was := earlier.get(row.intent)) is not None and row.recall < was
    ]
    return sorted(found, key=lambda fall: (fall.now - fall.before, fall.intent))
