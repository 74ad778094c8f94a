"""Encoding many texts once each, with progress, a cache and vectors from an earlier build."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fakes import BrokenEncoder, WordHashEncoder
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import IntentMatchError
from intentmatch.encoders import encode as room
from intentmatch.encoders.encode import Known, encode_all
from intentmatch.storage.vector_cache import VectorCache

TEXTS = ["hello", "good morning", "thank you", "goodbye", "see you soon", "never mind"]


def with_value(value: float):
    def spoil(vectors):
        vectors[-1, 5] = value
        return vectors

    return spoil


@given(st.lists(st.sampled_from(["hello", "goodbye", "thank you", "", "où", "注文"]), max_size=12))
def test_every_text_gets_its_own_vector(texts):
    """Rows are in the order of the texts, repeated or not, and each distinct text is asked for once."""
    encoder = WordHashEncoder()

    vectors = encode_all(encoder, texts, "query")

    assert sorted(encoder.encoded) == sorted(set(texts))
    assert np.array_equal(vectors, WordHashEncoder().encode(texts))


def test_progress_is_told_around_each_batch(tmp_path, monkeypatch):
    """Progress counts from none to all of the texts that are new; those that were known do not count."""
    monkeypatch.setattr(room, "ENCODE_TEXTS", 2)
    told, cache = [], VectorCache(tmp_path)
    encode_all(WordHashEncoder(), ["known"], "utterance", cache)

    encode_all(WordHashEncoder(), [*"abcdea", "known"], "utterance", cache, lambda *done: told.append(done))

    assert told == [(0, 5), (2, 5), (4, 5), (5, 5)]


def test_a_build_that_was_stopped_goes_on_where_it_ended(tmp_path, monkeypatch):
    """What was encoded before an interruption is in the cache and is not encoded again."""
    monkeypatch.setattr(room, "ENCODE_TEXTS", 2)
    texts, cache = ["a", "b", "c", "d", "e"], VectorCache(tmp_path)

    def stop(done: int, of: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_all(WordHashEncoder(), texts, "utterance", cache, stop)
    encoder = WordHashEncoder()
    encode_all(encoder, texts, "utterance", cache)

    assert encoder.encoded == ["e"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda vectors: vectors[:-1],
        lambda vectors: np.concatenate([vectors, vectors]),
        lambda vectors: vectors[:, :-1],
        lambda vectors: vectors[0],
        lambda vectors: vectors[None],
        lambda vectors: np.empty((0, 64), dtype=np.float32),
        lambda vectors: vectors.tolist(),
        iter,
        lambda vectors: None,
        with_value(math.nan),
        with_value(math.inf),
        with_value(-math.inf),
    ],
)
def test_an_encoder_that_breaks_its_protocol_is_named(tmp_path, spoil):
    """Anything but finite numbers of the right shape is an error that names the encoder, and nothing is cached."""
    with pytest.raises(IntentMatchError, match=r"the encoder broken broke its protocol: .* must return finite numbers"):
        encode_all(BrokenEncoder(spoil), TEXTS, "utterance", VectorCache(tmp_path))

    right = WordHashEncoder(name="broken")
    encode_all(right, TEXTS, "utterance", VectorCache(tmp_path))
    assert len(right.encoded) == len(TEXTS)


def test_rows_of_another_length_are_refused():
    """Cosines are products of unit rows; an encoder that forgot to normalise is told so."""
    with pytest.raises(IntentMatchError, match=r"rows must be of length 1 or all zeros, but 6 of 6 .* of length 3"):
        encode_all(BrokenEncoder(lambda vectors: vectors * 3), TEXTS, "utterance")
    assert not encode_all(BrokenEncoder(np.zeros_like), TEXTS, "utterance").any()


def test_known_vectors_are_copied_and_the_rest_is_encoded():
    """From the rows of the earlier build, or from its other vectors."""
    encoder = WordHashEncoder()
    rows, other = encoder.encode(TEXTS[:2]), encoder.encode(TEXTS[2:3])[0]
    known = Known({text: row for row, text in enumerate(TEXTS[:2])}, rows, {TEXTS[2]: other})
    encoder.encoded.clear()

    vectors = encode_all(encoder, TEXTS[:4][::-1], "utterance", known=known)

    assert encoder.encoded == [TEXTS[3]]
    assert np.array_equal(vectors, WordHashEncoder().encode(TEXTS[:4][::-1]))
