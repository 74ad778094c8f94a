"""The model folder: quantization, whitening and file layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from intentmatch.distill import Corpus, Recipe
from intentmatch.distill.export import flatten, save_model
from intentmatch.distill.student import TokenVectors
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, train_tokenizer
from intentmatch.encoders.static import StaticEncoder


def table_of(rows: int, dim: int) -> np.ndarray:
    """Rows of very different lengths, whose numbers differ as much."""
    random = np.random.default_rng(3)
    table = random.normal(size=(rows, dim)) * np.linspace(3, 0.1, dim) * random.lognormal(sigma=2, size=(rows, 1))
    return table.astype(np.float32)


def a_row_each(rows: np.ndarray) -> TokenVectors:
    """The table in which no pieces share a row."""
    return TokenVectors(rows, np.arange(len(rows), dtype=np.int32), np.ones(len(rows), dtype=np.float32))


def saved(folder: Path, table: TokenVectors, silent: set[int]) -> dict[str, np.ndarray]:
    save_model(folder, table, {}, silent)
    return load_file(folder / "model.safetensors")


def test_quantization_error_is_at_most_half_a_step(tmp_path: Path) -> None:
    table = table_of(50, 16)
    tensors = saved(tmp_path / "new" / "model", a_row_each(table), set())
    largest = np.abs(table).max(axis=1, keepdims=True)
    back = tensors["embeddings"].astype(np.float32) * tensors["weights"][:, None]

    assert sorted(tensors) == ["embeddings", "weights"]
    assert (tensors["embeddings"].dtype, tensors["weights"].dtype) == (np.int8, np.float32)
    assert (np.abs(back - table) <= largest / 127 * 0.5001).all()
    assert (np.abs(tensors["embeddings"].astype(int)).max(axis=1) == 127).all()


def test_silent_tokens_and_zero_rows_have_weight_zero(tmp_path: Path) -> None:
    rows = table_of(6, 4)
    rows[3] = 0.0
    table = a_row_each(rows)
    before = [part.copy() for part in table]

    tensors = saved(tmp_path, table, {0, 5})

    assert (tensors["weights"] == 0).tolist() == [True, False, False, True, False, True]
    assert not tensors["embeddings"][3].any()
    assert all(map(np.array_equal, table, before))


def test_shared_rows_keep_the_weight_of_each_token(tmp_path: Path) -> None:
    table = TokenVectors(table_of(3, 16), np.array([2, 0, 1, 0, 2], np.int32), np.array([1, 1, 1, 0.25, 0], np.float32))

    tensors = saved(tmp_path, table, {1})
    back = tensors["embeddings"][tensors["mapping"]] * tensors["weights"][:, None]

    assert tensors["embeddings"].shape == (3, 16)
    assert tensors["mapping"].dtype == np.int32
    wanted = table.rows[table.mapping] * np.array([1, 0, 1, 0.25, 0])[:, None]
    assert (np.abs(back - wanted) <= np.abs(wanted).max(axis=1, keepdims=True) / 127 * 0.5001).all()


def test_static_encoder_gives_the_sums_of_the_table(toy: Corpus, tmp_path: Path) -> None:
    described: dict[str, Any] = train_tokenizer(toy, Recipe(pieces=70))
    pieces = [piece for piece, _ in described["model"]["vocab"]]
    random = np.random.default_rng(4)
    shared = TokenVectors(
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


def test_folder_has_the_files_of_the_libraries(tmp_path: Path) -> None:
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


def test_power_0_only_rotates(table: np.ndarray) -> None:
    turned = flatten(table, table[::2], 0.0)

    assert turned.dtype == np.float32
    assert np.abs(turned @ turned.T - table @ table.T).max() < 1e-5
    assert (np.diff(strengths(turned[::2])) < 0).all()
    assert not np.allclose(turned, table, atol=0.1)


def test_power_1_gives_all_axes_the_same_variance(table: np.ndarray) -> None:
    white = flatten(table, table, 1.0).astype(np.float64)

    assert white.T @ white / len(white) == pytest.approx(np.eye(8), abs=1e-3)


def test_power_one_half_takes_the_square_root(table: np.ndarray) -> None:
    before, after = (strengths(flatten(table, table, power)) for power in (0.0, 0.5))

    assert after == pytest.approx(before**0.5, rel=1e-3)


def test_axis_without_variance_stays_finite() -> None:
    flat = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], dtype=np.float32)

    assert np.isfinite(flatten(flat, flat, 1.0)).all()
    assert np.abs(flatten(flat, flat, 1.0)).max() < 10


def test_order_of_the_vectors_does_not_matter(table: np.ndarray) -> None:
    assert flatten(table, table[::-1], 0.25) == pytest.approx(flatten(table, table, 0.25), abs=1e-4)
