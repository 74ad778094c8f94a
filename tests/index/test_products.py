"""Dot products of float16 rows equal those of the same rows in float32."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.index import products as module
from intentmatch.index.products import products

pytest.importorskip("numkong", reason="the extra [ann] is not installed")


@pytest.mark.parametrize("dim", [1, 7, 256, 384])
@pytest.mark.parametrize("queries", [1, 2, 40])
def test_half_rows_give_the_products_of_float32_rows(dim, queries, monkeypatch):
    """For one query and many, slices of rows, and read-only rows."""
    monkeypatch.setattr(module, "HALF_PRODUCT_ROWS", 32)
    random = np.random.default_rng(1)
    rows, asked = (random.normal(size=(count, dim)).astype(np.float32) / dim**0.5 for count in (90, queries))
    half = rows.astype(np.float16)
    half.flags.writeable = False
    one_query, many_queries = products(half)

    for part in (half, half[10:20], half[89:]):
        expected = asked @ part.astype(np.float32).T
        assert many_queries(asked, part) == pytest.approx(expected, abs=5e-3)
        assert many_queries(asked, part).dtype == one_query(part, asked[0]).dtype == np.float32
        assert one_query(part, asked[0]) == pytest.approx(expected[0], abs=5e-3)


def test_results_can_be_changed_by_the_caller():
    for rows in (np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float16)):
        one_query, _ = products(rows)
        cosines = one_query(rows, np.ones(3, dtype=np.float32))
        cosines[1] = -np.inf
        assert one_query(rows, np.ones(3, dtype=np.float32)).tolist() == [1.0, 1.0, 1.0]
