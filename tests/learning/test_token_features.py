"""What a text says literally: the same for the same pieces, of unit length, and as near as the words are shared."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.encoders.tokenizer.embedded import EMBEDDED
from intentmatch.learning.token_features import DIM, VERSION, SparseVector, TokenVectorizer
from intentmatch.registry import read_registry
from intentmatch.text.normalize import clean

INTENTS = Path(__file__).parents[2] / "intents"
# Of tokenizer.json, and of the places and signs that the texts of EVERYWHERE have.
KNOWN_TOKENIZER = "9873b6d4358cfd98"
KNOWN_PLACES = "588acfbbc23da74e"
KNOWN_VERSION = 1

EVERYWHERE = {
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


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Every line of the project's own intents."""
    return [clean(utterance.text) for utterance in read_registry(INTENTS).utterances]


@pytest.fixture(scope="module")
def vectors(lines) -> TokenVectorizer:
    """What those lines teach of rarity."""
    return TokenVectorizer.fit(lines)


@pytest.fixture
def level() -> TokenVectorizer:
    """Every piece as rare as any other."""
    return TokenVectorizer(np.ones(1 << 14, dtype=np.float32))


def dense(words: SparseVector) -> np.ndarray:
    row = np.zeros(DIM, dtype=np.float32)
    np.add.at(row, words.places, words.values)
    return row


def cosine(vectors: TokenVectorizer, one: str, other: str) -> float:
    first, second = vectors.dense([one, other])
    return float(first @ second)


def test_the_same_lines_teach_the_same(lines, vectors):
    """Learning is deterministic to the last bit, and so are vectors, whatever was asked before."""
    again = TokenVectorizer.fit(list(lines))

    assert again.rarity.tobytes() == vectors.rarity.tobytes()
    assert again.dense(lines[::-1])[::-1].tobytes() == vectors.dense(lines).tobytes()


def test_the_order_of_lines_teaches_nothing(lines, vectors):
    """How rare something is does not depend on where it stands."""
    assert np.array_equal(TokenVectorizer.fit(lines[::-1]).rarity, vectors.rarity)


def test_rows_are_of_unit_length(lines, vectors):
    """Every line of the project's intents has words, and a vector of length 1."""
    lengths = np.linalg.norm(vectors.dense(lines).astype(np.float64), axis=1)

    assert np.allclose(lengths, 1.0, atol=1e-5)


@given(TEXTS)
def test_sparse_is_dense_without_its_zeros(texts):
    """What `words` has at a place is together what `rows` have there."""
    vectors = TokenVectorizer.fit(texts)
    rows = vectors.dense(texts)

    assert (rows.dtype, rows.shape) == (np.float32, (len(texts), DIM))
    for row, text in zip(rows, texts, strict=True):
        words = vectors.sparse(text)
        assert words.values.dtype == np.float32
        assert len(words.places) == len(words.values)
        assert dense(words) == pytest.approx(row, abs=1e-6)
        assert np.linalg.norm(row) == pytest.approx(1.0 if row.any() else 0.0, abs=1e-5)


@given(TEXTS)
def test_a_piece_is_counted_once_for_each_text_that_has_it(texts):
    """However many texts are counted together."""
    # Of one text alone, what it has is less rare than what it has not.
    alone = [TokenVectorizer.fit([text]).rarity < 1.5 for text in texts]
    counts = np.sum(alone, axis=0) if texts else np.zeros(1 << 14)

    rarity = TokenVectorizer.fit(texts).rarity

    assert rarity == pytest.approx(np.log((1 + len(texts)) / (1 + counts)) + 1)


def test_no_texts_have_no_words():
    """No rows, and no rarity of their own."""
    vectors = TokenVectorizer.fit([])

    assert vectors.dense([]).shape == (0, DIM)
    assert np.array_equal(vectors.rarity, np.ones(1 << 14, dtype=np.float32))


@pytest.mark.parametrize("text", WITHOUT_A_PIECE)
def test_a_text_without_a_known_piece_has_no_words(vectors, text):
    """What the tokenizer cannot read is a row of zeros, near to nothing, and no line that others are near to."""
    words = vectors.sparse(text)

    assert (len(words.places), len(words.values)) == (0, 0)
    assert not vectors.dense([text]).any()


@pytest.mark.parametrize("language", EVERYWHERE)
def test_every_language_has_words(vectors, language):
    """A line is its own nearest in whatever script, and nearer to itself with a word more than to another language."""
    line = EVERYWHERE[language]
    others = [other for name, other in EVERYWHERE.items() if name != language]

    assert cosine(vectors, line, line) == pytest.approx(1.0, abs=1e-5)
    assert all(cosine(vectors, line, f"{line} {line}") > 0.5 > cosine(vectors, line, other) for other in others)


def test_shared_words_bring_texts_together(vectors):
    """More of the same words is nearer, and the same words in their order are nearer than in another."""
    line = "cancel my order please"

    nearness = [cosine(vectors, line, other) for other in ("good morning", "cancel the thing", "cancel my order")]

    assert nearness == sorted(nearness)
    assert nearness[0] < 0.1 < nearness[1] < nearness[2] < 1.0
    assert cosine(vectors, line, "please order my cancel") < cosine(vectors, line, line) - 0.1


def test_rare_words_weigh_more():
    """A word that stands in every line tells lines apart less than one that stands in a single one."""
    common, rare = "order", "volcano"
    taught = TokenVectorizer.fit([f"{common} {n}" for n in range(50)] + [f"{common} {rare}"])

    assert cosine(taught, f"{common} {rare}", rare) > cosine(taught, f"{common} {rare}", common) + 0.1


def test_a_line_counts_once_however_often_it_repeats_itself():
    """Rarity is that of lines, not of pieces: a word said ten times in one line is in one line."""
    once, often = TokenVectorizer.fit(["cancel", "hello"]), TokenVectorizer.fit(["cancel " * 10, "hello"])

    assert once.sparse("cancel").values.tolist() == pytest.approx(once.sparse("cancel").values.tolist())
    assert once.rarity.min() == often.rarity.min() == pytest.approx(np.log(3 / 2) + 1)


def test_a_pasted_document_is_read_by_its_beginning(vectors):
    """The work is bounded: what comes after the first pieces changes nothing."""
    document = "where is my order " * 1000

    assert np.array_equal(dense(vectors.sparse(document)), dense(vectors.sparse(document + "volcano " * 1000)))


def test_the_version_is_raised_with_what_the_places_mean(level):
    """An artefact keeps places of words: a release in which they mean something else must not read it."""
    tokenizer = hashlib.sha256((EMBEDDED / "tokenizer.json").read_bytes()).hexdigest()[:16]
    places = hashlib.sha256()
    for text in EVERYWHERE.values():
        row = level.dense([clean(text)])[0]
        where = np.flatnonzero(row)
        places.update(where.astype("<i8").tobytes() + np.sign(row[where]).astype("<i1").tobytes())

    assert (tokenizer, places.hexdigest()[:16], VERSION) == (KNOWN_TOKENIZER, KNOWN_PLACES, KNOWN_VERSION), (
        "raise words.VERSION when this changes, and write the new digests here: artefacts built before would be read "
        "with other words than they were built with"
    )
