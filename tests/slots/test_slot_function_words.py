"""Function words by language."""

from __future__ import annotations

from intentmatch.slots.function_words import PARTICLES, function_words, leading_words, polite_phrases


def test_function_words_are_those_of_the_language_and_of_english():
    assert {"the", "or", "for", "und", "ich"} <= function_words("de-AT")
    assert "und" not in function_words("fr")
    assert function_words(None) == function_words("en")
    assert function_words("tlh") == function_words("en")
    assert not {"pizza", "here", "today"} & function_words("en")


def test_phrases_are_in_bare_form_and_the_longest_comes_first():
    phrases = polite_phrases("fr")

    assert {"please", "sil vous plait"} <= set(phrases)
    assert [len(phrase) for phrase in phrases] == sorted(map(len, phrases), reverse=True)
    assert {"a", "to"} <= leading_words("es")
    assert "in" in PARTICLES
