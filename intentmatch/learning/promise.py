"""Choose a threshold whose precision is promised: at least so high, with a stated confidence.

Labelled messages test one threshold after the other, by Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei
2021, "Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control"). The hypothesis "the precision is
too low" is rejected if so few wrong answers among those given would be that unlikely: an exact test of a binomial
share, see `exact_test`. Fixed-sequence testing goes from a strict threshold to lower ones and ends with the first that
is not rejected, so that all tests together err at most as often as one. The sequence must not depend on the labelled
messages: it begins where the held-out utterances expect the test to succeed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import counted
from intentmatch.core.intervals import binomial_tail
from intentmatch.learning.exact_test import most_wrong

STEPS = 200
"""Thresholds of a sequence at most."""
# Expected chance of success from which a test may begin a sequence. Chosen on the development sets with out-of-scope
# messages: with less, a sequence of a few thousand messages begins too strict; with 1, too low if users are harder to
# understand than utterances (banking77_oos).
_SURE = 0.99
# Held-out error rates count as much as this many labelled answers where the need for more messages is estimated.
_PRIOR_ANSWERS = 50.0
# Nobody labels more messages than this for a promise.
_MOST_NEEDED = 100_000


Numbers = NDArray[np.float64]


class Promise(NamedTuple):
    """What a threshold promises about its precision, or why it promises nothing."""

    precision: float
    confidence: float
    """Probability with which the precision is at least so high, over the drawing of the labelled messages."""
    cases: int
    """Number of labelled messages."""
    answered: int
    """Number of labelled messages that are answered at the threshold."""
    wrong: int
    """Number of wrong answers among them."""
    kept: bool
    """Whether the labelled messages suffice for the promise."""
    more: int | None
    """About how many labelled messages are missing; 0 if they suffice, None if no number seems to suffice."""

    def __str__(self) -> str:
        promise = f"a precision of {self.precision:.0%} with a confidence of {self.confidence:.0%}"
        found = f"{counted(self.cases, 'labelled message')}, {self.answered} answered, {self.wrong} of these wrongly"
        if self.kept:
            return f"{promise} is promised: {found}"
        if self.more is None:
            return f"{promise} cannot be promised: {found}; no threshold seems precise enough"
        return f"{promise} cannot be promised yet: {found}; about {self.more} more are needed"


class Answers(NamedTuple):
    """Messages with the confidence by which they are answered; arrays of shape `(messages,)`."""

    confidence: Numbers
    """Confidence of the first intent."""
    right: NDArray[np.bool_]
    """Whether the answer is right, if one is given."""
    asked: NDArray[np.bool_]
    """Whether the bot asks instead of answering."""
    weights: Numbers

    def select(self, some: NDArray[np.int64]) -> Answers:
        """Return some of the messages."""
        return Answers(self.confidence[some], self.right[some], self.asked[some], self.weights[some])

    def at(self, thresholds: Numbers) -> tuple[Numbers, Numbers]:
        """Return the weight of the answers given, and that of the wrong ones, at each threshold."""
        order = np.argsort(-self.confidence, kind="stable")
        given = np.where(self.asked, 0.0, self.weights)[order]
        passing = np.searchsorted(-self.confidence[order], -thresholds, side="right")
        sums = [np.append(0.0, np.cumsum(some))[passing] for some in (given, given * ~self.right[order])]
        return sums[0], sums[1]


def promised_threshold(
    labelled: Answers, held_out: Answers, precision: float, confidence: float
) -> tuple[float | None, Promise]:
    """Return the lowest threshold that keeps the promise, and the promise; None if the messages do not suffice.

    `labelled` are messages drawn like those of users, each of weight 1, and `held_out` are cases that are weighed as
    users are expected to write. Precision and confidence are greater than 0 and less than 1.
    """
    cases, chance = len(labelled.right), 1.0 - confidence
    thresholds = sequence(held_out, cases, precision, chance)
    given, wrong = labelled.at(thresholds)
    last = last_kept(given, wrong, cases, precision, chance)
    if last is None:
        more = _more(labelled, held_out, precision, chance)
        return None, Promise(precision, confidence, cases, int(given[0]), int(wrong[0]), kept=False, more=more)
    promise = Promise(precision, confidence, cases, int(given[last]), int(wrong[last]), kept=True, more=0)
    return float(thresholds[last]), promise


def last_kept(given: Numbers, wrong: Numbers, cases: int, precision: float, chance: float) -> int | None:
    """Return the last place of a sequence before the first that fails its test; None if the first one fails.

    `given` and `wrong` count the answers and the wrong ones among so many `cases` at each threshold; a promise may fail
    with this chance.
    """
    last = None
    for place, (answered, missed) in enumerate(zip(given.tolist(), wrong.tolist(), strict=True)):
        if missed > most_wrong(int(answered), cases, precision, chance):
            break
        last = place
    return last


def sequence(held_out: Answers, cases: int, precision: float, chance: float) -> Numbers:
    """Return the thresholds to test with so many messages, the strictest first; the last one answers everything."""
    thresholds = _grid(held_out)
    given, wrong = held_out.at(thresholds)
    total = float(held_out.weights.sum())
    # As if one more answer were wrong: that a few strict thresholds have no wrong one yet says little.
    one = total / len(held_out.right)
    powers = []
    for answered, missed in zip(given.tolist(), wrong.tolist(), strict=True):
        expected = int(cases * answered / total)
        rate = (missed + one) / (answered + one)
        powers.append(binomial_tail(most_wrong(expected, cases, precision, chance), expected, rate))
    # The strictest one that is likely enough: traffic may be harder than the utterances.
    sure = np.flatnonzero(np.array(powers) >= _SURE)
    return thresholds[int(sure[0]) if len(sure) else int(np.argmax(powers)) :]


def _grid(held_out: Answers) -> Numbers:
    # From held-out cases: a grid from the labelled messages would depend on what is tested.
    some = np.unique(np.quantile(held_out.confidence, np.linspace(0.0, 1.0, STEPS + 1)[1:]))[::-1]
    return np.append(some, 0.0)


def _more(labelled: Answers, held_out: Answers, precision: float, chance: float) -> int | None:
    """Estimate how many more messages the test needs at the best threshold; None if none seems precise enough."""
    thresholds = _grid(held_out)[:: STEPS // 10]
    given, wrong = labelled.at(thresholds)
    usual_given, usual_wrong = held_out.at(thresholds)
    total = float(held_out.weights.sum())
    cases = len(labelled.right)
    needs = []
    for answers, errors, usual, usual_errors in zip(given, wrong, usual_given, usual_wrong, strict=True):
        if not usual:
            continue
        prior = _PRIOR_ANSWERS * usual_errors / usual
        rate = float((errors + prior) / (answers + _PRIOR_ANSWERS))
        share = float((answers + _PRIOR_ANSWERS * usual / total) / (cases + _PRIOR_ANSWERS))
        answered = _answers_needed(rate, precision, chance)
        if answered is not None:
            needs.append(math.ceil(answered / share))
    needed = min(needs, default=_MOST_NEEDED)
    return None if needed >= _MOST_NEEDED else max(1, needed - cases)


def _answers_needed(rate: float, precision: float, chance: float) -> int | None:
    """Return how many answers, so many of them wrong, let the test succeed, within 1%; None if none do."""
    if rate >= 1.0 - precision:
        return None
    low, high = 0, 1
    while high < _MOST_NEEDED and binomial_tail(math.ceil(rate * high), high, 1.0 - precision) > chance:
        low, high = high, 2 * high
    if high >= _MOST_NEEDED:
        return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        passes = binomial_tail(math.ceil(rate * middle), middle, 1.0 - precision) <= chance
        low, high = (low, middle) if passes else (middle, high)
    return high
