"""Open questions and their text form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Entity
from intentmatch.dialogue.pending import Confirmation, WhichIntent, WhichValue, from_text, new_id, to_text

languages = st.sampled_from([None, "en", "pt-BR", "zh-Hant-TW"])
parts = st.none() | st.text() | st.integers() | st.floats(allow_nan=False)
values = st.text() | st.integers() | st.floats(allow_nan=False) | st.dictionaries(st.text(), parts, max_size=2)
entities = st.builds(Entity, st.text(), values, st.text(), st.integers(0), st.integers(0))
found = st.lists(entities, max_size=3).map(tuple)
questions = st.one_of(
    st.builds(WhichIntent, st.text(), st.lists(st.text()).map(tuple), st.text(), languages, st.integers()),
    st.builds(
        WhichValue,
        st.text(),
        st.text(),
        found,
        st.integers(),
        languages,
        st.booleans(),
        st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
    ),
    st.builds(Confirmation, st.text(), found, st.text(), st.integers(), languages),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

ASKED = WhichIntent("my order", ("order_status", "cancel_order"), "abc", "en")
LACKING = WhichValue("order_food", "dish", (Entity("count", 3, "three", 0, 5),), 1, None)
UNSURE = Confirmation("order_food", (Entity("count", 3, "three", 0, 5),), "abc", 1, "de")


@given(questions)
def test_question_round_trip_in_ascii(pending):
    assert to_text(pending).isascii()
    assert from_text(to_text(pending)) == pending


@pytest.mark.parametrize("text", [None, "", "null", "{", "[]", "[1]", '"im"', "7", "{}", "[" * 100_000, "1" * 5_000])
def test_invalid_text_is_none(text):
    assert from_text(text) is None


@given(st.text() | anything.map(json.dumps))
def test_any_other_text_or_json_is_none(text):
    assert from_text(text) is None


@given(st.sampled_from([ASKED, LACKING, UNSURE]), st.data())
def test_changed_field_gives_a_valid_question_or_none(pending, data):
    written = json.loads(to_text(pending))
    field = data.draw(st.sampled_from([*written, "more"]))
    written[field] = data.draw(anything)
    changed = from_text(json.dumps(written))
    del written[field]

    assert changed is None or from_text(to_text(changed)) == changed
    optional = {"more", "confirmed", "unsure"} | ({"left"} if isinstance(pending, WhichIntent) else set())
    assert from_text(json.dumps(written)) == (pending if field in optional else None)


@pytest.mark.parametrize(
    ("pending", "field", "value"),
    [
        (ASKED, "version", 2),
        (ASKED, "message", 7),
        (ASKED, "intents", [7]),
        (ASKED, "intents", 7),
        (ASKED, "language", "not a language"),
        (ASKED, "language", "EN"),
        (LACKING, "kind", "intent"),
        (LACKING, "left", "1"),
        (LACKING, "entities", [{"slot": "dish"}]),
        (LACKING, "entities", [{"slot": "dish", "value": [], "text": "x", "start": 0, "end": 1}]),
        (LACKING, "entities", [{"slot": "dish", "value": "x", "text": 7, "start": 0, "end": 1}]),
        (LACKING, "entities", [{"slot": "dish", "value": "x", "text": "x", "start": "0", "end": 1}]),
        (LACKING, "entities", ["dish"]),
        (LACKING, "confirmed", "yes"),
        (UNSURE, "intent", 7),
        (UNSURE, "id", None),
        (UNSURE, "left", None),
        (UNSURE, "entities", ["dish"]),
        (UNSURE, "kind", "value"),
    ],
)
def test_question_of_another_release_is_none(pending, field, value):
    assert from_text(json.dumps({**json.loads(to_text(pending)), field: value})) is None


def test_question_for_a_slot_of_an_earlier_release_is_read():
    """Before there were confirmations, a question for a slot had no `confirmed`."""
    text = (
        '{"version": 1, "kind": "value", "intent": "order_food", "slot": "dish", "entities": [{"slot": "count", '
        '"value": 3, "text": "three", "start": 0, "end": 5}], "left": 1, "language": null}'
    )

    assert from_text(text) == LACKING


def test_button_ids_are_short_and_unique_to_a_question():
    questions = [WhichIntent("", tuple("abcd"), new_id(), None) for _ in range(100)]
    sent = [choice for question in questions for choice in question.choices]

    assert len(set(sent)) == len(sent) == 500
    assert all(len(choice) <= 20 and choice.isascii() for choice in sent)
