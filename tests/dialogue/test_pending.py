"""A question as it waits in a store."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Entity
from intentmatch.dialogue.pending import WhichIntent, WhichValue, new_id, of_text, to_text

languages = st.sampled_from([None, "en", "pt-BR", "zh-Hant-TW"])
values = st.text() | st.integers() | st.floats(allow_nan=False)
entities = st.builds(Entity, st.text(), values, st.text(), st.integers(0), st.integers(0))
questions = st.builds(WhichIntent, st.text(), st.lists(st.text()).map(tuple), st.text(), languages) | st.builds(
    WhichValue, st.text(), st.text(), st.lists(entities, max_size=3).map(tuple), st.integers(), languages
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

ASKED = WhichIntent("my order", ("order_status", "cancel_order"), "abc", "en")
LACKING = WhichValue("order_food", "dish", (Entity("count", 3, "three", 0, 5),), 1, None)


@given(questions)
def test_a_question_comes_back_as_it_was(pending):
    """Whatever users wrote, and in ASCII, so that any store can keep it."""
    assert to_text(pending).isascii()
    assert of_text(to_text(pending)) == pending


@pytest.mark.parametrize("text", [None, "", "null", "{", "[]", "[1]", '"im"', "7", "{}", "[" * 100_000, "1" * 5_000])
def test_what_is_no_question_is_none(text):
    """Whatever else may lie in a store."""
    assert of_text(text) is None


@given(st.text() | anything.map(json.dumps))
def test_garbage_of_any_kind_is_none(text):
    """Text of no kind, and values of every kind."""
    assert of_text(text) is None


@given(st.sampled_from([ASKED, LACKING]), st.data())
def test_a_question_with_something_else_in_it_is_sound_or_none(pending, data):
    """A field of another kind, one too many, one too few: no half of a question comes out."""
    written = json.loads(to_text(pending))
    field = data.draw(st.sampled_from([*written, "more"]))
    written[field] = data.draw(anything)
    changed = of_text(json.dumps(written))
    del written[field]

    assert changed is None or of_text(to_text(changed)) == changed
    assert of_text(json.dumps(written)) == (pending if field == "more" else None)


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
    ],
)
def test_a_question_of_another_release_is_none(pending, field, value):
    """It is asked anew, rather than misunderstood."""
    assert of_text(json.dumps({**json.loads(to_text(pending)), field: value})) is None


def test_buttons_are_of_one_question():
    """Their ids are short, and no two questions share one."""
    questions = [WhichIntent("", tuple("abcd"), new_id(), None) for _ in range(100)]
    sent = [choice for question in questions for choice in question.choices]

    assert len(set(sent)) == len(sent) == 500
    assert all(len(choice) <= 20 and choice.isascii() for choice in sent)
