"""The shipped list of everyday out-of-scope messages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.registry import read_registry
from intentmatch.text.normalize import fold

LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "tr", "ru", "zh", "ar"]
SHIPPED = Path(__file__).parents[2] / "intents"


def test_list_holds_twenty_messages_in_each_of_ten_languages():
    assert Counter(case.language for case in everyday_messages()) == dict.fromkeys(LANGUAGES, 20)


def test_every_message_is_distinct_text_and_out_of_scope():
    cases = everyday_messages()

    assert all(isinstance(case.text, str) and fold(case.text) for case in cases)
    assert len({fold(case.text) for case in cases}) == len(cases)
    assert {case.expected for case in cases} == {None}


def test_no_message_is_an_utterance_of_the_shipped_registry():
    """A message of the list must not be one that the demo bot is meant to answer."""
    known = {fold(utterance.text) for utterance in read_registry(SHIPPED).utterances}

    assert not [case.text for case in everyday_messages() if fold(case.text) in known]


def test_halves_share_no_message_and_have_ten_in_each_language():
    development, kept = everyday_messages(half="development"), everyday_messages(half="kept")

    assert not {case.text for case in development} & {case.text for case in kept}
    for half in (development, kept):
        assert Counter(case.language for case in half) == dict.fromkeys(LANGUAGES, 10)
    assert development[0] == everyday_messages()[0]
    assert kept[0] == everyday_messages()[1]


@pytest.mark.parametrize(
    ("languages", "found"),
    [(["de"], {"de"}), (["pt-BR", "zh-Hant-TW"], {"pt", "zh"}), (["xx", "en"], {"en"}), (["ko"], set()), ([], set())],
)
def test_languages_select_by_their_base_code(languages, found):
    assert {case.language for case in everyday_messages(languages)} == found
