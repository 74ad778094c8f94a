"""The scan of float16 rows finds the same owners as a product with all rows, and scores few of them."""

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
def _scan_any_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half, "_LEAST_ROWS_TO_SCAN", 1)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def clustered_rows(
    random: np.random.Generator, owners: int, dim: int, spread: float = 0.5
) -> tuple[np.ndarray, list[int]]:
    """Return float16 rows around a centre for each owner, one to nine per owner, with some duplicates."""
    sizes = random.integers(1, 10, owners)
    column = np.repeat(np.arange(owners), sizes)
    rows = unit(random.normal(size=(owners, dim))[column] + spread * random.normal(size=(len(column), dim)))
    rows[random.integers(0, len(rows), 20)] = rows[random.integers(0, len(rows), 20)]
    return rows.astype(np.float16), column.tolist()


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
@pytest.mark.parametrize("dim", [3, 64])
def test_scan_finds_the_owners_with_the_best_scores(aggregation, dim):
    """Scores are compared instead of owners, because ties may be ordered differently."""
    random = np.random.default_rng(dim)
    rows, owners = clustered_rows(random, 400, dim)
    index, every = HalfIndex(rows, owners, aggregation), ExactIndex(rows, owners, aggregation)
    queries = [*unit(rows[::97].astype(np.float32) + 0.2 * random.normal(size=(len(rows[::97]), dim)))]
    for query in [*queries, *unit(random.normal(size=(10, dim))), np.zeros(dim, np.float32)]:
        for count in (1, 5, 399, 400, 1000):
            found, expected = (each.best_owners(query[None], count)[0] for each in (index, every))
            assert len({*found.tolist()}) == len(found) == min(count, 400)
            found_scores, expected_scores = (
                sorted(every.score_column(query, c)[0] for c in some) for some in (found, expected)
            )
            assert found_scores == pytest.approx(expected_scores, abs=2e-4)


def test_few_owners_are_scored(monkeypatch):
    random = np.random.default_rng(1)
    rows, owners = clustered_rows(random, 2000, 64)
    index, scored = HalfIndex(rows, owners, "mean2"), []
    monkeypatch.setattr(
        index,
        "score_column",
        lambda query, column: scored.append(column) or ExactIndex.score_column(index, query, column),
    )
    for row in rows[::500].astype(np.float32):
        scored.clear()
        index.best_owners(row[None], 15)
        assert 15 <= len(scored) == len({*scored}) <= 40


@pytest.mark.parametrize("dim", [1, 7, 8, 256, 390])
def test_scan_returns_every_row_above_the_bound(dim, tmp_path: Path):
    """As numpy does, in row order, also for read-only mapped rows."""
    random = np.random.default_rng(dim)
    rows, query = (random.normal(size=size).astype(np.float32) / dim**0.5 for size in ((3000, dim), dim))
    np.save(tmp_path / "rows.npy", rows.astype(np.float16))
    mapped = np.asarray(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    cosines = mapped.astype(np.float32) @ query
    scan = half.Scan(mapped)

    for least in (-np.inf, float(np.median(cosines)), float(cosines.max()) - 1e-4, np.inf):
        found, found_cosines = scan.above(query, least)
        assert (
            {*np.flatnonzero(cosines > least + 1e-5)} <= {*found.tolist()} <= {*np.flatnonzero(cosines > least - 1e-5)}
        )
        assert (np.diff(found) > 0).all()
        assert found_cosines == pytest.approx(cosines[found], abs=1e-5)


def test_concurrent_scans_agree_and_reuse_scanners():
    rows, owners = clustered_rows(np.random.default_rng(2), 4000, 64)
    index = HalfIndex(rows, owners, "mean2")
    queries = rows[::50].astype(np.float32)
    alone = [index.best_owners(query[None], 10)[0].tolist() for query in queries]
    assert len(index._scan._idle) == 1

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda query: index.best_owners(query[None], 10)[0].tolist(), queries))
    assert together == alone
    assert 1 <= len(index._scan._idle) <= 4


def test_missing_faiss_is_an_error_of_the_constructor(monkeypatch):
    monkeypatch.setattr(plugins, "installed", lambda module: module != "faiss")
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[ann\]"'):
        HalfIndex(np.eye(4, dtype=np.float16), [0, 1, 2, 3], "max")


def test_other_searches_use_all_rows(monkeypatch):
    """Several queries, some owners only, as many results as owners, and few rows."""
    rows, owners = clustered_rows(np.random.default_rng(3), 50, 16)
    index, every = (kind(rows, owners, "mean2") for kind in (HalfIndex, ExactIndex))
    monkeypatch.setattr(half.Scan, "above", lambda *_: pytest.fail("it scans"))
    queries = rows[:3].astype(np.float32)
    some = np.arange(20, 30)

    for asked in ((queries, 5), (queries[:1], 5, some), (queries[:1], 50)):
        for found, expected in zip(index.best_owners(*asked), every.best_owners(*asked), strict=True):
            assert found.tolist() == expected.tolist()
    monkeypatch.setattr(half, "_LEAST_ROWS_TO_SCAN", len(rows) + 1)
    assert index.best_owners(queries[:1], 5)[0].tolist() == every.best_owners(queries[:1], 5)[0].tolist()
