"""Products with rows of float16 are those with the same rows as float32."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.index import products as room
from intentmatch.index.products import products

pytest.importorskip("numkong", reason="the extra [ann] is not installed")


@pytest.mark.parametrize("dim", [1, 7, 256, 384])
@pytest.mark.parametrize("queries", [1, 2, 40])
def test_half_rows_give_what_whole_rows_give(dim, queries, monkeypatch):
    """Of one query and of many, as float32; a slice of rows, and rows that nobody may write to, are rows."""
    monkeypatch.setattr(room, "HALF_PRODUCT_ROWS", 32)
    chance = np.random.default_rng(1)
    rows, asked = (chance.normal(size=(count, dim)).astype(np.float32) / dim**0.5 for count in (90, queries))
    half = rows.astype(np.float16)
    half.flags.writeable = False
    of_one, of_many = products(half)

    for part in (half, half[10:20], half[89:]):
        expected = asked @ part.astype(np.float32).T
        assert of_many(asked, part) == pytest.approx(expected, abs=5e-3)
        assert of_many(asked, part).dtype == of_one(part, asked[0]).dtype == np.float32
        assert of_one(part, asked[0]) == pytest.approx(expected[0], abs=5e-3)


def test_cosines_may_be_changed():
    """They are the caller's own, whatever the rows are kept in."""
    for rows in (np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float16)):
        of_one, _ = products(rows)
        cosines = of_one(rows, np.ones(3, dtype=np.float32))
        cosines[1] = -np.inf
        assert of_one(rows, np.ones(3, dtype=np.float32)).tolist() == [1.0, 1.0, 1.0]
