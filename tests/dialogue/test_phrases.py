"""Built-in phrases and their fallbacks."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from intentmatch.dialogue.phrases import Phrases, phrases_for, shipped
from intentmatch.text.normalize import fold, language_code


@pytest.mark.parametrize("code", sorted(shipped()))
def test_every_language_has_every_phrase(code):
    said = astuple(shipped()[code])

    assert language_code(code) == code
    assert all(fold(phrase) and phrase == phrase.strip() and "\n" not in phrase for phrase in said)
    assert code == "en" or not set(said) & set(astuple(shipped()["en"]))


@pytest.mark.parametrize("code", sorted(shipped()))
def test_only_please_tell_has_a_placeholder(code):
    said = shipped()[code]

    assert said.please_tell.count("{slot}") == 1
    assert "{" not in said.please_tell.replace("{slot}", "")
    assert "{" not in said.did_you_mean + said.none_of_these + said.too_late


def test_number_of_languages_matches_the_docstring():
    assert len(shipped()) == 32


@pytest.mark.parametrize(
    ("asked", "given"),
    [("pt-BR", "pt"), ("pt", "pt"), ("zh-Hant-TW", "zh"), ("de-AT", "de"), ("xx", "en"), ("xx-YY", "en"), (None, "en")],
)
def test_language_falls_back_to_its_base_and_english(asked, given):
    assert phrases_for(asked, {}) == shipped()[given]


def test_own_phrases_take_precedence():
    own = Phrases("Which?", "Neither", "And {slot}?", "Too late.")

    assert phrases_for("pt-BR", {"pt-BR": own}) == own
    assert phrases_for("pt-BR", {"pt": own}) == own
    assert phrases_for("pt", {"pt-BR": own}) == shipped()["pt"]
    assert phrases_for("gd", {"en": own}) == own
