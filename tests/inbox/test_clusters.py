"""Clustering of vectors, compared with a naive average linkage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.inbox.clusters import clustered, most_central, similarity_cut


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def naive_average_linkage(vectors: np.ndarray, cut: float) -> set[frozenset[int]]:
    """Join the two groups with the highest mean cosine, as long as it reaches the cut."""
    groups = [frozenset([row]) for row in range(len(vectors))]
    similarity = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    while len(groups) > 1:
        means = [
            (similarity[np.ix_(sorted(one), sorted(other))].mean(), n, m)
            for n, one in enumerate(groups)
            for m, other in enumerate(groups)
            if n < m
        ]
        best, n, m = max(means)
        if best < cut:
            break
        groups = [g for k, g in enumerate(groups) if k not in (n, m)] + [groups[n] | groups[m]]
    return set(groups)


def groups(vectors: np.ndarray, cut: float) -> set[frozenset[int]]:
    return {frozenset(rows.tolist()) for rows in clustered(vectors, cut)}


VECTORS = st.tuples(st.integers(0, 25), st.integers(2, 6), st.integers(0, 2**32 - 1)).map(
    lambda drawn: unit(np.random.default_rng(drawn[2]).normal(size=drawn[:2]) + 0.3)
)


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0))
def test_clusters_equal_naive_average_linkage(vectors: np.ndarray, cut: float) -> None:
    assert groups(vectors, cut) == naive_average_linkage(vectors, cut)


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0), seed=st.integers(0, 1000))
def test_clusters_do_not_depend_on_the_order(vectors: np.ndarray, cut: float, seed: int) -> None:
    """A second call gives the same result."""
    order = np.random.default_rng(seed).permutation(len(vectors))
    shuffled = {frozenset(order[list(group)].tolist()) for group in groups(vectors[order], cut)}

    assert shuffled == groups(vectors, cut)
    assert [rows.tolist() for rows in clustered(vectors, cut)] == [rows.tolist() for rows in clustered(vectors, cut)]


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0), more=st.floats(0.0, 0.5))
def test_higher_cut_only_divides_groups(vectors: np.ndarray, cut: float, more: float) -> None:
    """Each group of the higher cut is part of a group of the lower one, and every row is in a group."""
    wide, strict = groups(vectors, cut), groups(vectors, cut + more)

    assert all(any(small <= large for large in wide) for small in strict)
    assert sorted(row for group in strict for row in group) == list(range(len(vectors)))


def test_zero_vectors_are_groups_of_their_own() -> None:
    """Equal vectors are one group."""
    vectors = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1]], dtype=np.float32)

    assert groups(vectors, 0.5) == {frozenset([0]), frozenset([2]), frozenset([1, 3]), frozenset([4])}
    assert clustered(np.empty((0, 3), dtype=np.float32), 0.5) == []


def test_most_central_row_comes_first() -> None:
    """A high weight moves the centre."""
    vectors = unit(np.array([[1.0, 0.0], [0.9, 0.4], [0.4, 0.9]]))

    assert most_central(vectors, [1, 1, 1]).tolist() == [1, 0, 2]
    assert most_central(vectors, [1, 1, 9]).tolist() == [2, 1, 0]


def test_cut_is_a_quantile_of_cosines_across_intents() -> None:
    """One percent of the pairs of different intents is nearer; a registry of one intent has the default cut."""
    angles = np.linspace(0.0, np.pi / 2, 200)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    owners = [0] * 100 + [1] * 100
    cosines = (vectors[:100] @ vectors[100:].T).ravel()
    cut = similarity_cut(vectors, owners)

    assert np.mean(cosines > cut) == pytest.approx(0.01, abs=1e-3)
    assert similarity_cut(vectors, [0] * 200) == similarity_cut(vectors[:0], []) == 0.5
    many = np.tile(vectors, (30, 1))
    assert similarity_cut(many, owners * 30) == pytest.approx(cut, abs=0.02)
