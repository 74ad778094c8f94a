"""Stop words by language."""

from __future__ import annotations

import pytest

from intentmatch.text.normalize import fold
from intentmatch.text.stop_words import STOP_WORDS, stop_words

ANSWERS = "yes no ok ja nein si sí oui non да нет tak nie hai はい 是 네 evet on off y n k"


def test_every_stop_word_is_one_folded_word():
    """They are compared with the lexical key of a message."""
    assert all(words for words in STOP_WORDS.values())
    assert [word for words in STOP_WORDS.values() for word in words if fold(word) != word or " " in word] == []


@pytest.mark.parametrize("answer", ANSWERS.split())
def test_words_that_answer_a_question_are_no_stop_words(answer):
    assert answer not in stop_words(())


def test_stop_words_follow_the_languages():
    assert "the" in stop_words(["en"])
    assert "und" not in stop_words(["en"])
    assert {"the", "und"} <= stop_words(["en", "de-AT"])
    assert stop_words(["xx"]) == frozenset()


def test_without_languages_all_are_returned():
    assert stop_words(()) == frozenset().union(*STOP_WORDS.values())
