"""The tables of words that refer to what was said before."""

from __future__ import annotations

import pytest

from intentmatch.languages.own import OwnLanguages
from intentmatch.text.follow_up_words import FOLLOW_UPS, follow_up_words
from intentmatch.text.normalize import base_language, fold

LANGUAGES = sorted(FOLLOW_UPS)


@pytest.mark.parametrize(
    ("language", "text", "opening", "stand_in", "content"),
    [
        ("en", "and tomorrow?", "and", None, "tomorrow"),
        ("en", "what about the other one", "what about", "the other one", ""),
        ("en", "no, the red one", "no", "one", "red"),
        ("en-GB", "another please", None, "another", ""),
        ("de", "und was ist mit der anderen Jacke", "und was ist mit", None, "anderen jacke"),
        ("tr", "hayır, diğeri", "hayır", "diğeri", ""),
        ("zh", "那另一个呢？", "那", "另一个", ""),
        ("en", "andy is here", None, None, "andy is here"),
    ],
)
def test_a_text_is_divided(language, text, opening, stand_in, content):
    words = follow_up_words(language)
    folded = fold(text)

    assert words is not None
    assert words.opening_of(folded) == (opening and fold(opening))
    assert words.stand_in_of(folded) == (stand_in and fold(stand_in))
    assert words.content_of(folded) == content


def test_other_languages_have_no_words():
    assert follow_up_words("tlh") is None
    assert follow_up_words(None) is None


def test_every_language_has_openings_and_words_that_stand_for_something():
    assert len(LANGUAGES) == 27
    for language in LANGUAGES:
        words = follow_up_words(language)
        assert words is not None
        assert words.openings
        assert words.stand_ins


def test_a_bot_adds_words_of_its_own():
    own = OwnLanguages(
        {"tlh": {"follow_ups": {"openings": ["entä"]}}, "en": {"follow_ups": {"openings": ["ditto"]}}}, base_language
    )

    klingon, english = follow_up_words(own.code("tlh")), follow_up_words(own.code("en-GB"))

    assert klingon is not None
    assert klingon.opening_of("entä huomenna") == "entä"
    assert english is not None
    assert english.opening_of("ditto blue") == "ditto"
    assert english.stand_in_of("the other one") == "the other one"


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_are_folded_and_the_longest_comes_first(language):
    words = follow_up_words(language)

    assert words is not None
    for some in (words.openings, words.stand_ins, words.every):
        assert all(fold(each) == each for each in some)
        assert [len(each) for each in some] == sorted((len(each) for each in some), reverse=True)
        assert len({*some}) == len(some)
