"""Word alignment compared with a plain implementation, and what it is for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from intentmatch.encoders.context import embedded_context
from intentmatch.learning.word_alignment import WORD_WEIGHT, WordAlignment, lacking, word_weight
from intentmatch.pieces.embedded import known_pieces
from intentmatch.pieces.vectors import embedded_piece_vectors

UTTERANCES = (
    "cancel my order",
    "I want to cancel the order",
    "where is my parcel",
    "track the package",
    "ᚠᚢᚦ",
    "wann habt ihr offen?",
    "cancel cancel cancel",
)
OWNERS = (0, 0, 1, 1, 2, 3, 4)
WORDS = st.sampled_from(["cancel", "my", "order", "where", "the", "parcel", "package", "giraffe", "ᚠᚢᚦ", "offen", "?"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def pieces(texts: Iterable[str]) -> list[Sequence[int]]:
    return [known_pieces(text) for text in texts]


@pytest.fixture(scope="module")
def alignment() -> WordAlignment:
    return WordAlignment.fit(pieces(UTTERANCES), OWNERS)


def plain(text: str, row: int) -> float:
    """Word similarity of a text to the intent of a row, piece by piece."""

    def importance(piece: int) -> float:
        utterances = sum(piece in known_pieces(other) for other in UTTERANCES)
        length = float(embedded_piece_vectors().lengths(np.array([piece]))[0])
        return (math.log((1 + len(UTTERANCES)) / (1 + utterances)) + 1) * length

    def direction(pieces: Sequence[int], others: Sequence[int], salience: Sequence[float]) -> float:
        away = [1.0 - max((cosine(piece, other) for other in others), default=0.0) for piece in pieces]
        weights = [importance(piece) * factor for piece, factor in zip(pieces, salience, strict=True)]
        return 1.0 - math.sqrt(sum(w * a * a for w, a in zip(weights, away, strict=True)) / sum(weights))

    def cosine(one: int, other: int) -> float:
        first, second = embedded_piece_vectors().unit(np.array([one, other]))
        return float(first @ second)

    message, line = known_pieces(text), known_pieces(UTTERANCES[row])
    intent = [n for n, owner in enumerate(OWNERS) if owner == OWNERS[row]]
    own = [piece for utterance in intent for piece in known_pieces(UTTERANCES[utterance])]
    if not message or not line:
        return 0.0
    salience = (embedded_context().read(message)[1] + 1e-3).tolist()
    precision, recall = direction(message, own, salience), direction(line, message, [1.0] * len(line))
    return 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0


@run(max_examples=60)
@given(TEXTS, st.lists(st.integers(0, len(UTTERANCES) - 1), max_size=5))
def test_similarity_equals_that_of_a_plain_implementation(alignment, text, rows):
    """Including words that no utterance has, texts without known pieces, and repeated rows."""
    found = alignment.similarities(known_pieces(text), rows)

    assert found == pytest.approx([plain(text, row) for row in rows], abs=1e-5)


@run(max_examples=60)
@given(st.lists(st.tuples(TEXTS, st.lists(st.integers(0, len(UTTERANCES) - 1), max_size=5)), max_size=8))
def test_many_texts_have_the_similarities_of_each(alignment, asked):
    """In several blocks too. The network reads one text and many with other roundings."""
    texts, rows = [text for text, _ in asked], [rows for _, rows in asked]
    expected = [alignment.similarities(known_pieces(text), of_text) for text, of_text in asked]

    for times in (1, 300):
        found = alignment.similarities_many(pieces(texts) * times, rows * times)
        for one, other in zip(found, expected * times, strict=True):
            assert one == pytest.approx(other, abs=1e-5)


def test_saliences_that_are_known_are_not_found_again(alignment, monkeypatch):
    texts = pieces(["cancel my order", "", "hello, where is it"])
    rows = [[0, 1], [2], [1]]
    expected = [alignment.similarities(text, of_text) for text, of_text in zip(texts, rows, strict=True)]
    known = [embedded_context().read(text)[1] if text else np.empty(0, dtype=np.float32) for text in texts]
    monkeypatch.setattr("intentmatch.learning.word_alignment.embedded_context", None)

    found = alignment.similarities_many(texts, rows, known)

    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


@given(TEXTS)
def test_similarity_lies_between_0_and_1(alignment, text):
    assert all(
        0.0 <= value <= 1.0 + 1e-6 for value in alignment.similarities(known_pieces(text), range(len(UTTERANCES)))
    )


def test_text_equal_to_an_utterance_has_similarity_1(alignment: WordAlignment) -> None:
    for row, text in enumerate(UTTERANCES):
        expected = 0.0 if not known_pieces(text) else 1.0
        assert alignment.similarities(known_pieces(text), [row]) == [pytest.approx(expected, abs=1e-6)]


def test_word_of_the_same_meaning_counts_more_than_another(alignment: WordAlignment) -> None:
    package, giraffe = (
        alignment.similarities(known_pieces(f"where is my {word}"), [2])[0] for word in ("package", "giraffe")
    )

    assert 1.0 > package > giraffe


def test_one_missing_word_counts_more_than_small_differences() -> None:
    """With the same mean cosine."""
    cosines = np.array([1.0, 1.0, 1.0, 0.0, 0.75, 0.75, 0.75, 0.75], dtype=np.float32)

    missing, differing = lacking(cosines, np.ones(8, dtype=np.float32), [0, 4])

    assert missing > 3 * differing


def test_words_of_all_utterances_of_the_intent_count(alignment: WordAlignment) -> None:
    alone = WordAlignment.fit(pieces(UTTERANCES), range(len(UTTERANCES)))

    with_both, of_one = (one.similarities(known_pieces("I want my order"), [0])[0] for one in (alignment, alone))

    assert with_both > of_one


def test_character_without_weight_in_the_model_is_aligned_like_others() -> None:
    """Without errors and without numbers that are none, wherever it stands."""
    zeros = WordAlignment.fit(pieces(["闽", "where is my parcel"]), [0, 1])

    for text in ("闽", "闽闽", "where is 闽"):
        alone = zeros.similarities(known_pieces(text), [0, 1])
        assert alone == pytest.approx(zeros.similarities_many(pieces([text]), [[0, 1]])[0], abs=1e-6)
        assert all(0.0 <= similarity <= 1.0 + 1e-6 for similarity in alone)
    assert zeros.similarities(known_pieces("闽"), [0])[0] == pytest.approx(1.0)
    of_rows = zeros.similarities_of_rows(np.array([0, 1]), [[1], [0]], [[0], [1]])
    assert all(0.0 <= similarity < 0.5 for [similarity] in of_rows)


def test_rare_words_count_more(alignment: WordAlignment) -> None:
    """`cancel` is in three utterances, `my` in two, `parcel` in one."""
    without_rare, without_common = (
        alignment.similarities(known_pieces(text), [2])[0] for text in ("where is my", "where is parcel")
    )

    assert without_common > without_rare


def test_held_out_utterance_is_compared_as_if_the_registry_did_not_have_it(alignment: WordAlignment) -> None:
    """The rarity of its own words is that among the other utterances."""
    others = [row for row in range(len(UTTERANCES)) if row != 2]
    rest = WordAlignment.fit(pieces([UTTERANCES[row] for row in others]), [OWNERS[row] for row in others])

    # Row 3 has no word of row 2, so that only the number of utterances changes the rarity of its words.
    found, expected = (
        alignment.similarities_of_rows(np.array([2]), [[3]], [[2]])[0],
        rest.similarities(known_pieces(UTTERANCES[2]), [others.index(3)]),
    )

    assert found == pytest.approx(expected, abs=0.01)
    assert alignment.similarities_of_rows(np.array([4, 0]), [[0, 1], [4]], [[4], [0]]) == [[0.0, 0.0], [0.0]]


def test_alignment_from_stored_tensors_gives_the_same_numbers(alignment: WordAlignment) -> None:
    again = WordAlignment.from_tensors({**alignment.to_tensors(), "head": np.zeros(1)}, OWNERS)

    assert again.similarities(known_pieces("cancel it"), range(7)) == alignment.similarities(
        known_pieces("cancel it"), range(7)
    )


def test_registry_without_known_words_has_similarity_0() -> None:
    empty = WordAlignment.fit(pieces(["ᚠ", "ᚢᚦ"]), [0, 1])

    assert empty.similarities(known_pieces("cancel"), [0, 1]) == [0.0, 0.0]
    assert empty.similarities_of_rows(np.array([0]), [[1, 1]], [[0]]) == [[0.0, 0.0]]
    assert empty.similarities_many(pieces(["cancel"]), [[0, 1]]) == [[0.0, 0.0]]
    assert empty.similarities(known_pieces("cancel"), []) == []


def test_words_weigh_less_beside_the_vectors_of_a_transformer():
    weight = word_weight("onnx:models/minilm")
    assert weight == word_weight("sentence_transformer:all-MiniLM-L6-v2") < word_weight("static:potion") == WORD_WEIGHT

    again = WordAlignment.from_tensors(WordAlignment.fit([[5, 6], [7]], [0, 1], weight).to_tensors(), [0, 1])

    assert again is not None
    assert again.weight == weight
