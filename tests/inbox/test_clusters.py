"""Groups of vectors: those of the textbook, in any order, and cut where strangers begin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.inbox.clusters import clustered, most_central, near_enough


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def textbook(vectors: np.ndarray, cut: float) -> set[frozenset[int]]:
    """Join the two groups with the highest mean cosine, as long as that is high enough."""
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
    lambda told: unit(np.random.default_rng(told[2]).normal(size=told[:2]) + 0.3)
)


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0))
def test_it_is_average_linkage(vectors: np.ndarray, cut: float) -> None:
    """The same groups as by joining the nearest two again and again."""
    assert groups(vectors, cut) == textbook(vectors, cut)


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0), seed=st.integers(0, 1000))
def test_the_order_makes_no_difference(vectors: np.ndarray, cut: float, seed: int) -> None:
    """And neither does the time of day."""
    order = np.random.default_rng(seed).permutation(len(vectors))
    shuffled = {frozenset(order[list(group)].tolist()) for group in groups(vectors[order], cut)}

    assert shuffled == groups(vectors, cut)
    assert [rows.tolist() for rows in clustered(vectors, cut)] == [rows.tolist() for rows in clustered(vectors, cut)]


@given(vectors=VECTORS, cut=st.floats(-0.5, 1.0), more=st.floats(0.0, 0.5))
def test_a_stricter_cut_only_divides(vectors: np.ndarray, cut: float, more: float) -> None:
    """Each group of the stricter one is part of a group of the other, and nothing is lost."""
    wide, strict = groups(vectors, cut), groups(vectors, cut + more)

    assert all(any(small <= large for large in wide) for small in strict)
    assert sorted(row for group in strict for row in group) == list(range(len(vectors)))


def test_what_the_encoder_does_not_know_stands_alone() -> None:
    """Rows of zeros are near nothing, not even each other; the same vector twice is one group."""
    vectors = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1]], dtype=np.float32)

    assert groups(vectors, 0.5) == {frozenset([0]), frozenset([2]), frozenset([1, 3]), frozenset([4])}
    assert clustered(np.empty((0, 3), dtype=np.float32), 0.5) == []


def test_the_most_central_comes_first() -> None:
    """What was said often draws the middle to itself."""
    vectors = unit(np.array([[1.0, 0.0], [0.9, 0.4], [0.4, 0.9]]))

    assert most_central(vectors, [1, 1, 1]).tolist() == [1, 0, 2]
    assert most_central(vectors, [1, 1, 9]).tolist() == [2, 1, 0]


def test_the_cut_is_where_strangers_begin() -> None:
    """A hundredth of the pairs of different intents is nearer; a registry of one intent has none."""
    angles = np.linspace(0.0, np.pi / 2, 200)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    owners = [0] * 100 + [1] * 100
    strangers = (vectors[:100] @ vectors[100:].T).ravel()
    cut = near_enough(vectors, owners)

    assert np.mean(strangers > cut) == pytest.approx(0.01, abs=1e-3)
    assert near_enough(vectors, [0] * 200) == near_enough(vectors[:0], []) == 0.5
    many = np.tile(vectors, (30, 1))
    assert near_enough(many, owners * 30) == pytest.approx(cut, abs=0.02)
