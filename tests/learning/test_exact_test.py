"""The test of a precision: never above its level, and nearer to it than a plain binomial test."""

from __future__ import annotations

import numpy as np
import pytest
from optional import later

from intentmatch.learning.exact_test import most_wrong

stats = later("scipy.stats", reason="needs SciPy, of the extra [dev]")


def levels(cases: int, precision: float, limits: list[int]) -> np.ndarray:
    """Return the chance of a promise that is broken, for shares of answered messages from 1% to 100%."""
    numbers, most = np.arange(cases + 1), np.array(limits)
    passing = np.where(most >= 0, stats.binom.cdf(most, numbers, 1.0 - precision), 0.0)
    return np.array([stats.binom.pmf(numbers, cases, share) @ passing for share in np.linspace(0.01, 1.0, 100)])


def plain(cases: int, precision: float, chance: float) -> list[int]:
    """Return the limits of the binomial test, given the number of answers."""
    numbers = np.arange(cases + 1)
    most = stats.binom.ppf(chance, numbers, 1.0 - precision).astype(int)
    return np.where(stats.binom.cdf(most, numbers, 1.0 - precision) > chance, most - 1, most).tolist()


@pytest.mark.parametrize(
    ("cases", "precision", "chance"), [(60, 0.95, 0.1), (200, 0.95, 0.1), (150, 0.8, 0.05), (200, 0.5, 0.2)]
)
def test_level_is_kept_for_every_share_of_answers_and_used_better(cases: int, precision: float, chance: float) -> None:
    found = levels(cases, precision, [most_wrong(answered, cases, precision, chance) for answered in range(cases + 1)])
    before = levels(cases, precision, plain(cases, precision, chance))

    assert (found <= chance).all()
    assert found.mean() > before.mean() + 0.05 * chance


def test_all_messages_answered_is_a_plain_test() -> None:
    """45 answers without a mistake are the fewest: 0.95**45 is just below 10%."""
    assert most_wrong(44, 44, 0.95, 0.1) == -1
    assert most_wrong(45, 45, 0.95, 0.1) == 0


def test_part_of_the_messages_answered_needs_less() -> None:
    """Of 500 messages, 333 answered: 11 wrong ones have a chance of 11.3%, and 9.4% over numbers of answers nearby."""
    limits = [most_wrong(answered, 500, 0.95, 0.1) for answered in range(300, 340)]
    before = plain(500, 0.95, 0.1)[300:340]

    assert {new - old for new, old in zip(limits, before, strict=True)} == {0, 1}
    assert sorted(limits) == limits


@pytest.mark.parametrize("cases", [2_999, 3_001, 100_000])
def test_many_messages_are_tested_alike(cases: int) -> None:
    assert most_wrong(2_000, cases, 0.95, 0.1) - plain(2_000, 0.95, 0.1)[-1] in (0, 1)


def test_no_answers_pass_nothing() -> None:
    assert most_wrong(0, 100, 0.95, 0.1) == -1
