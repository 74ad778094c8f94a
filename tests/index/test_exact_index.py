"""The exact index, compared with a naive implementation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.index import ExactIndex

AGGREGATIONS = ["mean2", "max"]


class NaiveIndex:
    """What `ExactIndex` says it does, one number at a time."""

    def __init__(self, owners: Sequence[int], aggregation: str) -> None:
        self.owners = owners
        self.aggregation = aggregation

    def score(self, cosines: Sequence[float], owner: int) -> float:
        first, *others = sorted((c for c, o in zip(cosines, self.owners, strict=True) if o == owner), reverse=True)
        return first if self.aggregation == "max" or not others else (first + others[0]) / 2

    def nearest_rows(self, cosines: Sequence[float], owner: int, count: int) -> list[int]:
        rows = [row for row, o in enumerate(self.owners) if o == owner]
        return sorted(rows, key=lambda row: (-cosines[row], row))[:count]


# Quarters are exact in binary, and so few that rows often tie.
NUMBERS = st.integers(-4, 4).map(lambda quarters: quarters / 4)


@st.composite
def indexes(draw):
    """Cosines of two queries to the rows of up to five owners with gaps in their numbers, and the owners."""
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any))
    owners = [owner for owner, size in enumerate(sizes) for _ in range(size)]
    row = st.lists(NUMBERS, min_size=len(owners), max_size=len(owners))
    return np.array([draw(row), draw(row)], dtype=np.float32), owners


def unit_rows(count: int, dim: int = 8) -> np.ndarray:
    rows = np.random.default_rng(7).normal(size=(count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(indexes(), st.sampled_from(AGGREGATIONS))
def test_scores_equal_the_naive_aggregation(case, aggregation):
    """With ties and owners of one row."""
    cosines, owners = case
    index = ExactIndex(np.zeros((len(owners), 3)), owners, aggregation)
    twin = NaiveIndex(owners, aggregation)

    scores = index.aggregate(cosines)

    assert scores.dtype == np.float32
    assert scores.tolist() == [[twin.score(row, owner) for owner in sorted(set(owners))] for row in cosines.tolist()]


@given(indexes(), st.integers(1, 5))
def test_nearest_rows_are_sorted_with_ties_in_row_order(case, count):
    cosines, owners = case
    # Of one number each, so that a product with 1 is the cosine.
    index, query = ExactIndex(cosines[0][:, None], owners), np.ones(1, dtype=np.float32)
    twin = NaiveIndex(owners, "mean2")

    for column, owner in enumerate(index.owners.tolist()):
        expected = twin.nearest_rows(cosines[0].tolist(), owner, count)
        assert index.nearest_rows(query, column, count) == expected
        assert index.nearest(cosines[0], column) == expected[0]
        assert index.score_column(query, column) == (twin.score(cosines[0].tolist(), owner), expected[0])


@given(indexes(), st.sampled_from(AGGREGATIONS), st.data())
def test_row_with_cosine_minus_inf_is_left_out(case, aggregation, data):
    """An owner without other rows scores -inf."""
    cosines, owners = case
    gone = data.draw(st.integers(0, len(owners) - 1))
    left = [row for row in range(len(owners)) if row != gone]
    masked = cosines.copy()
    masked[:, gone] = -np.inf

    scores = ExactIndex(np.zeros((len(owners), 3)), owners, aggregation).aggregate(masked)
    without = ExactIndex(np.zeros((len(left), 3)), [owners[row] for row in left], aggregation)

    columns = [sorted(set(owners)).index(owner) for owner in without.owners.tolist()]
    assert scores[:, columns].tolist() == without.aggregate(cosines[:, left]).tolist()
    assert np.isneginf(np.delete(scores, columns, axis=1)).all()


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_scores_returns_cosines_and_their_aggregation(aggregation):
    vectors, queries, owners = unit_rows(7), unit_rows(3), [0, 0, 0, 1, 4, 4, 4]
    index = ExactIndex(vectors, owners, aggregation)
    twin = NaiveIndex(owners, aggregation)

    scores, cosines = index.scores(queries)

    assert cosines == pytest.approx(queries @ vectors.T)
    assert scores == pytest.approx(np.array([[twin.score(row, o) for o in (0, 1, 4)] for row in cosines.tolist()]))
    assert index.owners.tolist() == [0, 1, 4]


def test_equal_rows_keep_their_order():
    index = ExactIndex(np.repeat(unit_rows(2), 200, axis=0), [0] * 400)

    assert index.nearest_rows(index.vectors[0], 0, 200) == list(range(200))


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_query_equal_to_a_row_finds_it_with_cosine_one(aggregation):
    vectors = unit_rows(5)
    index = ExactIndex(vectors, [0, 0, 1, 1, 1], aggregation)

    _, cosines = index.scores(vectors[3:4])

    assert index.nearest(cosines[0], 1) == 3
    assert cosines[0, 3] == pytest.approx(1.0)


def test_owner_with_one_row_scores_its_cosine_in_both_aggregations():
    vectors = unit_rows(1)

    scores = [ExactIndex(vectors, [0], aggregation).scores(vectors)[0].item() for aggregation in AGGREGATIONS]

    assert scores == pytest.approx([1.0, 1.0])


def test_two_equal_rows_have_their_cosine_as_mean():
    vectors = np.repeat(unit_rows(1), 2, axis=0)

    scores, _ = ExactIndex(vectors, [0, 0], "mean2").scores(vectors[:1])

    assert scores.item() == pytest.approx(1.0)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_no_rows_or_no_queries_give_empty_scores(aggregation):
    empty = ExactIndex(np.empty((0, 8), dtype=np.float32), [], aggregation)
    full = ExactIndex(unit_rows(3), [0, 0, 1], aggregation)

    assert empty.scores(unit_rows(2))[0].shape == (2, 0)
    assert full.scores(np.empty((0, 8), dtype=np.float32))[0].shape == (0, 2)


@given(indexes(), st.sampled_from(AGGREGATIONS), st.data())
def test_score_of_some_rows_is_that_of_an_owner_with_these_alone(case, aggregation, data):
    cosines, owners = case
    index, query = ExactIndex(cosines[0][:, None], owners, aggregation), np.ones(1, dtype=np.float32)
    owner = data.draw(st.sampled_from(owners))
    own = [row for row, other in enumerate(owners) if other == owner]
    rows = sorted(data.draw(st.sets(st.sampled_from(own), min_size=1)))
    twin = NaiveIndex([owner] * len(rows), aggregation)

    score, nearest = index.score_rows(query, rows)

    assert score == twin.score(cosines[0][rows].tolist(), owner)
    assert nearest == rows[twin.nearest_rows(cosines[0][rows].tolist(), owner, 1)[0]]


@given(indexes(), st.sampled_from(AGGREGATIONS))
def test_scores_of_one_owner_for_many_queries_are_those_of_each(case, aggregation):
    """Each row is a unit vector of its own, so that a query has the cosines of the case."""
    cosines, owners = case
    index = ExactIndex(np.eye(len(owners), dtype=np.float32), owners, aggregation)
    naive = NaiveIndex(owners, aggregation)

    for column, owner in enumerate(index.owners):
        scores, rows = index.score_column_many(cosines, column)
        assert scores.tolist() == [naive.score(each, owner) for each in cosines.tolist()]
        assert rows.tolist() == [naive.nearest_rows(each, owner, 1)[0] for each in cosines.tolist()]
