"""Vectors of single pieces, and the file of the embedded model that they share with the static encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces import vectors as piece_vectors
from intentmatch.pieces.embedded import EMBEDDED, embedded_tokenizer, known_pieces
from intentmatch.pieces.vectors import DIM, embedded_content, embedded_piece_vectors


def test_vectors_are_the_first_dimensions_of_the_model_at_unit_length() -> None:
    tensors = load_file(EMBEDDED / "model.safetensors")
    pieces = np.array([0, 17, 4711, 159_999], dtype=np.int32)

    found = embedded_piece_vectors().unit(pieces)

    rows = tensors["embeddings"][tensors["mapping"][pieces], :DIM].astype(np.float64)
    assert (found.dtype, found.shape) == (np.float32, (4, DIM))
    assert found == pytest.approx(rows / np.linalg.norm(rows, axis=1, keepdims=True), abs=1e-6)


def test_every_piece_has_a_vector() -> None:
    """No row of the model is zero in these dimensions, which would have no direction."""
    rows = load_file(EMBEDDED / "model.safetensors")["embeddings"][:, :DIM]

    assert np.abs(rows.astype(np.int16)).max(axis=1).min() > 0


def test_words_of_the_same_meaning_are_near() -> None:
    """Also of two languages."""
    cancel, stop, order, german = (
        embedded_piece_vectors().unit(np.array(known_pieces(word)))[0]
        for word in ("cancel", "stop", "order", "stornieren")
    )

    assert cancel @ german > cancel @ order
    assert cancel @ stop > stop @ order


def test_static_encoder_shares_the_mapped_file() -> None:
    encoder = StaticEncoder(EMBEDDED)

    assert np.shares_memory(encoder._rows, embedded_content())
    assert embedded_piece_vectors() is embedded_piece_vectors()


def test_damaged_model_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a missing one."""
    monkeypatch.setattr(piece_vectors, "EMBEDDED", tmp_path)
    for content in (None, b"no tensors"):
        if content is not None:
            (tmp_path / "model.safetensors").write_bytes(content)
        with pytest.raises(ModelUnavailableError, match="reinstall"):
            embedded_content.__wrapped__()


def test_known_pieces_are_those_of_the_tokenizer() -> None:
    """A text of unknown letters has none, although each of its words begins with a separator."""
    tokenizer = embedded_tokenizer()

    assert known_pieces("cancel the order") == tokenizer.encode("cancel the order", 512)
    assert known_pieces("ᚠᚢᚦ ᚨᚱᚲ") == known_pieces("") == []
    assert known_pieces("cancel ᚠ") == [
        piece for piece in tokenizer.encode("cancel ᚠ", 512) if piece != tokenizer.unknown
    ]
