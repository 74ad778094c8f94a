"""Parallel lines, anchors, and which languages a registry lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.adaptation.languages import (
    anchor_texts,
    found_translations,
    lacking,
    own_languages,
    parallel_lines,
)
from intentmatch.core.types import Intent, Kind, Registry, Utterance, Vectors
from intentmatch.evaluation.everyday import everyday_messages


def registry(*lines: tuple[str, str | None]) -> Registry:
    return Registry((Intent("one", tuple(Utterance(text, language) for text, language in lines)),))


class Multilingual(WordHashEncoder):
    """Gives a translation the vector of its English line, but not in the languages that it has forgotten."""

    languages = frozenset({"en", "de", "fr", "es"})

    def __init__(self, *forgotten: str) -> None:
        super().__init__()
        self._english = {pair.translation: pair.english for pair in parallel_lines() if pair.language not in forgotten}

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        return super().encode([self._english.get(text, text) for text in texts], kind=kind)


def test_parallel_lines_are_pairs_of_english_and_many_languages() -> None:
    pairs = parallel_lines()

    assert ("what is my balance", "de", "wie ist mein Kontostand") in pairs
    assert ("None of these", "da", next(p.translation for p in pairs if p[:2] == ("None of these", "da"))) in pairs
    assert len({pair.language for pair in pairs}) > 20
    assert all(sum(pair.language == code for pair in pairs) > 90 for code in ("de", "fr", "es"))
    assert "en" not in {pair.language for pair in pairs}


def test_own_languages_are_those_that_the_author_names() -> None:
    assert own_languages(registry(("wo ist mein Paket", "de-AT"), ("where is it", None))) == {"de"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["where is my package", "I want my money back please"], {"en"}),
        (["wo ist mein Paket", "ich möchte mein Geld zurück haben"], {"de"}),
        (["12", "!"], set()),
    ],
)
def test_own_language_is_guessed_if_the_author_names_none(texts: list[str], expected: set[str]) -> None:
    assert own_languages(registry(*((text, None) for text in texts))) == expected


def test_lacking_are_the_languages_of_the_model_without_those_of_the_registry() -> None:
    encoder = Multilingual()

    assert lacking(registry(("hello", "en"), ("hallo", "de")), encoder) == {"fr", "es"}
    encoder.languages = frozenset({"en"})
    assert lacking(registry(("hello", "en")), encoder) == set()


def test_model_that_names_no_languages_may_know_all() -> None:
    assert len(lacking(registry(("hello", "en")), WordHashEncoder())) > 20


def test_anchors_are_everyday_messages_of_these_languages() -> None:
    found = anchor_texts({"fr", "es"})

    assert len(found) == len(everyday_messages({"fr", "es"}, "development")) > 0
    assert not set(found) & {pair.translation for pair in parallel_lines()}
    assert anchor_texts(()) == ()


def test_translations_are_found_if_their_vectors_are_near() -> None:
    assert found_translations(Multilingual(), {"de", "fr"}) == pytest.approx(1.0, abs=0.03)
    forgotten = found_translations(Multilingual("fr"), {"de", "fr"})
    assert forgotten is not None
    assert 0.4 < forgotten < 0.7
    assert found_translations(Multilingual("fr"), {"de"}) == found_translations(Multilingual(), {"de"})


def test_nothing_is_looked_up_without_a_language() -> None:
    assert found_translations(WordHashEncoder(), ()) is None
    assert found_translations(WordHashEncoder(), {"en"}) is None


def test_languages_count_alike_however_many_lines_they_have() -> None:
    encoder = Multilingual(*({pair.language for pair in parallel_lines()} - {"de"}))
    share = found_translations(encoder, {"de", "da"})

    assert share is not None
    assert np.isclose(share, 0.5, atol=0.13)
