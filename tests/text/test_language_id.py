"""Language identification, trained on a registry's own utterances."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.registry import read_registry
from intentmatch.text.language_id import LanguageGuess
from intentmatch.text.normalize import fold

INTENTS = Path(__file__).parents[2] / "intents"


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, str]]:
    """All utterances of the project's own intents, folded, with their languages."""
    utterances = [u for intent in read_registry(INTENTS) for u in intent.utterances]
    return [(fold(u.text), u.language) for u in utterances if u.language]


def test_accuracy_on_held_out_lines_is_at_least_90_percent(lines):
    held_out = [line for line in lines if zlib.crc32(line[0].encode()) % 5 == 0]
    training = [line for line in lines if zlib.crc32(line[0].encode()) % 5 != 0]

    guess = LanguageGuess(*zip(*training, strict=True))
    right = sum(guess.guess(text.split()) == language for text, language in held_out)

    assert len(held_out) > 400
    assert right / len(held_out) >= 0.90


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("can somebody tell me when the parcel will be here", "en"),
        ("kann mir jemand sagen, wann das Paket ankommt", "de"),
        ("quelqu'un peut me dire quand le colis arrivera", "fr"),
        ("alguien puede decirme cuándo llegará el paquete", "es"),
        ("qualcuno può dirmi quando arriverà il pacco", "it"),
        ("kan iemand me zeggen wanneer het pakket aankomt", "nl"),
        ("czy ktoś może mi powiedzieć, kiedy dotrze paczka", "pl"),
        ("кто-нибудь может сказать, когда придёт посылка", "ru"),
        ("هل يمكن لأحد أن يخبرني متى يصل الطرد", "ar"),
        ("荷物がいつ届くか教えてください", "ja"),
        ("소포가 언제 도착하는지 알려 주세요", "ko"),
        ("谁能告诉我包裹什么时候到", "zh"),
        ("कोई बता सकता है पार्सल कब आएगा", "hi"),
    ],
)
def test_new_sentences_are_identified(lines, message, language):
    assert LanguageGuess(*zip(*lines, strict=True)).guess(fold(message).split()) == language


@pytest.mark.parametrize("message", ["hello", "привет", "", "12345"])
def test_single_language_is_always_the_answer(message):
    assert LanguageGuess(["guten tag", "ok"], ["de", None]).guess(message.split()) == "de"


@pytest.mark.parametrize("texts", [[], ["hello", "hallo"]])
def test_no_language_gives_none(texts):
    guess = LanguageGuess(texts, [None] * len(texts))

    assert guess.languages == []
    assert guess.guess(["hello"]) is None


@pytest.mark.parametrize("message", ["привет", "你好", "", "!?"])
def test_unknown_script_gives_none(message):
    assert LanguageGuess(["hello there", "guten tag"], ["en", "de"]).guess(fold(message).split()) is None


def test_lines_without_a_language_are_ignored():
    texts, languages = ["hello there", "guten tag"], ["en", "de"]

    with_more = LanguageGuess([*texts, "привет"], [*languages, None])

    assert with_more.languages == ["de", "en"]
    assert with_more.guess(["привет"]) is None


@pytest.mark.parametrize(
    ("message", "among", "language"),
    [
        ("guten tag", {"en", "de"}, "de"),
        ("guten tag", {"en"}, "en"),
        ("guten tag", {"en", "fr"}, "en"),
        ("guten tag", {"pl"}, None),
        ("guten tag", set(), None),
        ("привет", {"en", "de"}, None),
    ],
)
def test_among_restricts_the_answer(message, among, language):
    texts = ["hello there gute", "guten tag", "bonjour"]

    assert LanguageGuess(texts, ["en", "de", "fr"]).guess(message.split(), among) == language


@given(
    st.lists(st.tuples(st.text().map(fold), st.sampled_from(["de", "en", "fr", None])), max_size=8), st.text().map(fold)
)
def test_guess_is_none_or_a_trained_language_for_any_text(lines, message):
    """The order of training texts does not matter."""
    guess = LanguageGuess([text for text, _ in lines], [language for _, language in lines])
    reversed_guess = LanguageGuess([text for text, _ in lines[::-1]], [language for _, language in lines[::-1]])

    assert guess.guess(message.split()) in {None, *guess.languages}
    assert set(guess.languages) == {language for _, language in lines} - {None}
    assert guess.languages == reversed_guess.languages


def test_evidence_from_elsewhere_is_added_to_that_of_the_bigrams() -> None:
    """It decides alone where no bigram is known."""
    guess = LanguageGuess(["guten tag", "hello there"], ["de", "en"])

    assert guess.guess(["guten", "tag"], evidence=np.array([0.0, 1.0])) == "de"
    assert guess.guess(["guten", "tag"], evidence=np.array([0.0, 100.0])) == "en"
    assert guess.guess(["привет"], evidence=np.array([0.0, 1.0])) == "en"


def test_only_words_of_usual_length_are_kept():
    guess = LanguageGuess(["where is my order", "wo ist meine Bestellung"], ["en", "de"])

    assert guess.guess(("w" + "o ist " * 20 + "meinebestellung" * 600).split()) == "de"
    assert guess._cached_likelihood.cache_info().currsize == 3
