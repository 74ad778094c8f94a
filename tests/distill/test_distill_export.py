"""The model folder: int8 rows that lose little, and axes that are turned and weakened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from intentmatch.distill import Corpus, Recipe
from intentmatch.distill.export import flatten, save_model
from intentmatch.distill.student import Table
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, learn_tokenizer
from intentmatch.encoders.static import StaticEncoder


def table_of(rows: int, dim: int) -> np.ndarray:
    """Rows of very different lengths, whose numbers differ as much."""
    random = np.random.default_rng(3)
    table = random.normal(size=(rows, dim)) * np.linspace(3, 0.1, dim) * random.lognormal(sigma=2, size=(rows, 1))
    return table.astype(np.float32)


def a_row_each(rows: np.ndarray) -> Table:
    """The table in which no pieces share a row."""
    return Table(rows, np.arange(len(rows), dtype=np.int32), np.ones(len(rows), dtype=np.float32))


def saved(folder: Path, table: Table, silent: set[int]) -> dict[str, np.ndarray]:
    save_model(folder, table, {}, silent)
    return load_file(folder / "model.safetensors")


def test_a_number_is_off_by_half_a_step_at_most(tmp_path: Path) -> None:
    """A step is a 127th of the largest number of its row, which itself stays what it is."""
    table = table_of(50, 16)
    tensors = saved(tmp_path / "new" / "model", a_row_each(table), set())
    largest = np.abs(table).max(axis=1, keepdims=True)
    back = tensors["embeddings"].astype(np.float32) * tensors["weights"][:, None]

    assert sorted(tensors) == ["embeddings", "weights"]
    assert (tensors["embeddings"].dtype, tensors["weights"].dtype) == (np.int8, np.float32)
    assert (np.abs(back - table) <= largest / 127 * 0.5001).all()
    assert (np.abs(tensors["embeddings"].astype(int)).max(axis=1) == 127).all()


def test_silent_pieces_say_nothing(tmp_path: Path) -> None:
    """They weigh nothing, nor does a row of zeros; the table that was given stays as it is."""
    rows = table_of(6, 4)
    rows[3] = 0.0
    table = a_row_each(rows)
    before = [part.copy() for part in table]

    tensors = saved(tmp_path, table, {0, 5})

    assert (tensors["weights"] == 0).tolist() == [True, False, False, True, False, True]
    assert not tensors["embeddings"][3].any()
    assert all(map(np.array_equal, table, before))


def test_pieces_share_rows(tmp_path: Path) -> None:
    """Each has the row that it is mapped to, times its own weight; a silent one does not silence those beside it."""
    table = Table(table_of(3, 16), np.array([2, 0, 1, 0, 2], np.int32), np.array([1, 1, 1, 0.25, 0], np.float32))

    tensors = saved(tmp_path, table, {1})
    back = tensors["embeddings"][tensors["mapping"]] * tensors["weights"][:, None]

    assert tensors["embeddings"].shape == (3, 16)
    assert tensors["mapping"].dtype == np.int32
    wanted = table.rows[table.mapping] * np.array([1, 0, 1, 0.25, 0])[:, None]
    assert (np.abs(back - wanted) <= np.abs(wanted).max(axis=1, keepdims=True) / 127 * 0.5001).all()


def test_the_folder_gives_the_sums_of_the_table(toy: Corpus, tmp_path: Path) -> None:
    """The `static` encoder reads it, and gives what the table gives in float32, to what int8 loses; so where shared."""
    described: dict[str, Any] = learn_tokenizer(toy, Recipe(pieces=70))
    pieces = [piece for piece, _ in described["model"]["vocab"]]
    random = np.random.default_rng(4)
    shared = Table(
        table_of(20, 16),
        random.integers(20, size=len(pieces), dtype=np.int32),
        random.random(len(pieces), dtype=np.float32),
    )
    silent = {pieces.index(name) for name in (PADDING, UNKNOWN, SPACE)}
    words = np.array([pieces.index(f"{SPACE}{word}") for word in ("the", "garden", "burns")])
    for table in (a_row_each(table_of(len(pieces), 16)), shared):
        save_model(tmp_path, table, described, silent)

        found = StaticEncoder(tmp_path).encode(["the garden burns", "☃", ""])

        total = (table.rows[table.mapping[words]] * table.weights[words, None]).sum(axis=0)
        assert table.total(words) == pytest.approx(total, abs=1e-3)
        assert found[0] == pytest.approx(total / np.linalg.norm(total), abs=0.02)
        assert not found[1:].any()


def test_says_what_it_is(tmp_path: Path) -> None:
    """The files by which sentence-transformers and model2vec know the layout, and the tokenizer as it was given."""
    save_model(tmp_path, a_row_each(table_of(3, 4)), {"version": "1.0", "é": ["▁"]}, set())
    content = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.glob("*.json")}

    assert content["tokenizer.json"] == {"version": "1.0", "é": ["▁"]}
    assert "é" in (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert content["config.json"]["normalize"] is True
    assert [module["path"] for module in content["modules.json"]] == [".", "1_Normalize"]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Unit rows that vary much more along some axes than along others."""
    random = np.random.default_rng(7)
    rows = random.normal(size=(500, 8)) * np.array([1, 4, 0.5, 2, 3, 0.7, 1.5, 0.2])
    rows = rows @ np.linalg.qr(random.normal(size=(8, 8)))[0]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def strengths(rows: np.ndarray) -> np.ndarray:
    return np.square(rows.astype(np.float64)).mean(axis=0)


def test_no_power_only_turns(table: np.ndarray) -> None:
    """Every cosine stays, and the axes are ordered by how much they tell."""
    turned = flatten(table, table[::2], 0.0)

    assert turned.dtype == np.float32
    assert np.abs(turned @ turned.T - table @ table.T).max() < 1e-5
    assert (np.diff(strengths(turned[::2])) < 0).all()
    assert not np.allclose(turned, table, atol=0.1)


def test_full_power_makes_all_axes_alike(table: np.ndarray) -> None:
    """And independent of each other."""
    white = flatten(table, table, 1.0).astype(np.float64)

    assert white.T @ white / len(white) == pytest.approx(np.eye(8), abs=1e-3)


def test_half_a_power_weakens_by_half(table: np.ndarray) -> None:
    """The strong axes stay the strong ones; their strength is its square root."""
    before, after = (strengths(flatten(table, table, power)) for power in (0.0, 0.5))

    assert after == pytest.approx(before**0.5, rel=1e-3)


def test_an_axis_that_tells_nothing_does_not_explode() -> None:
    """Where the vectors have no number along it at all."""
    flat = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], dtype=np.float32)

    assert np.isfinite(flatten(flat, flat, 1.0)).all()
    assert np.abs(flatten(flat, flat, 1.0)).max() < 10


def test_the_order_of_the_texts_does_not_matter(table: np.ndarray) -> None:
    """An axis has a sign of its own."""
    assert flatten(table, table[::-1], 0.25) == pytest.approx(flatten(table, table, 0.25), abs=1e-4)
