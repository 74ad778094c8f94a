"""The generator of messages that mean nothing."""

from __future__ import annotations

import base64
import unicodedata

import pytest

from intentmatch.core.errors import InputError
from intentmatch.evaluation.noise import ALPHABETS, NOISE, noise_messages
from intentmatch.text.stop_words import STOP_WORDS

FEW = {"stop word", "emoji"}


@pytest.mark.parametrize("kind", sorted(NOISE))
def test_same_seed_gives_the_same_distinct_messages(kind):
    first = noise_messages(kind, 50, seed=3)

    assert first == noise_messages(kind, 50, seed=3)
    assert first != noise_messages(kind, 50, seed=4)
    assert len(set(first)) == len(first)
    assert len(first) == 50 or kind in FEW
    assert all(first)


@pytest.mark.parametrize("script", sorted(ALPHABETS))
def test_letters_come_from_the_alphabet_of_the_script(script):
    messages = noise_messages("letters", 20, script=script)

    assert {char for message in messages for char in message if char != " "} <= set(ALPHABETS[script])


@pytest.mark.parametrize(("script", "name"), [("Latin", "LATIN"), ("Cyrillic", "CYRILLIC"), ("Greek", "GREEK")])
def test_syllables_are_of_the_script(script, name):
    letters = {char for message in noise_messages("syllables", 20, script=script) for char in message if char != " "}

    assert all(unicodedata.name(letter).startswith(name) for letter in letters)


def test_marks_and_emoji_have_no_letters():
    assert not any(char.isalnum() for kind in ("marks", "emoji") for text in noise_messages(kind, 50) for char in text)


def test_base64_decodes():
    assert all(len(base64.b64decode(message, validate=True)) >= 12 for message in noise_messages("base64", 20))


def test_stop_words_are_of_the_languages():
    assert set(noise_messages("stop word", 100, languages=["de"])) == STOP_WORDS["de"]


def test_repeated_letters_are_few():
    assert all(len(set(message)) <= 3 < len(message) for message in noise_messages("repeated", 50))


@pytest.mark.parametrize(
    ("kind", "script", "error"),
    [("poetry", "Latin", "unknown kind"), ("letters", "Runic", "no letters"), ("syllables", "Han", "no syllables")],
)
def test_unknown_kind_or_script_is_an_input_error(kind, script, error):
    with pytest.raises(InputError, match=error):
        noise_messages(kind, 1, script=script)
