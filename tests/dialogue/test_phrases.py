"""Built-in phrases and their fallbacks."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from intentmatch.dialogue.phrases import Phrases, phrases_for, shipped
from intentmatch.text.normalize import fold, language_code


@pytest.mark.parametrize("code", sorted(shipped()))
def test_every_language_has_every_phrase(code):
    said = astuple(shipped()[code])
    sentences, english = ({*astuple(shipped()[one])[:4], shipped()[one].dropped} for one in (code, "en"))

    assert language_code(code) == code
    assert all(fold(phrase) and phrase == phrase.strip() and "\n" not in phrase for phrase in said)
    assert code == "en" or not sentences & english


@pytest.mark.parametrize("code", sorted(shipped()))
def test_only_two_phrases_have_placeholders(code):
    said = shipped()[code]

    assert said.please_tell.count("{slot}") == 1
    assert said.confirm.count("{title}") == 1
    assert "{" not in said.please_tell.replace("{slot}", "") + said.confirm.replace("{title}", "")
    assert "{" not in "".join(set(astuple(said)) - {said.please_tell, said.confirm})


@pytest.mark.parametrize("code", sorted(shipped()))
def test_yes_and_no_share_no_words(code):
    """Nor does a word for yes mean no in English, whose words are understood in every conversation."""
    said, english = shipped()[code], shipped()["en"]
    yes = {fold(word) for word in (said.yes, *said.yes_words.split(","))}
    no = {fold(word) for one in (said, english) for word in (one.no, *one.no_words.split(","))}

    assert all(yes | no)
    assert not yes & no


def test_number_of_languages_matches_the_docstring():
    assert len(shipped()) == 32


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("pt-BR", "pt"),
        ("pt", "pt"),
        ("zh-Hant-TW", "zh"),
        ("de-AT", "de"),
        ("no", "nb"),
        ("nn-NO", "nb"),
        ("xx", "en"),
        ("xx-YY", "en"),
        (None, "en"),
    ],
)
def test_language_falls_back_to_its_base_and_english(asked, given):
    assert phrases_for(asked, {}) == shipped()[given]


def test_own_phrases_take_precedence():
    own = Phrases(
        *("Which?", "Neither", "And {slot}?", "Too late.", "{title}!", "Do", "Don't", "Fine.", "do it", "stop"),
        *("please", "one, two", "both", "neither", "the", "Choose one:", "halt", "well"),
    )

    assert phrases_for("pt-BR", {"pt-BR": own}) == own
    assert phrases_for("pt-BR", {"pt": own}) == own
    assert phrases_for("pt", {"pt-BR": own}) == shipped()["pt"]
    assert phrases_for("gd", {"en": own}) == own


@pytest.mark.parametrize(("code", "built_in"), [("pt-BR", "pt"), ("gd", "en")])
def test_phrases_left_empty_are_the_built_in_ones(code, built_in):
    own = Phrases("Which?", "Neither", "And {slot}?", "Too late.")

    found = phrases_for(code, {code: own})

    assert astuple(found)[:4] == astuple(own)[:4]
    assert astuple(found)[4:] == astuple(shipped()[built_in])[4:]
