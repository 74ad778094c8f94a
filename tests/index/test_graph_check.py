"""Graphs are tried out in another process, which a crafted one may end."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from intentmatch.index import make_graph
from intentmatch.index.approximate import empty_graph
from intentmatch.index.graph_check import graph_works


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    made = np.random.default_rng(0).normal(size=(300, 32)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_own_graph_works(vectors: np.ndarray) -> None:
    assert graph_works(make_graph(vectors), vectors)
    assert graph_works(make_graph(vectors.astype(np.float16)), vectors.astype(np.float16))


def test_graph_of_other_rows_is_refused(vectors: np.ndarray) -> None:
    assert not graph_works(make_graph(vectors[:200]), vectors)
    assert not graph_works(make_graph(vectors[:, :16]), vectors)
    assert not graph_works(np.zeros(1000, dtype=np.uint8), vectors)
    assert not graph_works(np.empty(0, dtype=np.uint8), vectors)


def test_damaged_graphs_do_not_end_this_process(vectors: np.ndarray) -> None:
    graph = make_graph(vectors)
    chosen = random.Random(3)
    works = []
    for _ in range(8):
        damaged = graph.copy()
        for _ in range(200):
            damaged[chosen.randrange(len(damaged))] = chosen.randrange(256)
        works.append(graph_works(damaged, vectors))
    assert not all(works)


def test_without_another_process_no_graph_is_trusted(vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(vectors)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert not graph_works(graph, vectors)


def test_graph_that_names_a_row_behind_the_last_is_refused(vectors: np.ndarray) -> None:
    graph = empty_graph(vectors.shape[1])
    graph.add(np.arange(1, len(vectors) + 1), vectors, threads=1)

    assert not graph_works(np.frombuffer(bytes(graph.save()), dtype=np.uint8), vectors)
