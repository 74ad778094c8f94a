"""How good the answers are, estimated from the judgements of a reviewer: each number with its 95% interval.

A share is a ratio of two weighted sums over the judged answers. The weight of an answer is one over the chance that it
was drawn times the chance that its message was asked (Hájek 1971). The variance is that of both steps: of independent
draws, and of the messages chosen from them (linearised; Särndal, Swensson and Wretman 1992, "Model Assisted Survey
Sampling", sections 5.5 and 9.3). It gives an effective number of cases, and the interval is that of Clopper and Pearson
for so many cases (Korn and Graubard 1998, "Confidence Intervals for Proportions with Small Expected Number of Positive
Counts Estimated from Survey Data"). The effective number is never greater than for answers that have nothing to do with
their weights (Kish 1965): among a few wrong answers the variance would be too uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from intentmatch.core.intervals import clopper_pearson
from intentmatch.inbox.sample import SampledAnswer
from intentmatch.review.questions import Judgement, Questions

FEWEST = 30
"""Fewest judged messages for numbers; the interval of a share among fewer is up to 37 points wide."""

_Test = Callable[[SampledAnswer], bool]


class Estimate(NamedTuple):
    """A share with its 95% interval."""

    value: float
    low: float
    high: float
    messages: int
    """Number of judged messages behind it."""

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


class QualityRow(NamedTuple):
    """The numbers of an intent or a language; None where there are too few judgements."""

    name: str
    precision: Estimate | None
    """Share of right answers among those given: with this intent, or in this language."""
    coverage: Estimate | None
    """Share of messages in scope that are answered: of those that mean this intent, or are in this language."""
    out_of_scope: Estimate | None
    """Share of messages that mean no intent; None for an intent."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the answers of a period are, by the judged messages among them."""

    judged: int
    """Number of judged messages that the numbers rest on."""
    more: int
    """Number of messages to judge before there are numbers; 0 if there are some."""
    since: datetime | None
    until: datetime | None
    overall: QualityRow | None
    intents: tuple[QualityRow, ...]
    """Intents with enough judged messages, by name."""
    languages: tuple[QualityRow, ...]
    """Languages with enough judged messages, if there are several."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON values."""
        return {
            "judged": self.judged,
            "more": self.more,
            "since": None if self.since is None else self.since.isoformat(),
            "until": None if self.until is None else self.until.isoformat(),
            "overall": None if self.overall is None else _row_dict(self.overall),
            "intents": [_row_dict(row) for row in self.intents],
            "languages": [_row_dict(row) for row in self.languages],
        }


def quality_of(questions: Questions) -> Quality:
    """Return how good the answers are. There are no numbers from fewer than `FEWEST` judged messages."""
    judgements = questions.judgements
    judged = len(judgements)
    enough = judged >= FEWEST
    overall = _row("all", judgements, lambda _: True, lambda _: True) if enough else None
    intents: list[QualityRow] = []
    languages: list[QualityRow] = []
    if enough:
        # Intents that were answered, for their precision, and those that were meant, for their coverage.
        names = {one.intent for judgement in judgements for one in judgement.question.answers}
        names |= {judgement.question.expected for judgement in judgements}
        for name in sorted(name for name in names if name is not None):
            row = _row(name, judgements, _answered(name), _meant(name), fewest=FEWEST)
            # A message that means an intent is in scope, whatever was answered.
            intents += [row._replace(out_of_scope=None)] if row.precision or row.coverage else []
        codes = sorted({one.language or "" for judgement in judgements for one in judgement.question.answers} - {""})
        # The row of a single language would repeat the one above.
        for code in codes if len(codes) > 1 else ():
            row = _row(code, judgements, _spoken(code), _spoken(code), fewest=FEWEST)
            languages += [row] if any(row[1:]) else []
    return Quality(
        judged, max(0, FEWEST - judged), questions.since, questions.until, overall, tuple(intents), tuple(languages)
    )


def estimate(judgements: Sequence[Judgement], among: _Test, hit: _Test, fewest: int = 1) -> Estimate | None:
    """Return the share of hits among some answers; None if fewer than `fewest` messages have such answers."""
    parts = []
    for judgement in judgements:
        some = [(1.0 / one.probability, float(hit(one))) for one in judgement.question.answers if among(one)]
        if some:
            parts.append((judgement.probability, some))
    if len(parts) < fewest:
        return None
    total = sum(weight / asked for asked, some in parts for weight, _ in some)
    share = sum(weight * value / asked for asked, some in parts for weight, value in some) / total
    # Rounding may lead out of the interval, for which the limits below are not defined.
    share = min(max(share, 0.0), 1.0)
    variance = spread = 0.0
    for asked, some in parts:
        # Of the second step: the answers to a message were asked together or not at all.
        unasked = (1.0 - asked) / asked**2
        off = [weight * (value - share) for weight, value in some]
        variance += sum(one**2 for one in off) / asked + unasked * sum(off) ** 2
        weights = [weight for weight, _ in some]
        spread += sum(one**2 for one in weights) / asked + unasked * sum(weights) ** 2
    effective = total**2 / spread
    # Where all answers are alike, the variance says nothing: the bound by the weights is left.
    if variance > 0.0:
        effective = min(effective, share * (1.0 - share) * total**2 / variance)
    return Estimate(share, *clopper_pearson(share, effective), len(parts))


def _row(name: str, judgements: Sequence[Judgement], answered: _Test, meant: _Test, fewest: int = 1) -> QualityRow:
    # By identity: two answers may be equal, and the judgement belongs to the message.
    expected = {id(one): judgement.question.expected for judgement in judgements for one in judgement.question.answers}
    return QualityRow(
        name,
        precision=estimate(
            judgements,
            lambda one: one.intent is not None and answered(one),
            lambda one: one.intent == expected[id(one)],
            fewest,
        ),
        coverage=estimate(
            judgements,
            lambda one: expected[id(one)] is not None and meant(one),
            lambda one: one.intent is not None,
            fewest,
        ),
        out_of_scope=estimate(judgements, meant, lambda one: expected[id(one)] is None, fewest),
    )


def _answered(name: str) -> _Test:
    return lambda one: one.intent == name


def _meant(name: str) -> _Test:
    return lambda one: one.expected == name


def _spoken(code: str) -> _Test:
    return lambda one: one.language == code


def _row_dict(row: QualityRow) -> dict[str, Any]:
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in row._asdict().items()}
