"""Search by text finds names and lines; search by meaning finds other words for the same."""

from __future__ import annotations

import asyncio

import pytest
from driven_studio import REGISTRY

from intentmatch import Matcher
from intentmatch.authoring.workspace import Workspace
from intentmatch.studio.held import held
from intentmatch.studio.intent_list import by_meaning, by_text


@pytest.fixture(scope="module")
def found():
    return asyncio.run(held(Workspace(REGISTRY)))


@pytest.mark.parametrize(
    ("searched", "intents"),
    [
        ("", ["order_status", "cancel_order", "refund", "opening_hours"]),
        ("ORDER status", ["order_status"]),
        ("subscription", ["cancel_order"]),
        ("نقودي", ["refund"]),
        ("no such words", []),
    ],
)
def test_all_words_must_be_in_the_name_or_in_one_line(found, searched, intents):
    assert [one.intent for one in by_text(found, searched)] == intents


def test_search_by_text_says_the_line_that_it_found(found):
    assert by_text(found, "sunday")[0].says == "are you open on sunday"
    assert by_text(found, "order_status")[0].says == ""


def test_search_by_meaning_ranks_intents():
    matcher = Matcher.load(REGISTRY)

    assert by_meaning(matcher, "reimbursement")[0].intent == "refund"
    assert by_meaning(matcher, "Öffnungszeiten am Wochenende")[0].intent == "opening_hours"
    assert by_meaning(matcher, "  ") == []
