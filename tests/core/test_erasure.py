"""Which stored texts an erasure means."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from intentmatch.core.erasure import ERASED, Erasure
from intentmatch.core.errors import InputError
from intentmatch.text.normalize import fold

SAID = "Call me, Anna Schmidt, on 0171 1234567!"


@pytest.mark.parametrize(
    ("erasure", "stored", "covered"),
    [
        (Erasure(SAID), SAID, True),
        (Erasure(SAID), "call me anna schmidt on 0171 1234567", True),
        (Erasure(SAID), "Call me, Anna Schmidt, on ‹phone›!", True),
        (Erasure(SAID), "Call me, Anna Schmidt", False),
        (Erasure("word, " * 300), ("word, " * 300)[:1000], True),  # a store cuts long texts
        (Erasure(SAID), "Call me, Anna Schmidt, on 0171 1234567 today", False),
        (Erasure(SAID), None, False),
        (Erasure(contains="anna schmidt"), SAID, True),
        (Erasure(contains="anna  Schmidt"), "I am ANNA-SCHMIDT.", True),
        (Erasure(contains="anna schmidt"), "I am Anna Maria Schmidt", False),
        (Erasure(contains="0171 1234567"), "Call Bob on ‹phone›", False),
    ],
)
def test_stored_messages_are_covered(erasure: Erasure, stored: str | None, covered: bool) -> None:
    assert erasure.covers(stored) is covered


def test_quoted_words_are_replaced_and_the_rest_stays() -> None:
    assert Erasure("ship it").without("Inbox: ignore “Ship  it”, not shipit") == f"Inbox: ignore “{ERASED}”, not shipit"
    assert Erasure(contains="schmi").without("add ANNA SCHMIDT") == f"add ANNA {ERASED}DT"
    assert Erasure(SAID).quoted_in("note: Call me, Anna Schmidt, on ‹phone›!")
    found = json.dumps({"findings": [{"examples": ["ship it", "other"]}], "now": 3})
    assert json.loads(Erasure("ship it").without_in_json(found)) == {
        "findings": [{"examples": [ERASED, "other"]}],
        "now": 3,
    }


@pytest.mark.parametrize(
    ("erasure", "text", "rest"),
    [
        (Erasure(contains="café zoë"), "is Cafe\u0301 Zoe\u0308 open", f"is {ERASED} open"),
        (Erasure(contains="Straße 5"), "in der STRASSE 5!", f"in der {ERASED}!"),
        (Erasure(contains="anna schmidt"), "for Anna_Schmidt, for an\u200bna schmidt", f"for {ERASED}, for {ERASED}"),
        (Erasure(contains="don't call"), "add “dont call”, “don’t call”", f"add “{ERASED}”, “{ERASED}”"),
        (Erasure(contains="anna"), "ＡＮＮＡ", ERASED),
        (Erasure("straße"), "add STRASSE, not Hauptstrasse", f"add {ERASED} not Hauptstrasse"),
        (Erasure(contains="erased"), "what was ERASED", f"what was {ERASED}"),
    ],
)
def test_words_are_replaced_in_every_spelling_that_stores_take_for_the_same(
    erasure: Erasure, text: str, rest: str
) -> None:
    assert erasure.quoted_in(text)
    assert erasure.without(text) == rest


@given(st.text(min_size=3), st.text(), st.text())
def test_what_a_store_takes_for_the_words_is_replaced_in_longer_texts(words: str, before: str, after: str) -> None:
    assume(len(fold(words).replace(" ", "")) >= 3 and fold(words) not in fold(ERASED))
    text = f"{before} {fold(words).upper()} {after}"
    erasure = Erasure(contains=words)
    assume(erasure.covers(text))

    assert not erasure.covers(erasure.without(text))


@pytest.mark.parametrize(
    "names", [{}, {"text": "a", "contains": "abc"}, {"text": "?!"}, {"contains": "a b"}, {"contains": ""}, {"text": 7}]
)
def test_erasure_without_words_is_refused(names: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Erasure(**names)
