"""Options of one match are checked before anything is encoded."""

from __future__ import annotations

from datetime import datetime

import pytest

from intentmatch.core.errors import InputError
from intentmatch.matching.options import MatchOptions


def test_language_code_gets_its_usual_case():
    now = datetime(2026, 5, 4)
    options = MatchOptions("PT_br", top_k=2, allowed=("greet",), context=("vip",), now=now)

    assert options.checked() == MatchOptions("pt-BR", 2, ("greet",), ("vip",), now)


def test_options_without_language_stay_as_they_are():
    options = MatchOptions(top_k=1)

    assert options.checked() is options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (MatchOptions(context="vip"), r"context must be a list of tags, such as \['vip'\]"),
        (MatchOptions(top_k=0), "top_k must be 1 or more, and is 0"),
        (MatchOptions(now="today"), "now must be a datetime, not str"),
        (MatchOptions("english"), "not a language code"),
    ],
)
def test_invalid_option_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        options.checked()
