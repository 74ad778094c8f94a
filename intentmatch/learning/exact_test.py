"""Test whether the precision of the answers is too low, at a level that holds exactly for few messages as well.

The number of wrong answers among those given is binomial. A test of it alone has a level well below the one allowed,
since it can only jump from one number to the next: 7.8% instead of 10% on average for 350 answers. But how many of the
messages are answered is random too, and the jumps of neighbouring numbers average out (Boschloo 1970, "Raised
conditional level of significance for the 2x2-table when testing the equality of two probabilities"). The share of
answered messages is unknown: the p-value is the greatest over a confidence interval of it, plus the chance that it is
outside (Berger and Boos 1994, "P values maximized over a confidence set for the nuisance parameter").
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.intervals import binomial_tail, clopper_pearson

# Chance that the share of answered messages is outside its interval, and room for what lies between the shares tried.
_OUTSIDE, _ROOM = 4e-4, 1e-4
_SHARES = 50
# Standard deviations around the interval that are summed, and as many numbers on each side at least.
_DEVIATIONS, _AT_LEAST = 8.0, 20
# Of more messages the jumps hardly matter.
_MOST_CASES = 3_000


@lru_cache(maxsize=4096)
def most_wrong(answered: int, cases: int, precision: float, chance: float) -> int:
    """Return how many of so many answers to so many messages may be wrong for a promise; -1 if none of them may.

    If the precision is lower in truth, so few are wrong with the `chance` at most.
    """
    rate = 1.0 - precision
    most = _quantile(answered, rate, chance)
    if cases > _MOST_CASES or not answered:
        return most
    least, greatest = clopper_pearson(answered / cases, cases, 1.0 - _OUTSIDE)
    first = max(0, math.floor(cases * least - _DEVIATIONS * math.sqrt(cases * least * (1.0 - least))) - _AT_LEAST)
    last = math.ceil(cases * greatest + _DEVIATIONS * math.sqrt(cases * greatest * (1.0 - greatest))) + _AT_LEAST
    chances = _chances(first, min(cases, last), cases, np.linspace(least, greatest, _SHARES))

    def p_value(wrong: int) -> float:
        """Return the greatest chance of a result as rare as so many wrong answers, if the precision is too low."""
        levels = _levels(first, min(cases, last), rate, binomial_tail(wrong, answered, rate))
        return float((chances @ levels).max()) + _OUTSIDE + _ROOM

    # The answer lies near the binomial quantile, and each p-value costs a sum over fifty shares.
    while most < answered and p_value(most + 1) <= chance:
        most += 1
    while most >= 0 and p_value(most) > chance:
        most -= 1
    return most


def _quantile(answered: int, rate: float, chance: float) -> int:
    """Return the greatest number of wrong answers that, or fewer, have the chance at most; -1 if none has."""
    low, high = -1, answered
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if binomial_tail(middle, answered, rate) <= chance else (low, middle)
    return low


def _levels(first: int, last: int, rate: float, rarity: float) -> NDArray[np.float64]:
    """Return the chance of a result that is as rare, for each number of answers from `first` to `last`.

    `rarity` is the chance of so few wrong answers, given the number of answers.
    """
    # The result at hand must count as being as rare as itself, whatever the last digit says.
    rarity *= 1.0 + 1e-9
    most = max(_quantile(first, rate, rarity), 0)
    # The chance of at most `most` wrong answers, and of exactly so many.
    below, here = binomial_tail(most, first, rate), _exactly(most, first, rate)
    levels = []
    for answers in range(first, last + 1):
        if answers > first:
            below -= rate * here
            here *= (1.0 - rate) * answers / (answers - most)
        while most < answers:
            following = here * (answers - most) / (most + 1) * rate / (1.0 - rate)
            if below + following > rarity:
                break
            most, here, below = most + 1, following, below + following
        levels.append(below if below <= rarity else 0.0)
    return np.array(levels)


def _exactly(wrong: int, answered: int, rate: float) -> float:
    ways = math.lgamma(answered + 1) - math.lgamma(wrong + 1) - math.lgamma(answered - wrong + 1)
    return math.exp(ways + wrong * math.log(rate) + (answered - wrong) * math.log1p(-rate))


def _chances(first: int, last: int, cases: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of each number of answers, if each message is answered with a share; `(shares, numbers)`."""
    numbers = np.arange(first, last + 1)
    ways = np.append(0.0, np.cumsum(np.log((cases - numbers[:-1]) / numbers[1:])))
    inside = np.clip(shares, 1e-12, 1.0 - 1e-12)[:, None]
    logs = ways + numbers * np.log(inside) + (cases - numbers) * np.log1p(-inside)
    # Scaled by the largest, because the number of ways overflows a float from some thousand messages on.
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = chances / chances.sum(axis=1, keepdims=True)
    return found
