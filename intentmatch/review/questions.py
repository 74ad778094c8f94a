"""Questions for a reviewer, the best ones first, with the chance that each was asked.

Uncertain messages, messages of a new kind and frequent ones come first; but those that come first are unlike the
others, and their share of wrong answers is not that of all answers. So the order is random, with better odds for better
questions: it is by the smallest `chance / priority` of the answers to a message. This is priority sampling (Duffield,
Lund and Thorup 2007, "Priority Sampling for Estimation of Arbitrary Subset Sums"; sequential Poisson sampling in
Ohlsson 1998). However many questions have been answered, each message had a known chance to be among them, given the
rank of the first question that is still open; Duffield et al. show that estimates weighted by this chance are
unbiased.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from intentmatch.core.result import Verdict
from intentmatch.inbox.sample import Judged, SampledAnswer


@dataclass(frozen=True, slots=True)
class Question:
    """A message of the sample with all answers to it."""

    answers: tuple[SampledAnswer, ...]
    """Oldest first."""

    @property
    def _last(self) -> SampledAnswer:
        return self.answers[-1]

    @property
    def number(self) -> int:
        """The number of the newest answer, by which `Inbox.judge` finds the message."""
        return self._last.id

    @property
    def text(self) -> str:
        """The message, as it is stored."""
        return self._last.text or ""

    @property
    def count(self) -> int:
        """How often the message was drawn."""
        return len(self.answers)

    @property
    def language(self) -> str | None:
        """The language of the newest answer."""
        return self._last.language

    @property
    def verdict(self) -> Verdict:
        """The newest verdict."""
        return self._last.verdict

    @property
    def intent(self) -> str | None:
        """The intent that was answered; None unless the verdict is `matched`."""
        return self._last.intent

    @property
    def nearest(self) -> tuple[str, ...]:
        """The rivals of an ambiguous message, otherwise the nearest intent."""
        return self._last.nearest

    @property
    def confidence(self) -> float | None:
        """Calibrated probability that the nearest intent is right."""
        return self._last.confidence

    @property
    def last(self) -> datetime:
        """When the newest answer was given."""
        return self._last.time

    @property
    def judged(self) -> Judged | None:
        """Whether a reviewer has said what the message means, or has skipped it."""
        return self._last.judged

    @property
    def expected(self) -> str | None:
        """The intent that a reviewer says the message means; None for out of scope."""
        return self._last.expected

    @property
    def rank(self) -> float:
        """Sort key of the questions; the smallest is asked first."""
        return rank_of(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain JSON values."""
        return {
            "question": self.number,
            "text": self.text,
            "language": self.language,
            "verdict": self.verdict,
            "intent": self.intent,
            "nearest": list(self.nearest),
            "confidence": self.confidence,
            "count": self.count,
            "last": self.last.isoformat(),
        }


class Judgement(NamedTuple):
    """A message that a reviewer has judged, with the chance that it was to be judged by now."""

    question: Question
    """Its answers within the period that the estimate is about."""
    probability: float
    """Chance that the message was asked, given that it is in the sample."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The sample of an inbox as questions."""

    open: tuple[Question, ...]
    """Those that nobody has answered, the best first."""
    judgements: tuple[Judgement, ...]
    """Judged messages from which numbers about all answers of the period can be estimated."""
    answered: tuple[Question, ...]
    """All judged messages."""
    skipped: int
    """Number of messages that a reviewer could not judge."""
    hashed: int
    """Number of answers whose messages are stored without text, which nobody can judge."""
    threshold: float
    """Messages of the period with a smaller rank have been asked."""
    since: datetime | None
    """Time of the first answer that the estimates are about; None without judgements."""
    until: datetime | None
    """Time of the last one."""


def questions_of(answers: Sequence[SampledAnswer]) -> Questions:
    """Return the questions about a sample of answers, in any order, and the judgements so far."""
    # Of a handled message the text is deleted and the judgement stays.
    readable = sorted(
        (one for one in answers if one.text is not None or one.judged is not None), key=lambda one: (one.time, one.id)
    )
    questions = all_questions(readable)
    waiting = sorted((one for one in questions if one.judged is None), key=lambda one: (one.rank, one.number))
    period, threshold = _period(readable)
    judged = tuple(
        Judgement(question, asked_probability(question.answers, threshold))
        for question in all_questions(period)
        # A judged message beyond the rank of an open one was asked out of turn, with a chance that nobody knows.
        if question.judged == "meant" and question.rank < threshold
    )
    return Questions(
        open=tuple(waiting),
        judgements=judged,
        answered=tuple(one for one in questions if one.judged == "meant"),
        skipped=sum(one.judged == "skipped" for one in questions),
        hashed=len(answers) - len(readable),
        threshold=threshold,
        since=period[0].time if judged else None,
        until=period[-1].time if judged else None,
    )


def rank_of(answers: Iterable[SampledAnswer]) -> float:
    """Return the sort key of a message: the more answers it got, the smaller it tends to be."""
    # The smallest one: each further answer to the message adds a chance to be asked.
    return min(one.chance / one.priority for one in answers)


def asked_probability(answers: Iterable[SampledAnswer], threshold: float) -> float:
    """Return the chance that the rank of a message with these answers is below a threshold, over its random numbers."""
    # Random numbers are uniform in [0, 1] and independent: this is one minus the chance
    # that none of them is small enough.
    return 1.0 - math.prod(1.0 - min(1.0, one.priority * threshold) for one in answers)


def all_questions(answers: Iterable[SampledAnswer]) -> list[Question]:
    """Return the messages of a sample with their answers, in the order of the first answers."""
    by_message: dict[bytes, list[SampledAnswer]] = {}
    for answer in answers:
        by_message.setdefault(answer.key, []).append(answer)
    return [Question(tuple(some)) for some in by_message.values()]


def _period(answers: Sequence[SampledAnswer]) -> tuple[Sequence[SampledAnswer], float]:
    """Return the answers that an estimate is best made about, and the rank below which their messages are judged.

    Answers that arrive after a review may come before those that have been judged. Until a reviewer catches up, the
    numbers are about the time before: about the answers up to the one for which most judgements can be used.
    """
    best: tuple[int, int] = (0, 0)
    best_threshold = 0.0
    judged: list[float] = []
    waiting = math.inf
    for place, answer in enumerate(answers, 1):
        rank = answer.chance / answer.priority
        if answer.judged is None:
            waiting = min(waiting, rank)
        elif answer.judged == "meant":
            insort(judged, rank)
        usable = bisect_left(judged, waiting)
        # Of periods with as many judgements, the longest.
        if usable and (usable, place) > best:
            best, best_threshold = (usable, place), waiting
    return answers[: best[1]], best_threshold
