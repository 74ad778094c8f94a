"""What a bot says of its own accord."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from intentmatch.dialogue.phrases import Phrases, phrases_for, shipped
from intentmatch.text.normalize import fold, language_code


@pytest.mark.parametrize("code", sorted(shipped()))
def test_every_language_says_it_all(code):
    """Each phrase is there, is one line, and is not the English one."""
    said = astuple(shipped()[code])

    assert language_code(code) == code
    assert all(fold(phrase) and phrase == phrase.strip() and "\n" not in phrase for phrase in said)
    assert code == "en" or not set(said) & set(astuple(shipped()["en"]))


@pytest.mark.parametrize("code", sorted(shipped()))
def test_only_the_question_for_a_slot_has_a_blank(code):
    """One, with the name that is filled in."""
    said = shipped()[code]

    assert said.please_tell.count("{slot}") == 1
    assert "{" not in said.please_tell.replace("{slot}", "")
    assert "{" not in said.did_you_mean + said.none_of_these + said.too_late


def test_there_are_as_many_languages_as_we_say():
    """The number stands in the docstring of `Dialogue`."""
    assert len(shipped()) == 32


@pytest.mark.parametrize(
    ("asked", "given"),
    [("pt-BR", "pt"), ("pt", "pt"), ("zh-Hant-TW", "zh"), ("de-AT", "de"), ("xx", "en"), ("xx-YY", "en"), (None, "en")],
)
def test_a_language_falls_back_to_what_there_is(asked, given):
    """To the language without its region, at last to English."""
    assert phrases_for(asked, {}) == shipped()[given]


def test_ones_own_go_first():
    """For the very language, and as what others fall back to."""
    own = Phrases("Which?", "Neither", "And {slot}?", "Too late.")

    assert phrases_for("pt-BR", {"pt-BR": own}) == own
    assert phrases_for("pt-BR", {"pt": own}) == own
    assert phrases_for("pt", {"pt-BR": own}) == shipped()["pt"]
    assert phrases_for("gd", {"en": own}) == own
