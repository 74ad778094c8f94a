"""Where a message is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.clauses import pieces


@pytest.mark.parametrize(
    ("message", "language", "expected"),
    [
        ("cancel my order and refund me", "en", ["cancel my order", "refund me"]),
        ("Cancel it. Then, please, refund me!", "en", ["Cancel it", "please", "refund me"]),
        ("stornieren und dann Geld zurück", "de", ["stornieren", "Geld zurück"]),
        ("取消订单，然后退款", "zh", ["取消订单", "退款"]),
        ("ألغ الطلب ثم أعد المال", "ar", ["ألغ الطلب", "أعد المال"]),
        ("brandy and sandy", "de", ["brandy and sandy"]),
        ("Tisch am 3.2. und zahlen", "de", ["Tisch am 3.2.", "zahlen"]),
        ("on 3.2.2026 at 17:00, pay 12,50", "en", ["on 3.2.2026 at 17:00", "pay 12,50"]),
        ("e.g. order 12345. Where is it", "en", ["e.g. order 12345", "Where is it"]),
        ("a land and a band", "en", ["a land", "a band"]),
        ("one and two", "xx", ["one", "two"]),
        (" ... and, and!", "en", []),
        ("", None, []),
    ],
)
def test_pieces_end_at_punctuation_and_joining_words(message: str, language: str | None, expected: list[str]) -> None:
    """Whole words of the message's language, or English."""
    assert [message[span.start : span.end] for span in pieces(message, language)] == expected


@given(st.text(max_size=60), st.sampled_from(["en", "zh", "ar", None]))
def test_pieces_are_ordered_disjoint_and_stripped(message: str, language: str | None) -> None:
    found = pieces(message, language)

    assert all(span.start < span.end for span in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(message[s.start : s.end] == message[s.start : s.end].strip() for s in found)
