"""The rule of rollback: it finds what is worse, and holds its promise at any time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from intentmatch.server.candidates.rollback import Breach, RollbackRule, breach, limits, log_evidence


def counts(same: int, **kinds: int) -> dict[str, int]:
    """Counts of messages that the present registry matches, or not, as their kinds say."""
    found = {"same": same, **kinds}
    present = {"present/matched": same}
    for kind, messages in kinds.items():
        verdict = "matched" if kind == "failed" else kind.partition("_to_")[0]
        present[f"present/{verdict}"] = present.get(f"present/{verdict}", 0) + messages
    return {**found, **present}


@pytest.mark.parametrize(
    ("found", "rate"),
    [
        (counts(80, matched_to_ambiguous=40), "asked"),
        (counts(80, out_of_scope_to_ambiguous=40), "asked"),
        (counts(80, matched_to_out_of_scope=40), "refused"),
        (counts(80, failed=40), "refused"),
        ({"heard/present": 300, "heard/candidate": 300, "corrected/candidate": 120}, "corrected"),
    ],
)
def test_a_worse_candidate_is_rolled_back(found: Mapping[str, int], rate: str) -> None:
    assert breach(RollbackRule(), found).rate == rate  # type: ignore[union-attr]
    assert breach(RollbackRule(**{rate: None}), found) is None  # type: ignore[arg-type]
    assert breach(RollbackRule(**{rate: 0.9}), found) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "found",
    [
        {},
        counts(500),
        counts(100, ambiguous_to_matched=100, out_of_scope_to_matched=100),
        counts(300, matched_to_ambiguous=50, ambiguous_to_matched=50),
        counts(3, matched_to_ambiguous=3),
        {"heard/present": 300, "corrected/present": 120, "heard/candidate": 300, "corrected/candidate": 120},
        {"heard/candidate": 10, "corrected/candidate": 10},
        {"heard/present": 3, "heard/candidate": 3, "corrected/candidate": 9},
    ],
)
def test_no_better_a_reason_to_roll_back(found: Mapping[str, int]) -> None:
    assert breach(RollbackRule(), found) is None


def test_the_reason_has_both_rates() -> None:
    found = breach(RollbackRule(), counts(80, matched_to_ambiguous=40, ambiguous_to_matched=10))

    assert found == Breach("asked", 10 / 130, 40 / 130, 130, 0.05)
    assert str(found) == ("asked 30.8% of 130 messages, the present registry 7.7%: more than the margin of 5.0% above")


def test_one_in_a_hundred_more_than_the_margin_is_found_in_the_end() -> None:
    """Evidence grows without bound, so that no difference above the margin is too small."""
    grown = [log_evidence(12 * size, 88 * size, 0, 0.05) for size in (1, 10, 100)]

    assert grown == sorted(grown)
    assert grown[-1] > math.log(1e6)


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_false_rollbacks_keep_their_probability(margin: float) -> None:
    """300 candidates that are worse by exactly the margin, each looked at after every ten of 1,000 messages."""
    draws = np.random.default_rng(25).random((300, 1000))
    worse, better = (draws < 0.1 + margin).cumsum(axis=1), (draws > 0.9).cumsum(axis=1)
    alarms = 0
    for run in range(300):
        alarms += any(
            log_evidence(int(worse[run, n]), int(n + 1 - worse[run, n] - better[run, n]), int(better[run, n]), margin)
            >= -math.log(0.05)
            for n in range(9, 1000, 10)
        )

    assert alarms <= 0.05 * 300 + 8  # two standard deviations above 5%


def test_limits_hold_at_every_number_of_trials() -> None:
    draws = np.random.default_rng(4).random((100, 400))
    successes = (draws < 0.2).cumsum(axis=1)
    missed = 0
    for run in range(100):
        found = [limits(int(successes[run, n]), n + 1, 0.05) for n in range(9, 400, 40)]
        missed += any(not low <= 0.2 <= high for low, high in found)

    assert missed <= 0.05 * 100 + 5  # two standard deviations above 5%
    low, high = limits(20, 100, 0.05)
    assert 0.08 < low < 0.2 < high < 0.36
    assert limits(0, 10, 0.05)[0] == 0.0
    assert limits(10, 10, 0.05)[1] == 1.0


def test_rates_that_are_looked_at_together_share_the_error() -> None:
    """The more rates a rule has, the more evidence each of them needs."""

    def first(rule: RollbackRule) -> int:
        return next(worse for worse in range(80) if breach(rule, counts(80, matched_to_ambiguous=worse)) is not None)

    assert first(RollbackRule(refused=None, corrected=None)) < first(RollbackRule())
