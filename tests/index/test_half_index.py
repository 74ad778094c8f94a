"""A scan of rows of float16 finds the owners that a product with all of them finds, without a look at most."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError
from intentmatch.index import ExactIndex, HalfIndex, half

for package in ("faiss", "numkong"):
    pytest.importorskip(package, reason="the extra [ann] is not installed")


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half, "_ROWS_TO_SCAN", 1)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def grouped(chance: np.random.Generator, owners: int, dim: int, spread: float = 0.5) -> tuple[np.ndarray, list[int]]:
    """Rows of float16 around a centre for each owner, which has one to nine of them; some rows stand there twice."""
    sizes = chance.integers(1, 10, owners)
    column = np.repeat(np.arange(owners), sizes)
    rows = unit(chance.normal(size=(owners, dim))[column] + spread * chance.normal(size=(len(column), dim)))
    rows[chance.integers(0, len(rows), 20)] = rows[chance.integers(0, len(rows), 20)]
    return rows.astype(np.float16), column.tolist()


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
@pytest.mark.parametrize("dim", [3, 64])
def test_those_that_lead_are_those_of_all_rows(aggregation, dim):
    """By their scores, as any of those that tie may lead."""
    chance = np.random.default_rng(dim)
    rows, owners = grouped(chance, 400, dim)
    index, every = HalfIndex(rows, owners, aggregation), ExactIndex(rows, owners, aggregation)
    queries = [*unit(rows[::97].astype(np.float32) + 0.2 * chance.normal(size=(len(rows[::97]), dim)))]
    for query in [*queries, *unit(chance.normal(size=(10, dim))), np.zeros(dim, np.float32)]:
        for count in (1, 5, 399, 400, 1000):
            found, expected = (of.best_owners(query[None], count)[0] for of in (index, every))
            assert len({*found.tolist()}) == len(found) == min(count, 400)
            of_found, of_expected = (
                sorted(every.score_column(query, c)[0] for c in some) for some in (found, expected)
            )
            assert of_found == pytest.approx(of_expected, abs=2e-4)


def test_few_owners_are_looked_at(monkeypatch):
    """Those whose centre is near, and those that have a row which is nearer than the least of them."""
    chance = np.random.default_rng(1)
    rows, owners = grouped(chance, 2000, 64)
    index, looked = HalfIndex(rows, owners, "mean2"), []
    monkeypatch.setattr(
        index,
        "score_column",
        lambda query, column: looked.append(column) or ExactIndex.score_column(index, query, column),
    )
    for row in rows[::500].astype(np.float32):
        looked.clear()
        index.best_owners(row[None], 15)
        assert 15 <= len(looked) == len({*looked}) <= 40


@pytest.mark.parametrize("dim", [1, 7, 8, 256, 390])
def test_a_scan_finds_every_row_that_is_near(dim, tmp_path: Path):
    """As numpy does, in their order, also of rows that nobody may write to because they are mapped."""
    chance = np.random.default_rng(dim)
    rows, query = (chance.normal(size=size).astype(np.float32) / dim**0.5 for size in ((3000, dim), dim))
    np.save(tmp_path / "rows.npy", rows.astype(np.float16))
    mapped = np.asarray(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    cosines = mapped.astype(np.float32) @ query
    scan = half.Scan(mapped)

    for least in (-np.inf, float(np.median(cosines)), float(cosines.max()) - 1e-4, np.inf):
        found, of_found = scan.above(query, least)
        assert (
            {*np.flatnonzero(cosines > least + 1e-5)} <= {*found.tolist()} <= {*np.flatnonzero(cosines > least - 1e-5)}
        )
        assert (np.diff(found) > 0).all()
        assert of_found == pytest.approx(cosines[found], abs=1e-5)


def test_threads_scan_at_once_and_what_they_need_is_used_again():
    """A scanner for each, and no more; each thread has the answer that it gets alone."""
    rows, owners = grouped(np.random.default_rng(2), 4000, 64)
    index = HalfIndex(rows, owners, "mean2")
    queries = rows[::50].astype(np.float32)
    alone = [index.best_owners(query[None], 10)[0].tolist() for query in queries]
    assert len(index._scan._idle) == 1

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda query: index.best_owners(query[None], 10)[0].tolist(), queries))
    assert together == alone
    assert 1 <= len(index._scan._idle) <= 4


def test_without_faiss_it_is_told_at_once(monkeypatch):
    """When the index is made, and not with the first message."""
    monkeypatch.setattr(plugins, "installed", lambda module: module != "faiss")
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[ann\]"'):
        HalfIndex(np.eye(4, dtype=np.float16), [0, 1, 2, 3], "max")


def test_what_a_scan_is_not_for_takes_all_rows(monkeypatch):
    """Several queries at once, some owners only, few rows, or as many leaders as there are owners."""
    rows, owners = grouped(np.random.default_rng(3), 50, 16)
    index, every = (kind(rows, owners, "mean2") for kind in (HalfIndex, ExactIndex))
    monkeypatch.setattr(half.Scan, "above", lambda *_: pytest.fail("it scans"))
    queries = rows[:3].astype(np.float32)
    some = np.arange(20, 30)

    for asked in ((queries, 5), (queries[:1], 5, some), (queries[:1], 50)):
        for found, expected in zip(index.best_owners(*asked), every.best_owners(*asked), strict=True):
            assert found.tolist() == expected.tolist()
    monkeypatch.setattr(half, "_ROWS_TO_SCAN", len(rows) + 1)
    assert index.best_owners(queries[:1], 5)[0].tolist() == every.best_owners(queries[:1], 5)[0].tolist()
