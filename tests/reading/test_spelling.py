"""Hits by spelling: equal utterances, mistyped utterances, and no other text."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiers
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from typo_pairs import DIFFERENT, OPPOSITES, TYPOS

from intentmatch.reading import spelling
from intentmatch.reading.spelling import LexicalIndex, SpellingHit
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.registry.reading.reader import read_registry
from intentmatch.text.accents import typed_without_accents
from intentmatch.text.normalize import fold
from intentmatch.text.typos import only_typos

ROOT = Path(__file__).parents[2]
FOLDED = st.text().map(fold)
WORDS = st.lists(st.text("abcdeé1注", min_size=1, max_size=9), max_size=4).map(" ".join)


def fuzzy_intents(message: str, *utterances: str, cut_off: float = 0.8) -> list[int]:
    index = LexicalIndex(Vocabulary([fold(u) for u in utterances]), range(len(utterances)), cut_off)
    return sorted(index.fuzzy(fold(message)))


def test_exact_hit_is_the_first_equal_row_of_each_owner():
    """With a similarity of 1."""
    index = LexicalIndex(Vocabulary(["hi", "bye", "bye", "hi", "thanks"]), [0, 0, 0, 1, 2], 0.8)

    assert index.exact(index.rows("hi")) == {0: SpellingHit(0, 1.0), 1: SpellingHit(3, 1.0)}
    assert index.exact(index.rows("bye")) == {0: SpellingHit(1, 1.0)}
    assert index.exact(index.rows("by")) == {}


@given(st.lists(FOLDED, max_size=6), FOLDED)
def test_exact_finds_equal_rows_and_no_others(texts, message):
    index = LexicalIndex(Vocabulary(texts), range(len(texts)), 0.8)

    assert sorted(index.exact(index.rows(message))) == [row for row, text in enumerate(texts) if text == message]


def test_hash_collisions_give_no_wrong_rows(monkeypatch):
    texts = ["where is my parcel", "hello there", "where is my parcel", "goodbye"]
    messages = [*texts, "where is my parcle", "hello", "where is my house"]
    apart = LexicalIndex(Vocabulary(texts), range(4), 0.8)
    expected = [
        (apart.exact(apart.rows(message)), apart.fuzzy(message), list(apart.rows(message))) for message in messages
    ]

    monkeypatch.setattr(spelling, "hash", lambda text: 7, raising=False)
    together = LexicalIndex(Vocabulary(texts), range(4), 0.8)

    found = [
        (together.exact(rows := together.rows(message)), together.fuzzy(message), list(rows)) for message in messages
    ]
    assert found == expected


@pytest.mark.parametrize(("message", "utterance"), TYPOS)
def test_typing_mistakes_are_hits(message, utterance):
    """A missing, doubled, swapped or wrong letter in a longer word, and missing spaces."""
    assert fuzzy_intents(message, utterance) == [0]
    assert fuzzy_intents(utterance, message) == [0]


@pytest.mark.parametrize(("message", "utterance"), DIFFERENT)
def test_different_texts_are_no_hits(message, utterance):
    """Short words, first letters, numbers, word counts, and scripts of one character per word must agree."""
    assert fuzzy_intents(message, utterance) == []
    assert fuzzy_intents(utterance, message) == []


@pytest.mark.parametrize(("message", "opposite"), OPPOSITES)
def test_word_of_the_registry_is_never_mistyped(message, opposite):
    """One letter can turn a word into its opposite."""
    assert fuzzy_intents(message, opposite) == [0]
    assert fuzzy_intents(message, opposite, message.split()[0], message) == [2]
    assert fuzzy_intents(message, opposite, f"xyz {message}") == []


@pytest.mark.parametrize("message", ["where is my order", "where is my ordre", ""])
def test_cut_off_of_one_turns_typo_tolerance_off(message):
    assert fuzzy_intents(message, "where is my order", cut_off=1.0) == []


def test_cut_off_is_the_least_similarity():
    """One letter of ten is a similarity of 0.9."""
    assert fuzzy_intents("abcdefghix", "abcdefghij", cut_off=0.9) == [0]
    assert fuzzy_intents("abcdefghix", "abcdefghij", cut_off=0.91) == []
    assert fuzzy_intents("", "hi", cut_off=0.0) == []


def test_fuzzy_hit_is_the_best_row_of_each_owner():
    index = LexicalIndex(Vocabulary(["my orders", "my order", "my ordeal", "my order"]), [0, 0, 1, 1], 0.7)

    assert index.fuzzy("my ordre") == {0: SpellingHit(1, 0.875), 1: SpellingHit(3, 0.875)}


@given(st.lists(WORDS, max_size=5), WORDS, st.floats(0.0, 0.99))
def test_fuzzy_equals_a_search_of_every_row(texts, message, cut_off):
    known = {word for text in texts for word in text.split(" ")}
    similarities = [OSA.normalized_similarity(message, text) for text in texts]

    hits = LexicalIndex(Vocabulary(texts), range(len(texts)), cut_off).fuzzy(message)

    assert hits == {
        row: SpellingHit(row, similarity)
        for row, (text, similarity) in enumerate(zip(texts, similarities, strict=True))
        if similarity >= cut_off and only_typos(message, text, known)
    }


@pytest.mark.parametrize("message", ["ate logo", "até logo", "atè logo"])
def test_lines_are_found_but_for_accents(message):
    """Other accents do not count either."""
    index = LexicalIndex(Vocabulary(["até logo", "olá", "ate amanhã", "até logo"]), [0, 1, 2, 3], 0.8)

    assert index.but_for_accents(message) == [0, 3]


def test_lines_without_accents_are_found_for_a_message_with_accents():
    assert LexicalIndex(Vocabulary(["cafe", "tea"]), [0, 1], 0.8).but_for_accents("café") == [0]


def test_umlauts_may_be_spelled_out():
    index = LexicalIndex(Vocabulary(["konto kündigen", "kundin"]), [0, 1], 0.8)

    assert index.but_for_accents("konto kuendigen") == index.but_for_accents("konto kundigen") == [0]


def test_accents_count_if_the_cut_off_is_one():
    assert LexicalIndex(Vocabulary(["até logo"]), [0], 1.0).but_for_accents("ate logo") == []


def test_alike_returns_the_first_row_of_each_owner_with_its_similarity():
    hits = LexicalIndex(Vocabulary(["thank you", "thank you"]), [4, 5], 0.8).alike("thank u", [0, 1])

    assert {owner: (hit.row, round(hit.similarity, 2)) for owner, hit in hits.items()} == {4: (0, 0.78), 5: (1, 0.78)}


@pytest.mark.corpus
def test_every_accented_line_of_the_shipped_intents_is_found_without_its_accents():
    """Unless another intent has a line that reads exactly so."""
    registry = read_registry(ROOT / "intents")
    index = LexicalIndex(Vocabulary(registry.folded), registry.owners, 0.8)
    forms = [
        (owner, form)
        for owner, line in zip(registry.owners, registry.folded, strict=True)
        for form in typed_without_accents(line)
    ]

    missed = [
        form
        for owner, form in tiers.rows_of(forms)
        if owner not in index.exact(index.rows(form) or index.but_for_accents(form))
    ]

    assert len(forms) > 1000
    assert all(index.rows(form) for form in missed)
