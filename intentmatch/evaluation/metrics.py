"""The numbers of an evaluation. Pure functions of outcomes; None stands where there is nothing to measure on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.evaluation.outcomes import Outcome, expected_name

BINS = 10
"""Of equal mass, for the calibration error."""
POINTS = 100
"""Of the curve of coverage against precision."""


class Numbers(NamedTuple):
    """The headline. Shares from 0 to 1."""

    cases: int
    in_scope: int
    overall: float | None
    """Of all cases: right, or rightly refused. What the gate looks at."""
    accuracy: float | None
    """Of those in scope: right."""
    macro_f1: float | None
    """Mean over the intents, each counting once, of F1 among the cases in scope."""
    asked: float | None
    """Of those in scope: the bot asks, and the right intent is among what it offers."""
    lost: float | None
    """Of those in scope: refused."""
    wrong: float | None
    """Of those in scope: matched with another intent."""
    oos_precision: float | None
    """Of the refused: out of scope."""
    oos_recall: float | None
    """Of those out of scope: refused."""
    auroc: float | None
    """Chance that a message in scope is held surer than one out of scope."""
    ece: float | None
    """Expected calibration error of the confidence."""
    coverage: float | None
    """Of all cases: matched, rightly or not."""
    precision: float | None
    """Of the matched: right."""


class IntentRow(NamedTuple):
    """One intent among the cases in scope."""

    intent: str
    cases: int
    right: int
    asked: int
    lost: int
    precision: float | None
    recall: float | None
    f1: float | None


class LanguageRow(NamedTuple):
    """One language; "" where the cases name none."""

    language: str
    in_scope: int
    accuracy: float | None
    out_of_scope: int
    refused: float | None
    """Of those out of scope."""


class Bin(NamedTuple):
    """Cases of like confidence."""

    confidence: float
    right: float
    cases: int


class Step(NamedTuple):
    """What answering only from some certainty upwards would give."""

    cut: float
    coverage: float
    precision: float


class Confusion(NamedTuple):
    """An answer that was given where another was expected, with the cases of it, the surest first."""

    expected: str
    said: str
    outcomes: tuple[Outcome, ...]


def measure(outcomes: Sequence[Outcome], calibrated_on: Sequence[Outcome]) -> Numbers:
    """The headline numbers; the calibration error is that of `calibrated_on`."""
    inside = [o for o in outcomes if o.in_scope]
    outside = [o for o in outcomes if not o.in_scope]
    refused = [o for o in outcomes if o.refused]
    matched = [o for o in outcomes if o.verdict == "matched"]
    f1s = [row.f1 for row in intent_rows(outcomes) if row.f1 is not None and row.cases]
    return Numbers(
        cases=len(outcomes),
        in_scope=len(inside),
        overall=share([o.right for o in outcomes]),
        accuracy=share([o.right for o in inside]),
        macro_f1=sum(f1s) / len(f1s) if f1s else None,
        asked=share([o.asked for o in inside]),
        lost=share([o.refused for o in inside]),
        wrong=share([o.verdict == "matched" and not o.right for o in inside]),
        oos_precision=share([not o.in_scope for o in refused]) if outside else None,
        oos_recall=share([o.refused for o in outside]),
        auroc=auroc([o.in_scope for o in outcomes], sureness(outcomes)),
        ece=ece(bins(calibrated_on)),
        coverage=share([o.verdict == "matched" for o in outcomes]),
        precision=share([o.right for o in matched]),
    )


def share(flags: Sequence[bool]) -> float | None:
    """How many of them are true, from 0 to 1; None of none."""
    return sum(flags) / len(flags) if flags else None


def sureness(outcomes: Sequence[Outcome]) -> list[float]:
    """The confidence of each answer, or the score of each where one of them has no confidence."""
    known = [o.confidence for o in outcomes if o.confidence is not None]
    return known if len(known) == len(outcomes) else [o.score for o in outcomes]


def auroc(in_scope: Sequence[bool], values: Sequence[float]) -> float | None:
    """Chance that a message in scope has a greater value than one out of scope, equal ones counting half."""
    inside = np.asarray(in_scope, dtype=bool)
    if inside.all() or not inside.any():
        return None
    ranks = _ranks(np.asarray(values, dtype=np.float64))
    count = int(inside.sum())
    return float((ranks[inside].sum() - count * (count + 1) / 2) / (count * (len(inside) - count)))


def bins(outcomes: Sequence[Outcome], count: int = BINS) -> list[Bin]:
    """Cases in up to `count` bins of equal mass by confidence; equal confidences share a bin. Empty without any."""
    if not outcomes or any(o.confidence is None for o in outcomes):
        return []
    values = np.array([o.confidence for o in outcomes], dtype=np.float64)
    right = np.array([o.leads_right for o in outcomes], dtype=np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, count) / count))
    numbers = np.searchsorted(edges, values, side="right")
    return [
        Bin(float(values[numbers == n].mean()), float(right[numbers == n].mean()), int((numbers == n).sum()))
        for n in np.unique(numbers)
    ]


def ece(reliability: Sequence[Bin]) -> float | None:
    """Distance of mean confidence from share right, over bins, weighted by their cases (Naeini et al. 2015)."""
    cases = sum(b.cases for b in reliability)
    return sum(abs(b.confidence - b.right) * b.cases for b in reliability) / cases if cases else None


def coverage_curve(outcomes: Sequence[Outcome], points: int = POINTS) -> list[Step]:
    """Precision of the leading candidate against the share of cases answered, from the strictest cut to none."""
    if not outcomes:
        return []
    values = np.asarray(sureness(outcomes), dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    values = values[order]
    hits = np.cumsum([outcomes[n].leads_right for n in order])
    # A cut cannot part equal values, so only the last of them is a point.
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)).tolist()
    if len(ends) > points:
        ends = [ends[n] for n in np.linspace(0, len(ends) - 1, points).round().astype(int)]
    return [Step(float(values[n]), (n + 1) / len(values), float(hits[n] / (n + 1))) for n in ends]


def intent_rows(outcomes: Sequence[Outcome]) -> list[IntentRow]:
    """Each intent that was expected or matched, by name, among the cases that expect one intent."""
    inside = [o for o in outcomes if isinstance(o.case.expected, str)]
    expected = Counter(str(o.case.expected) for o in inside)
    matched = Counter(o.intent for o in inside if o.intent is not None)
    right = Counter(o.intent for o in inside if o.right)
    asked = Counter(o.case.expected for o in inside if o.asked)
    lost = Counter(o.case.expected for o in inside if o.refused)
    return [
        IntentRow(
            intent=name,
            cases=expected[name],
            right=right[name],
            asked=asked[name],
            lost=lost[name],
            precision=right[name] / matched[name] if matched[name] else None,
            recall=right[name] / expected[name] if expected[name] else None,
            f1=2 * right[name] / (matched[name] + expected[name]),
        )
        for name in sorted({*expected, *matched})
    ]


def language_rows(outcomes: Sequence[Outcome]) -> list[LanguageRow]:
    """Each language of the cases, by code."""
    by_language: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_language.setdefault(outcome.case.language or "", []).append(outcome)
    rows = []
    for language, some in sorted(by_language.items()):
        inside = [o.right for o in some if o.in_scope]
        outside = [o.right for o in some if not o.in_scope]
        rows.append(LanguageRow(language, len(inside), share(inside), len(outside), share(outside)))
    return rows


def confusion_counts(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], int]:
    """The confusion matrix, without its zeros: (expected, said) to how often, by name."""
    return dict(sorted(Counter((expected_name(o.case), o.said) for o in outcomes).items()))


def confusions(outcomes: Sequence[Outcome]) -> list[Confusion]:
    """Every pair that was mixed up, the most frequent first."""
    pairs: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.right:
            pairs.setdefault((expected_name(outcome.case), outcome.said), []).append(outcome)
    found = [
        Confusion(expected, said, tuple(sorted(some, key=lambda o: (-o.score, o.case.text))))
        for (expected, said), some in pairs.items()
    ]
    return sorted(found, key=lambda c: (-len(c.outcomes), c.expected, c.said))


def percentiles(values: Sequence[float], *percents: float) -> list[float]:
    """The values that so many percent of all lie below."""
    numbers: list[float] = np.percentile(np.asarray(values, dtype=np.float64), percents).tolist()
    return numbers


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From 1; equal values share the mean of their ranks."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: NDArray[np.float64] = (ends - (counts - 1) / 2.0)[numbers]
    return means
