"""What people write around a request."""

from __future__ import annotations

import random
import re

import pytest

from intentmatch.text.surroundings import KINDS, Surroundings, read_surroundings

REQUEST = "Where is my order"


@pytest.fixture
def words() -> Surroundings:
    return read_surroundings("train")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["en", "de", "ja", "pt-BR", "xx"])
def test_addition_keeps_the_words_of_the_request(words: Surroundings, kind: str, language: str) -> None:
    for seed in range(40):
        text = words.add(kind, REQUEST, language, random.Random(seed))

        assert re.search(r"where\b.*\bis\b.*\bmy\b.*\border", text.lower(), re.DOTALL), text


@pytest.mark.parametrize("kind", KINDS)
def test_additions_vary_and_repeat_with_the_seed(words: Surroundings, kind: str) -> None:
    texts = [words.add(kind, REQUEST, "en", random.Random(seed)) for seed in range(40)]

    assert len({*texts}) > 5
    assert texts == [words.add(kind, REQUEST, "en", random.Random(seed)) for seed in range(40)]
    assert all(text != REQUEST for text in texts)


def test_phrases_of_measurements_are_never_trained_on() -> None:
    train, measure = read_surroundings("train"), read_surroundings("measure")

    assert len(measure.languages) >= 35
    assert len({*measure.languages} - {*train.languages}) >= 5
    for language, phrases in train.languages.items():
        aside = measure.languages[language]
        assert not {*phrases.before} & {*aside.before}, language
        assert not {*phrases.after} & {*aside.after}, language
        assert len(aside.before) * 3 >= len(phrases.before), language
    assert not {*train.emoji} & {*measure.emoji}


def test_names_fill_introductions(words: Surroundings) -> None:
    texts = [words.add("both", REQUEST, "en", random.Random(seed)) for seed in range(300)]

    assert not any("{" in text for text in texts)
    assert any(name in text for text in texts for name in words.names)
