from __future__ import annotations

import pytest

from intentmatch.text.normalize import clean, fold
from intentmatch.text.shorthand import SHORTHAND, shorthand_of


def test_every_language_of_the_issue_has_a_table():
    """A bot in one of these languages reads shorthand without settings."""
    assert {"en", "es", "fr", "de", "pt", "it", "nl", "ru", "tr", "pl", "id", "sv"} <= set(SHORTHAND)


@pytest.mark.parametrize("language", SHORTHAND)
def test_entries_are_single_folded_words_and_cleaned_text(language):
    """A message is looked up by its folded words; anything else would never be found."""
    table = SHORTHAND[language]

    assert [short for short in table if fold(short) != short or " " in short or short.isdigit()] == []
    assert [long for long in table.values() if clean(long) != long or not fold(long)] == []


@pytest.mark.parametrize("language", SHORTHAND)
def test_no_expansion_holds_shorthand(language):
    """Reading a text a second time changes nothing."""
    table = SHORTHAND[language]

    assert [long for long in table.values() if any(fold(word) in table for word in long.split())] == []


@pytest.mark.parametrize(
    ("language", "short", "long"),
    [
        ("en", "u", "you"),
        ("en", "plz", "please"),
        ("en", "thx", "thanks"),
        ("en", "2moro", "tomorrow"),
        ("es", "q", "que"),
        ("fr", "pk", "pourquoi"),
        ("pt-BR", "vc", "você"),
        ("de", "vllt", "vielleicht"),
        ("ru", "спс", "спасибо"),
    ],
)
def test_shorthand_of_a_language(language, short, long):
    assert shorthand_of(language, {})[short] == long


@pytest.mark.parametrize(("language", "word"), [("en", "atm"), ("fr", "cb"), ("de", "plz"), ("nl", "btw")])
def test_words_of_shops_and_banks_are_no_shorthand(language, word):
    assert word not in shorthand_of(language, {})


def test_a_language_without_a_table_has_no_shorthand():
    assert shorthand_of("ja", {}) == {}


def test_own_entries_come_first_and_are_folded():
    own = {"en": {"Thx": "thanks a lot", "Cust.": "customer"}, "de": {"abt": "Abteilung"}}

    table = shorthand_of("en-GB", own)

    assert (table["thx"], table["cust"], table["abt"]) == ("thanks a lot", "customer", "about")


def test_own_entries_under_default_are_for_every_language_and_give_way_to_those_of_one():
    own = {"ja": {"gr8": "すごい"}, "default": {"gr8": "great", "bot": "assistant"}}

    assert shorthand_of("ja", own) == {"gr8": "すごい", "bot": "assistant"}


def test_own_entry_that_reads_as_it_is_written_removes_a_word():
    assert "u" not in shorthand_of("en", {"en": {"u": "u"}})
