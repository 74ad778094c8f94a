"""The rule by which a candidate is rolled back: its rates exceed the present registry's by more than a margin.

The rule is looked at again with every new message, so its tests hold at any time: a candidate that is not worse than
the margins allows is rolled back with probability `error` at most, however long it runs. Both tests need counts only,
which any number of processes may add to in any order.

- Questions and refusals are tested on messages that both registries have answered. With d = +1, 0 or -1, where only the
  candidate, both or neither, or only the present registry asks, the product of 1 + bet * (d - margin) is a
  supermartingale as long as the mean of d is at most the margin (Waudby-Smith and Ramdas, "Estimating means of bounded
  random variables by betting", JRSS B 2024). The mean of the products of several bets is one too, and exceeds
  1 / error with probability `error` at most (Ville's inequality).
- Corrections by users come from different conversations. The candidate's lower and the present registry's upper
  confidence limit are compared; both hold at any time (beta-binomial mixture; Robbins 1970; Howard, Ramdas, McAuliffe
  and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 2021).

The tests take each message to be independent of those before it. Messages of one conversation are not quite: many short
conversations say more than a few long ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

ERROR = 0.05
"""Default of the probability of rolling back a candidate that is no worse than the margins allow."""
MARGIN = 0.05
"""Default of each margin: five messages in a hundred."""

# Shares of the largest bet that could still not lose everything: small ones find small differences in many messages.
_BETS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
# 2 ** -40 is finer than any share of messages that could be counted.
_HALVINGS = 40

_ASKED_MORE = ("matched_to_ambiguous", "out_of_scope_to_ambiguous")
_ASKED_LESS = ("ambiguous_to_matched", "ambiguous_to_out_of_scope")
_REFUSED_MORE = ("matched_to_out_of_scope", "ambiguous_to_out_of_scope", "failed")
_REFUSED_LESS = ("out_of_scope_to_matched", "out_of_scope_to_ambiguous")


@dataclass(frozen=True, slots=True)
class RollbackRule:
    """By how much the candidate's rates may exceed the present registry's; None for a rate that may be anything."""

    asked: float | None = MARGIN
    """Margin of the share of messages that are answered by a question (`ambiguous`)."""
    refused: float | None = MARGIN
    """Margin of the share that are out of scope, or fail."""
    corrected: float | None = MARGIN
    """Margin of the share of heard answers that a user corrects (`POST /feedback`)."""
    error: float = ERROR
    """Probability of rolling back a candidate that is no worse than the margins allow."""


class Breach(NamedTuple):
    """A rate that exceeds its margin."""

    rate: str
    """`asked`, `refused` or `corrected`."""
    present: float
    candidate: float
    messages: int
    """Messages that the candidate's rate was measured on."""
    margin: float

    def __str__(self) -> str:
        return (
            f"{self.rate} {self.candidate:.1%} of {self.messages} messages, the present registry {self.present:.1%}: "
            f"more than the margin of {self.margin:.1%} above"
        )


def breach(rule: RollbackRule, counts: Mapping[str, int]) -> Breach | None:
    """Return the first rate whose margin is exceeded, or None.

    `counts` holds the number of messages of each `Kind`, of `present/VERDICT` and `candidate/VERDICT` among them, and
    of `heard/REGISTRY` and `corrected/REGISTRY` for conversations of a canary.
    """
    margins = {"asked": rule.asked, "refused": rule.refused, "corrected": rule.corrected}
    asked = {rate: margin for rate, margin in margins.items() if margin is not None}
    for rate, margin in asked.items():
        # All rates together have the error of the rule (Bonferroni).
        error = rule.error / len(asked)
        found = _corrected(counts, margin, error) if rate == "corrected" else _paired(rate, counts, margin, error)
        if found is not None:
            return found
    return None


def _paired(rate: str, counts: Mapping[str, int], margin: float, error: float) -> Breach | None:
    more, less, verdict = (
        (_ASKED_MORE, _ASKED_LESS, "ambiguous") if rate == "asked" else (_REFUSED_MORE, _REFUSED_LESS, "out_of_scope")
    )
    messages = sum(counts.get(f"present/{each}", 0) for each in ("matched", "ambiguous", "out_of_scope"))
    if messages == 0:
        return None
    worse, better = (sum(counts.get(kind, 0) for kind in kinds) for kinds in (more, less))
    if log_evidence(worse, messages - worse - better, better, margin) < -math.log(error):
        return None
    before = counts.get(f"present/{verdict}", 0)
    return Breach(rate, before / messages, (before + worse - better) / messages, messages, margin)


def log_evidence(worse: int, alike: int, better: int, margin: float) -> float:
    """Return the natural logarithm of the evidence that the mean of d exceeds the margin (see the module)."""
    # With more, a single message with d = -1 would make the product negative.
    largest = 1.0 / (1.0 + margin)
    logs = [
        worse * math.log1p(bet * largest * (1.0 - margin))
        + alike * math.log1p(-bet * largest * margin)
        + better * math.log1p(-bet * largest * (1.0 + margin))
        for bet in _BETS
    ]
    # Taken out of the sum, in which the exponentials of long runs would overflow.
    top = max(logs)
    return top + math.log(sum(math.exp(each - top) for each in logs) / len(logs))


def _corrected(counts: Mapping[str, int], margin: float, error: float) -> Breach | None:
    heard = {name: counts.get(f"heard/{name}", 0) for name in ("present", "candidate")}
    # One answer may be corrected several times.
    wrong = {name: min(counts.get(f"corrected/{name}", 0), heard[name]) for name in heard}
    if not all(heard.values()):
        return None
    # Half the error for each of the two limits.
    low, _ = limits(wrong["candidate"], heard["candidate"], error / 2)
    _, high = limits(wrong["present"], heard["present"], error / 2)
    if low <= high + margin:
        return None
    before, now = (wrong[name] / heard[name] for name in ("present", "candidate"))
    return Breach("corrected", before, now, heard["candidate"], margin)


def limits(successes: int, trials: int, error: float) -> tuple[float, float]:
    """Return confidence limits of a probability that hold at every number of trials together, with 1 - `error`."""
    share = successes / trials
    # A beta prior of (1/2, 1/2), as Jeffreys chose for a probability.
    mixture = _log_beta(successes + 0.5, trials - successes + 0.5) - _log_beta(0.5, 0.5)

    def excluded(probability: float) -> bool:
        likelihood = _times_log(successes, probability) + _times_log(trials - successes, 1.0 - probability)
        return mixture - likelihood >= -math.log(error)

    return _edge(0.0, share, excluded), _edge(1.0, share, excluded)


def _edge(outside: float, inside: float, excluded: Callable[[float], bool]) -> float:
    """Bisect between a probability that may be excluded and one that is not."""
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if excluded(middle):
            outside = middle
        else:
            inside = middle
    # The excluded end, so that rounding never makes the limits narrower.
    return outside


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _times_log(times: int, probability: float) -> float:
    # 0 * log(0) is 0 in a likelihood, and not a number in floats.
    if times == 0:
        return 0.0
    return -math.inf if probability <= 0.0 else times * math.log(probability)
