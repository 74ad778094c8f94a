"""Pearson's and Spearman's correlation, pinned by published worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.evaluation.correlation import pearson, ranks, spearman

ANSCOMBE = {
    "I": (
        [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5],
        [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
    ),
    "IV": ([8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8], [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89]),
}


def test_spearman_of_the_example_without_ties():
    """IQ and hours of television a week, the worked example of the article in Wikipedia: -29/165."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]

    assert spearman(iq, hours) == pytest.approx(-29 / 165)


def test_spearman_with_ties_is_pearson_of_mean_ranks():
    """The example of `scipy.stats.spearmanr`."""
    assert spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) == pytest.approx(0.82078268)


@pytest.mark.parametrize("name", ANSCOMBE)
def test_pearson_of_anscombes_quartet(name):
    """Anscombe (1973): 0.816 for each of the four."""
    assert pearson(*ANSCOMBE[name]) == pytest.approx(0.8165, abs=3e-4)


def test_pearson_of_the_example_of_scipy():
    assert pearson([1, 2, 3, 4, 5], [10, 9, 2.5, 6, 4]) == pytest.approx(-0.7426106572325057)


def test_equal_numbers_share_the_mean_of_their_ranks():
    assert ranks([30, 10, 20, 20]).tolist() == [4, 1, 2.5, 2.5]
    assert ranks([7, 7, 7]).tolist() == [2, 2, 2]
    assert ranks([]).tolist() == []


@pytest.mark.parametrize("series", [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4])])
def test_constant_and_short_series_have_no_correlation(series):
    assert pearson(*series) is None
    assert spearman(*series) is None


def test_series_of_different_length_are_refused():
    with pytest.raises(ValueError, match="series of 2 and 3 numbers"):
        pearson([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="series of 3 and 2 numbers"):
        spearman([1, 2, 3], [1, 2])


NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=30)


@given(NUMBERS)
def test_any_series_correlate_between_minus_one_and_one_in_either_order(pairs):
    one, other = zip(*pairs, strict=True)
    for correlation in (pearson, spearman):
        found = correlation(one, other)
        if found is not None:
            assert -1 <= found <= 1
            assert correlation(other, one) == pytest.approx(found)
            assert correlation(one, [-number for number in other]) == pytest.approx(-found)


@given(NUMBERS)
def test_spearman_sees_only_the_order(pairs):
    one, other = zip(*pairs, strict=True)

    assert spearman(one, other) == spearman(np.array(one) ** 3, other)
