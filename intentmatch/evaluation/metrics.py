"""Evaluation metrics as pure functions of outcomes; a metric without cases is None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from intentmatch.evaluation.correlation import ranks
from intentmatch.evaluation.outcomes import Outcome, expected_name

BINS = 10
"""Number of bins of equal mass for the calibration error."""
POINTS = 100
"""Maximum number of points of the precision-coverage curve."""


class Numbers(NamedTuple):
    """Headline metrics; shares are between 0 and 1."""

    cases: int
    in_scope: int
    overall: float | None
    """Share of all cases: correct, including correctly refused. `--fail-under` and `--max-drop` check this value."""
    accuracy: float | None
    """Share of in-scope cases: correct."""
    macro_f1: float | None
    """Unweighted mean of the F1 of each intent, over in-scope cases."""
    asked: float | None
    """Share of in-scope cases: ambiguous, with the expected intent among the rivals."""
    lost: float | None
    """Share of in-scope cases: refused."""
    wrong: float | None
    """Share of in-scope cases: matched with a wrong intent."""
    oos_precision: float | None
    """Share of refused cases: out of scope."""
    oos_recall: float | None
    """Share of out-of-scope cases: refused."""
    auroc: float | None
    """Probability that an in-scope case has a higher confidence than an out-of-scope case."""
    ece: float | None
    """Expected calibration error of the confidence."""
    coverage: float | None
    """Share of all cases: matched, correctly or not."""
    precision: float | None
    """Share of matched cases: correct."""


class IntentRow(NamedTuple):
    """Metrics of one intent, over in-scope cases."""

    intent: str
    cases: int
    right: int
    asked: int
    lost: int
    precision: float | None
    recall: float | None
    f1: float | None


class LanguageRow(NamedTuple):
    """Metrics of one language; `language` is "" for cases without a language."""

    language: str
    in_scope: int
    accuracy: float | None
    out_of_scope: int
    refused: float | None
    """Share of its out-of-scope cases."""


class Bin(NamedTuple):
    """Cases of similar confidence: their mean confidence, the share that is correct, and their number."""

    confidence: float
    right: float
    cases: int


class CoveragePoint(NamedTuple):
    """Coverage and precision if only answers with a confidence of at least `cut` were given."""

    cut: float
    coverage: float
    precision: float


class Confusion(NamedTuple):
    """An expected answer, the answer given instead, and the cases, by descending score."""

    expected: str
    answer: str
    outcomes: tuple[Outcome, ...]


def measure(
    outcomes: Sequence[Outcome], calibrated_on: Sequence[Outcome], out_of_scope_share: float | None = None
) -> Numbers:
    """Compute the headline metrics; the calibration error is computed on `calibrated_on`.

    Metrics over cases in scope and out of scope are weighed so that the latter have `out_of_scope_share` of the weight;
    None counts every case as one.
    """
    inside = [o for o in outcomes if o.in_scope]
    outside = [o for o in outcomes if not o.in_scope]
    refused = [o for o in outcomes if o.refused]
    matched = [o for o in outcomes if o.verdict == "matched"]
    weight = _out_of_scope_weight(len(inside), len(outside), out_of_scope_share)

    def weighed(some: Sequence[Outcome], flags: Sequence[bool]) -> float | None:
        return _weighed_share(some, flags, weight)

    # An intent that no case expects can only be answered wrongly, and would count as 0.
    f1s = [row.f1 for row in intent_rows(outcomes) if row.f1 is not None and row.cases]
    return Numbers(
        cases=len(outcomes),
        in_scope=len(inside),
        overall=weighed(outcomes, [o.right for o in outcomes]),
        accuracy=share([o.right for o in inside]),
        macro_f1=sum(f1s) / len(f1s) if f1s else None,
        asked=share([o.asked for o in inside]),
        lost=share([o.refused for o in inside]),
        wrong=share([o.verdict == "matched" and not o.right for o in inside]),
        # Without cases out of scope, every refusal would count as wrong.
        oos_precision=weighed(refused, [not o.in_scope for o in refused]) if outside else None,
        oos_recall=share([o.refused for o in outside]),
        auroc=auroc([o.in_scope for o in outcomes], scopes(outcomes)),
        ece=ece(bins(calibrated_on)),
        coverage=weighed(outcomes, [o.verdict == "matched" for o in outcomes]),
        precision=weighed(matched, [o.right for o in matched]),
    )


def share_asked(outcomes: Sequence[Outcome], out_of_scope_share: float | None = None) -> float | None:
    """Return the share of all cases that a reranker was asked about, weighed as in `measure`; None without cases."""
    outside = sum(not o.in_scope for o in outcomes)
    weight = _out_of_scope_weight(len(outcomes) - outside, outside, out_of_scope_share)
    return _weighed_share(outcomes, [o.reranked for o in outcomes], weight)


def _weighed_share(outcomes: Sequence[Outcome], flags: Sequence[bool], weight: float) -> float | None:
    """Return the share of true flags if a case out of scope counts `weight` times; None without cases."""
    weights = [1.0 if o.in_scope else weight for o in outcomes]
    total = sum(weights)
    return sum(w for w, flag in zip(weights, flags, strict=True) if flag) / total if total else None


def _out_of_scope_weight(inside: int, outside: int, out_of_scope_share: float | None) -> float:
    """Return the weight of one out-of-scope case if one in scope has weight 1."""
    # With cases of one kind only, no weight gives the other kind its share.
    if out_of_scope_share is None or not (inside and outside):
        return 1.0
    return out_of_scope_share / (1.0 - out_of_scope_share) * inside / outside


def share(flags: Sequence[bool]) -> float | None:
    """Return the share of true flags, from 0 to 1; None for an empty sequence."""
    return sum(flags) / len(flags) if flags else None


def certainty(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the confidence of each answer, or the score of each if any confidence is missing."""
    known = [o.confidence for o in outcomes if o.confidence is not None]
    return known if len(known) == len(outcomes) else [o.score for o in outcomes]


def scopes(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the in-scope probability of each message, or its certainty if any is missing."""
    known = [o.scope for o in outcomes if o.scope is not None]
    return known if len(known) == len(outcomes) else certainty(outcomes)


def auroc(in_scope: Sequence[bool], values: Sequence[float]) -> float | None:
    """Probability that an in-scope case has a greater value than an out-of-scope case; ties count half."""
    inside = np.asarray(in_scope, dtype=bool)
    if inside.all() or not inside.any():
        return None
    of_inside = ranks(values)[inside]
    count = int(inside.sum())
    return float((of_inside.sum() - count * (count + 1) / 2) / (count * (len(inside) - count)))


def bins(outcomes: Sequence[Outcome], count: int = BINS) -> list[Bin]:
    """Split cases into at most `count` bins of equal mass by confidence; equal confidences share a bin.

    Empty if there are no cases or if a confidence is missing.
    """
    confidences = [o.confidence for o in outcomes if o.confidence is not None]
    return bins_of(confidences, [o.leads_right for o in outcomes], count) if len(confidences) == len(outcomes) else []


def bins_of(confidences: Sequence[float], flags: Sequence[bool], count: int) -> list[Bin]:
    """Split cases as `bins` does, given their confidences and whether they are right."""
    if not confidences:
        return []
    values, right = np.array(confidences, dtype=np.float64), np.array(flags, dtype=np.float64)
    # Bins of equal width would leave most of them empty: confidences crowd at both ends.
    edges = np.unique(np.quantile(values, np.arange(1, count) / count))
    numbers = np.searchsorted(edges, values, side="right")
    return [
        Bin(float(values[numbers == n].mean()), float(right[numbers == n].mean()), int((numbers == n).sum()))
        for n in np.unique(numbers)
    ]


def ece(reliability: Sequence[Bin]) -> float | None:
    """Expected calibration error: |mean confidence - share correct|, weighted by cases (Naeini et al. 2015)."""
    cases = sum(b.cases for b in reliability)
    return sum(abs(b.confidence - b.right) * b.cases for b in reliability) / cases if cases else None


def coverage_curve(outcomes: Sequence[Outcome], points: int = POINTS) -> list[CoveragePoint]:
    """Precision of the first candidate at each coverage, from the highest threshold to none."""
    if not outcomes:
        return []
    values = np.asarray(certainty(outcomes), dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    values = values[order]
    hits = np.cumsum([outcomes[n].leads_right for n in order])
    # A threshold cannot separate equal values, so only the last of them is a point.
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)).tolist()
    if len(ends) > points:
        ends = [ends[n] for n in np.linspace(0, len(ends) - 1, points).round().astype(int)]
    return [CoveragePoint(float(values[n]), (n + 1) / len(values), float(hits[n] / (n + 1))) for n in ends]


def intent_rows(outcomes: Sequence[Outcome]) -> list[IntentRow]:
    """Return metrics by intent, sorted by name, over the cases that expect exactly one intent."""
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
            # The same as from precision and recall, and defined where both are 0.
            f1=2 * right[name] / (matched[name] + expected[name]),
        )
        for name in sorted({*expected, *matched})
    ]


def language_rows(outcomes: Sequence[Outcome]) -> list[LanguageRow]:
    """Return metrics by language, sorted by code."""
    by_language: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_language.setdefault(outcome.case.language or "", []).append(outcome)
    rows = []
    for language, own in sorted(by_language.items()):
        inside = [o.right for o in own if o.in_scope]
        outside = [o.right for o in own if not o.in_scope]
        rows.append(LanguageRow(language, len(inside), share(inside), len(outside), share(outside)))
    return rows


def confusion_counts(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], int]:
    """Return the non-zero cells of the confusion matrix: (expected, answer) to count, sorted by name."""
    return dict(sorted(Counter((expected_name(o.case), o.answer) for o in outcomes).items()))


def confusions(outcomes: Sequence[Outcome]) -> list[Confusion]:
    """Return each confused pair of expected and given answer, most frequent first."""
    pairs: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.right:
            pairs.setdefault((expected_name(outcome.case), outcome.answer), []).append(outcome)
    found = [
        Confusion(expected, answer, tuple(sorted(cases, key=lambda o: (-o.score, o.case.text))))
        for (expected, answer), cases in pairs.items()
    ]
    return sorted(found, key=lambda c: (-len(c.outcomes), c.expected, c.answer))


def percentiles(values: Sequence[float], *percents: float) -> list[float]:
    """Return the given percentiles of the values, interpolated linearly."""
    numbers: list[float] = np.percentile(np.asarray(values, dtype=np.float64), percents).tolist()
    return numbers
