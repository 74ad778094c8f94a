"""Token features: deterministic, of unit length, and more similar for texts that share words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.learning.token_features import DIM, VERSION, SparseVector, TokenVectorizer
from intentmatch.pieces.embedded import EMBEDDED, known_pieces
from intentmatch.registry import read_registry
from intentmatch.text.normalize import clean

INTENTS = Path(__file__).parents[2] / "intents"
# Digests of tokenizer.json, and of the places and signs of the texts of MANY_LANGUAGES.
KNOWN_TOKENIZER = "9873b6d4358cfd98"
KNOWN_PLACES = "588acfbbc23da74e"
KNOWN_VERSION = 1

MANY_LANGUAGES = {
    "en": "where is my order",
    "de": "wo bleibt meine Bestellung?",
    "tr": "siparişim nerede kaldı",
    "ru": "где мой заказ",
    "ar": "أين طلبي",
    "hi": "मेरा ऑर्डर कहाँ है",
    "zh": "我的订单在哪里",
    "ja": "注文はどこですか",
    "ko": "제 주문은 어디에 있나요",
    "numbers": "4711",
}
# Letters of a script that the embedded tokenizer has no piece for, and nothing at all.
WITHOUT_A_PIECE = ["", "ᎣᏓ"]

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.lists(st.sampled_from(["where is", "my", "order", "cancel it", "ᎣᏓ", "注文", "4711"]), max_size=6).map(
            " ".join
        ),
    ),
    max_size=6,
)


def pieces(texts: Iterable[str]) -> list[Sequence[int]]:
    return [known_pieces(text) for text in texts]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The cleaned utterances of the project's own intents."""
    return [clean(utterance.text) for utterance in read_registry(INTENTS).utterances]


@pytest.fixture(scope="module")
def vectors(lines) -> TokenVectorizer:
    """Fitted on the project's own utterances."""
    return TokenVectorizer.fit(pieces(lines))


@pytest.fixture
def level() -> TokenVectorizer:
    """Every piece has the same rarity."""
    return TokenVectorizer(np.ones(1 << 14, dtype=np.float32))


def dense(words: SparseVector) -> np.ndarray:
    row = np.zeros(DIM, dtype=np.float32)
    np.add.at(row, words.places, words.values)
    return row


def cosine(vectors: TokenVectorizer, one: str, other: str) -> float:
    first, second = vectors.dense(pieces([one, other]))
    return float(first @ second)


def test_fitting_is_deterministic(lines, vectors):
    """To the last bit, as are the vectors."""
    again = TokenVectorizer.fit(pieces(lines))

    assert again.rarity.tobytes() == vectors.rarity.tobytes()
    assert again.dense(pieces(lines[::-1]))[::-1].tobytes() == vectors.dense(pieces(lines)).tobytes()


def test_fitting_does_not_depend_on_the_order_of_texts(lines, vectors):
    assert np.array_equal(TokenVectorizer.fit(pieces(lines[::-1])).rarity, vectors.rarity)


def test_rows_are_of_unit_length_or_of_zeros(lines, vectors):
    texts = pieces(lines)
    lengths = np.linalg.norm(vectors.dense(texts).astype(np.float64), axis=1)

    assert np.allclose(lengths, [1.0 if known else 0.0 for known in texts], atol=1e-5)


@given(TEXTS)
def test_sparse_vector_equals_the_dense_row(texts):
    vectors = TokenVectorizer.fit(pieces(texts))
    rows = vectors.dense(pieces(texts))

    assert (rows.dtype, rows.shape) == (np.float32, (len(texts), DIM))
    for row, text in zip(rows, texts, strict=True):
        words = vectors.sparse(known_pieces(text))
        assert words.values.dtype == np.float32
        assert len(words.places) == len(words.values)
        assert dense(words) == pytest.approx(row, abs=1e-6)
        assert np.linalg.norm(row) == pytest.approx(1.0 if row.any() else 0.0, abs=1e-5)


@settings(max_examples=30)
@given(TEXTS)
def test_piece_is_counted_once_per_text(texts):
    """In whatever blocks the texts are counted."""
    # Fitted on a single text, the pieces of the text have a lower rarity than the others.
    alone = [TokenVectorizer.fit(pieces([text])).rarity < 1.5 for text in texts]
    counts = np.sum(alone, axis=0) if texts else np.zeros(1 << 14)

    rarity = TokenVectorizer.fit(pieces(texts)).rarity

    assert rarity == pytest.approx(np.log((1 + len(texts)) / (1 + counts)) + 1)


def test_no_texts_give_no_rows_and_equal_rarities():
    vectors = TokenVectorizer.fit([])

    assert vectors.dense([]).shape == (0, DIM)
    assert np.array_equal(vectors.rarity, np.ones(1 << 14, dtype=np.float32))


@pytest.mark.parametrize("text", WITHOUT_A_PIECE)
def test_text_without_known_pieces_has_a_zero_vector(vectors, text):
    words = vectors.sparse(known_pieces(text))

    assert (len(words.places), len(words.values)) == (0, 0)
    assert not vectors.dense(pieces([text])).any()


@pytest.mark.parametrize("language", MANY_LANGUAGES)
def test_every_language_has_token_features(vectors, language):
    """A repeated line is more similar than a line of another language."""
    line = MANY_LANGUAGES[language]
    others = [other for name, other in MANY_LANGUAGES.items() if name != language]

    assert cosine(vectors, line, line) == pytest.approx(1.0, abs=1e-5)
    assert all(cosine(vectors, line, f"{line} {line}") > 0.5 > cosine(vectors, line, other) for other in others)


def test_shared_words_raise_the_similarity(vectors):
    """The same order raises it further."""
    line = "cancel my order please"

    nearness = [cosine(vectors, line, other) for other in ("good morning", "cancel the thing", "cancel my order")]

    assert nearness == sorted(nearness)
    assert nearness[0] < 0.1 < nearness[1] < nearness[2] < 1.0
    assert cosine(vectors, line, "please order my cancel") < cosine(vectors, line, line) - 0.1


def test_rare_words_have_more_weight():
    common, rare = "order", "volcano"
    fitted = TokenVectorizer.fit(pieces([f"{common} {n}" for n in range(50)] + [f"{common} {rare}"]))

    assert cosine(fitted, f"{common} {rare}", rare) > cosine(fitted, f"{common} {rare}", common) + 0.1


def test_word_repeated_in_one_text_counts_once():
    once, often = (
        TokenVectorizer.fit(pieces(["cancel", "hello"])),
        TokenVectorizer.fit(pieces(["cancel " * 10, "hello"])),
    )

    assert once.sparse(known_pieces("cancel")).values.tolist() == pytest.approx(
        once.sparse(known_pieces("cancel")).values.tolist()
    )
    assert once.rarity.min() == often.rarity.min() == pytest.approx(np.log(3 / 2) + 1)


def test_only_the_first_pieces_of_a_long_text_are_used(vectors):
    document = "where is my order " * 1000

    assert np.array_equal(
        dense(vectors.sparse(known_pieces(document))), dense(vectors.sparse(known_pieces(document + "volcano " * 1000)))
    )


def test_version_is_raised_when_places_change(level):
    """An artefact stores weights by place: a release with other places must not read it."""
    tokenizer = hashlib.sha256((EMBEDDED / "tokenizer.json").read_bytes()).hexdigest()[:16]
    places = hashlib.sha256()
    for text in MANY_LANGUAGES.values():
        row = level.dense(pieces([clean(text)]))[0]
        where = np.flatnonzero(row)
        places.update(where.astype("<i8").tobytes() + np.sign(row[where]).astype("<i1").tobytes())

    assert (tokenizer, places.hexdigest()[:16], VERSION) == (KNOWN_TOKENIZER, KNOWN_PLACES, KNOWN_VERSION), (
        "raise token_features.VERSION and write the new digests here: older artefacts would be read with other places "
        "than they were built with"
    )
