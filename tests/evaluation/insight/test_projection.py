"""The map: near vectors lie near, the same vectors give the same map, and small or odd inputs are no error."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.evaluation.insight.projection import _largest, _repulsion, project


def blobs(each: int, centres: int = 4, dim: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    middle = random.normal(size=(centres, dim))
    owners = np.repeat(np.arange(centres), each)
    vectors = middle[owners] + 0.3 * random.normal(size=(each * centres, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), owners


def test_neighbours_on_the_map_are_of_the_same_group():
    vectors, owners = blobs(40)

    found = project(vectors, rounds=120)
    distance = ((found[:, None] - found[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)

    assert (owners[distance.argmin(axis=1)] == owners).mean() > 0.97


def test_same_vectors_give_the_same_map():
    vectors, _ = blobs(20)

    assert np.array_equal(project(vectors, rounds=40), project(vectors.copy(), rounds=40))


def test_positions_fill_the_square():
    found = project(blobs(30)[0], rounds=40)

    assert found.shape == (120, 2)
    assert np.abs(found).max() == pytest.approx(1.0)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_few_vectors_get_finite_positions(count):
    found = project(blobs(2)[0][:count])

    assert found.shape == (count, 2)
    assert np.isfinite(found).all()


def test_equal_and_zero_vectors_get_finite_positions():
    vectors = np.zeros((80, 8), dtype=np.float32)
    vectors[:40, 0] = 1.0

    found = project(vectors, rounds=40)

    assert np.isfinite(found).all()


def test_repulsion_on_the_grid_is_that_of_all_pairs():
    position = np.random.default_rng(1).normal(scale=8.0, size=(200, 2))
    away = position[:, None] - position[None]
    closeness = 1.0 / (1.0 + (away**2).sum(axis=2))
    exact = (closeness[..., None] ** 2 * away).sum(axis=1) / (closeness.sum() - len(position))

    found = _repulsion(position)

    assert np.abs(found - exact).mean() < 0.15 * np.abs(exact).mean()
    assert np.corrcoef(found.ravel(), exact.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("values", [3, 1000])
def test_largest_numbers_are_those_of_a_partition_of_places(values):
    """Also where many numbers are equal: those that `argpartition` chooses decide the map."""
    numbers = np.random.default_rng(0).integers(0, values, size=(20, 90)).astype(np.float32)

    expected = np.argpartition(-numbers, 14, axis=1)[:, :15]

    assert np.array_equal(np.sort(_largest(numbers, 15), axis=1), np.sort(expected, axis=1))
