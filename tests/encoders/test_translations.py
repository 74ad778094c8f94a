"""Vectors moved as far as translations lie from their sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder
from numpy.typing import NDArray
from safetensors.numpy import save_file

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Vectors
from intentmatch.encoders.static import StaticEncoder
from intentmatch.encoders.translations import (
    FILE,
    Translations,
    read_translations,
    translations_beside,
    translations_of,
)
from intentmatch.pieces.embedded import EMBEDDED


def unit_rows(rows: int, dim: int = 64, seed: int = 0) -> Vectors:
    found = np.random.default_rng(seed).normal(size=(rows, dim))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def measured() -> Translations:
    """Pairs with cosines of about 0.7."""
    sentences = unit_rows(40)
    translations = 0.7 * sentences + 0.7 * unit_rows(40, seed=1)
    return Translations.between(
        sentences, (translations / np.linalg.norm(translations, axis=1, keepdims=True)).astype(np.float32)
    )


def test_pairs_are_measured_as_cosine_and_orthogonal_direction() -> None:
    sentences, translations = unit_rows(5), unit_rows(5, seed=1)

    found = Translations.between(sentences, translations)

    lengths = np.sqrt(1.0 - found.cosines**2)[:, None]
    assert found.cosines[:, None] * sentences + lengths * found.residuals == pytest.approx(translations, abs=1e-5)
    assert np.einsum("ij,ij->i", found.residuals, sentences) == pytest.approx(np.zeros(5), abs=1e-5)


def test_pairs_without_a_direction_are_left_out() -> None:
    """Equal vectors, and texts that the encoder cannot read."""
    sentences, translations = unit_rows(4), unit_rows(4, seed=1)
    translations[0], translations[1], sentences[2] = sentences[0], 0.0, 0.0

    assert len(Translations.between(sentences, translations).cosines) == 1


def test_moved_vectors_are_as_far_away_as_translations(measured: Translations) -> None:
    """Every pair is used about equally often; the result is of unit length and always the same."""
    vectors, owners = unit_rows(200, seed=2), np.arange(200) // 10

    moved = measured.moved(vectors, owners)

    assert moved.shape == (3, 200, 64)
    for one in moved:
        cosines = np.einsum("ij,ij->i", vectors, one)
        assert np.sort(cosines) == pytest.approx(np.sort(np.tile(measured.cosines, 5)), abs=1e-3)
    assert np.linalg.norm(moved, axis=2) == pytest.approx(np.ones((3, 200)), abs=1e-5)
    assert moved.dtype == np.float32
    assert np.array_equal(moved, measured.moved(vectors.copy(), owners))
    assert not np.array_equal(moved[0], moved[1])


def test_moved_vectors_lean_towards_similar_utterances_of_other_intents(measured: Translations) -> None:
    """Of two intents with the same vectors, each leans to the other; without another intent, to none."""
    vectors = np.repeat(unit_rows(100, seed=2), 2, axis=0)
    neighbours = unit_rows(100, seed=5)
    vectors[1::2] = 0.8 * vectors[1::2] + 0.6 * neighbours
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    towards = vectors[1::2] - np.einsum("ij,ij->i", vectors[1::2], vectors[::2])[:, None] * vectors[::2]

    def lean(owners: NDArray[np.int64]) -> float:
        moved = measured.moved(vectors, owners)[:, ::2]
        return float(np.einsum("kij,ij->ki", moved, towards).mean())

    assert lean(np.tile([0, 1], 100)) > lean(np.zeros(200, dtype=np.int64)) + 0.01


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_few_vectors_are_moved(measured: Translations, rows: int) -> None:
    assert measured.moved(unit_rows(rows), np.arange(rows)).shape == (3, rows, 64)


def test_vectors_of_zeros_stay_finite(measured: Translations) -> None:
    assert np.isfinite(measured.moved(np.zeros((3, 64), dtype=np.float32), np.arange(3))).all()


def test_saved_pairs_are_read_nearly_as_they_were(measured: Translations, tmp_path: Path) -> None:
    measured.save(tmp_path)
    read = read_translations(tmp_path, 64)

    assert read is not None
    assert read.cosines == pytest.approx(measured.cosines, abs=1e-3)
    assert np.einsum("ij,ij->i", read.residuals, measured.residuals) == pytest.approx(np.ones(40), abs=1e-3)
    assert read.digest == read_translations(tmp_path, 64).digest != measured.digest


def test_folder_without_pairs_or_of_another_size_has_none(measured: Translations, tmp_path: Path) -> None:
    assert read_translations(tmp_path, 64) is None
    measured.save(tmp_path)
    assert read_translations(tmp_path, 32) is None


def test_damaged_pairs_are_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\x08\0\0\0\0\0\0\0 broken ")
    with pytest.raises(ValueError, match=f"{FILE} is damaged"):
        read_translations(tmp_path, 64)
    save_file({"cosines": np.zeros(3, dtype=np.float16)}, tmp_path / FILE)
    with pytest.raises(ValueError, match=f"{FILE} is damaged"):
        read_translations(tmp_path, 64)


def test_one_changed_byte_is_noticed(measured: Translations, tmp_path: Path) -> None:
    """Otherwise a bot would be calibrated with other numbers, without a word."""
    measured.save(tmp_path)
    content = bytearray((tmp_path / FILE).read_bytes())
    content[-1] ^= 1
    (tmp_path / FILE).write_bytes(content)

    with pytest.raises(ValueError, match=f"{FILE} is damaged"):
        read_translations(tmp_path, 64)


def test_damaged_pairs_beside_a_model_name_the_remedy(measured: Translations, tmp_path: Path) -> None:
    measured.save(tmp_path)
    assert len(translations_beside(tmp_path, 64).cosines) == 40
    (tmp_path / FILE).write_bytes(b"no tensors")

    with pytest.raises(ModelUnavailableError, match="measure it again with `measure-languages`"):
        translations_beside(tmp_path, 64)


def test_embedded_encoder_has_pairs_and_others_none() -> None:
    """In at most 300 kB."""
    found = translations_of(StaticEncoder(EMBEDDED))

    assert found is not None
    assert found.residuals.shape == (1000, 256)
    assert 0.6 < found.cosines.mean() < 0.9
    assert (EMBEDDED / FILE).stat().st_size <= 300_000
    assert translations_of(WordHashEncoder()) is None
