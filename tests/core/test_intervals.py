"""Intervals of shares against published values, and the coverage that they promise."""

from __future__ import annotations

import math

import pytest

from intentmatch.core.intervals import beta_quantile, binomial_tail, clopper_pearson, incomplete_beta, wilson


def probability(hits: int, cases: int, share: float) -> float:
    return math.comb(cases, hits) * share**hits * (1.0 - share) ** (cases - hits)


@pytest.mark.parametrize(
    ("hits", "cases", "share"), [(0, 10, 0.3), (3, 10, 0.3), (9, 10, 0.9), (3, 100, 0.05), (7, 7, 0.2)]
)
def test_binomial_tail_is_the_sum_of_its_terms(hits: int, cases: int, share: float) -> None:
    exact = sum(probability(one, cases, share) for one in range(hits + 1))

    assert binomial_tail(hits, cases, share) == pytest.approx(exact, rel=1e-10)
    assert binomial_tail(-1, cases, share) == 0.0


def test_incomplete_beta_has_its_symmetry_and_ends() -> None:
    assert incomplete_beta(2.5, 30.0, 0.05) == pytest.approx(1.0 - incomplete_beta(30.0, 2.5, 0.95), rel=1e-12)
    assert (incomplete_beta(2.0, 3.0, 0.0), incomplete_beta(2.0, 3.0, 1.0)) == (0.0, 1.0)
    assert incomplete_beta(1.0, 1.0, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2000.0, 3000.0, 0.4) == pytest.approx(0.5, abs=0.01)


def test_quantile_is_the_inverse() -> None:
    assert incomplete_beta(8.0, 3.0, beta_quantile(0.025, 8.0, 3.0)) == pytest.approx(0.025, rel=1e-9)


def test_published_intervals() -> None:
    """15 of 148 and 0 of 20: Newcombe 1998, "Two-Sided Confidence Intervals for the Single Proportion", table I."""
    assert clopper_pearson(15 / 148, 148) == pytest.approx((0.0578, 0.1617), abs=1e-4)
    assert clopper_pearson(0.0, 20) == pytest.approx((0.0, 0.1684), abs=1e-4)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=1e-4)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.93])
def test_clopper_pearson_covers_at_least_at_its_rate(share: float) -> None:
    cases = 40
    intervals = [clopper_pearson(hits / cases, cases) for hits in range(cases + 1)]
    covered = sum(probability(hits, cases, share) for hits, (low, high) in enumerate(intervals) if low <= share <= high)

    assert covered >= 0.95


def test_number_of_cases_may_be_a_fraction() -> None:
    """An effective sample size between two whole numbers gives an interval between theirs."""
    lows = [clopper_pearson(0.8, cases)[0] for cases in (10, 12.5, 15)]

    assert lows == sorted(lows)
    assert lows[0] < lows[1] < lows[2]
