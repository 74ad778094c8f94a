"""Hits by spelling: the author's own line, that line mistyped, and nothing that says something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from typo_pairs import DIFFERENT, OPPOSITES, TYPOS

from intentmatch.matching import spelling as lexical
from intentmatch.matching.spelling import LexicalIndex, SpellingHit
from intentmatch.text.normalize import fold
from intentmatch.text.typos import only_typos

FOLDED = st.text().map(fold)
WORDS = st.lists(st.text("abcdeé1注", min_size=1, max_size=9), max_size=4).map(" ".join)


def fuzzy_intents(message: str, *utterances: str, cut_off: float = 0.8) -> list[int]:
    index = LexicalIndex([fold(u) for u in utterances], range(len(utterances)), cut_off)
    return sorted(index.fuzzy(fold(message)))


def test_an_exact_hit_is_the_owners_first_row_that_reads_the_same():
    """Every owner with the folded text is found once, with its first such row and a similarity of 1."""
    index = LexicalIndex(["hi", "bye", "bye", "hi", "thanks"], [0, 0, 0, 1, 2], 0.8)

    assert index.exact(index.rows("hi")) == {0: SpellingHit(0, 1.0), 1: SpellingHit(3, 1.0)}
    assert index.exact(index.rows("bye")) == {0: SpellingHit(1, 1.0)}
    assert index.exact(index.rows("by")) == {}


@given(st.lists(FOLDED, max_size=6), FOLDED)
def test_exact_finds_what_is_there_and_nothing_else(texts, message):
    """A text is hit exactly when it is one of the rows."""
    index = LexicalIndex(texts, range(len(texts)), 0.8)

    assert sorted(index.exact(index.rows(message))) == [row for row, text in enumerate(texts) if text == message]


def test_texts_with_the_same_hash_are_told_apart(monkeypatch):
    """Rows are found by hash, and a hash may be that of another text: then nothing is found that does not read so."""
    texts = ["where is my parcel", "hello there", "where is my parcel", "goodbye"]
    messages = [*texts, "where is my parcle", "hello", "where is my house"]
    apart = LexicalIndex(texts, range(4), 0.8)
    expected = [
        (apart.exact(apart.rows(message)), apart.fuzzy(message), list(apart.rows(message))) for message in messages
    ]

    monkeypatch.setattr(lexical, "hash", lambda text: 7, raising=False)
    together = LexicalIndex(texts, range(4), 0.8)

    found = [
        (together.exact(rows := together.rows(message)), together.fuzzy(message), list(rows)) for message in messages
    ]
    assert found == expected


@pytest.mark.parametrize(("message", "utterance"), TYPOS)
def test_typing_mistakes_are_forgiven(message, utterance):
    """A letter left out, doubled, swapped or mistaken in a longer word, and lost spaces, are the same line."""
    assert fuzzy_intents(message, utterance) == [0]
    assert fuzzy_intents(utterance, message) == [0]


@pytest.mark.parametrize(("message", "utterance"), DIFFERENT)
def test_what_says_something_else_is_no_typing_mistake(message, utterance):
    """Short words, first letters, numbers, added words, and scripts whose characters are words must agree."""
    assert fuzzy_intents(message, utterance) == []
    assert fuzzy_intents(utterance, message) == []


@pytest.mark.parametrize(("message", "its_opposite"), OPPOSITES)
def test_a_word_that_the_registry_knows_is_not_mistyped(message, its_opposite):
    """One letter can turn a word into its opposite; where the registry has both words, both are meant."""
    assert fuzzy_intents(message, its_opposite) == [0]
    assert fuzzy_intents(message, its_opposite, message.split()[0], message) == [2]
    assert fuzzy_intents(message, its_opposite, f"xyz {message}") == []


@pytest.mark.parametrize("message", ["where is my order", "where is my ordre", ""])
def test_a_cut_off_of_one_turns_typo_tolerance_off(message):
    """At 1.0 nothing is a fuzzy hit, not even the line itself."""
    assert fuzzy_intents(message, "where is my order", cut_off=1.0) == []


def test_the_cut_off_is_the_least_similarity():
    """A hit lies at or above the cut-off: one letter of ten is a similarity of 0.9."""
    assert fuzzy_intents("abcdefghix", "abcdefghij", cut_off=0.9) == [0]
    assert fuzzy_intents("abcdefghix", "abcdefghij", cut_off=0.91) == []
    assert fuzzy_intents("", "hi", cut_off=0.0) == []


def test_a_fuzzy_hit_is_the_owners_best_row():
    """Of several rows within reach, each owner's nearest is its hit."""
    index = LexicalIndex(["my orders", "my order", "my ordeal", "my order"], [0, 0, 1, 1], 0.7)

    assert index.fuzzy("my ordre") == {0: SpellingHit(1, 0.875), 1: SpellingHit(3, 0.875)}


@given(st.lists(WORDS, max_size=5), WORDS, st.floats(0.0, 0.99))
def test_fuzzy_finds_every_typing_mistake_above_the_cut_off_and_nothing_else(texts, message, cut_off):
    """A row is a hit exactly when it is near enough, and differs by typing mistakes only."""
    known = {word for text in texts for word in text.split(" ")}
    similarities = [OSA.normalized_similarity(message, text) for text in texts]

    hits = LexicalIndex(texts, range(len(texts)), cut_off).fuzzy(message)

    assert hits == {
        row: SpellingHit(row, similarity)
        for row, (text, similarity) in enumerate(zip(texts, similarities, strict=True))
        if similarity >= cut_off and only_typos(message, text, known)
    }
