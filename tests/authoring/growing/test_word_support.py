"""How many words of a line an intent has by meaning."""

from __future__ import annotations

import pytest

from intentmatch import Matcher
from intentmatch.authoring.growing.word_support import WordSupport


@pytest.fixture(scope="module")
def support(library: Matcher) -> WordSupport:
    return WordSupport(library.registry)


def test_line_of_the_intent_is_supported_wholly(support: WordSupport) -> None:
    assert support.of("please extend my LOAN!", "renew_loan") == pytest.approx(1.0, abs=1e-3)


def test_foreign_word_costs_support(support: WordSupport) -> None:
    own = support.of("please extend the loan of my novel", "renew_loan")

    assert own > support.of("please extend my driving licence", "renew_loan")
    assert own > support.of("please extend the loan of my novel", "opening_hours")


def test_text_without_words_has_no_support(support: WordSupport) -> None:
    assert support.of("?!", "renew_loan") == 0.0
