"""Messages that equal an utterance but for the values of its slots."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher

ROOMS = "kitchen, bathroom, bedroom, hall, office, attic, cellar, garage, nursery, library, studio, garden"
REGISTRY = f"""version: 1
slots:
  room: {{values: [{ROOMS}]}}
  code: {{pattern: "[A-Z]{{3}}-\\\\d{{4}}", examples: [ABC-1234]}}
intents:
  look_up:
    utterances: ["look up {{code}}", "{{code}} and {{code}}"]
  on:
    utterances: ["{{room}} on", "{{room}} and {{room}} on"]
  off:
    utterances: ["{{room}} off"]
  call:
    slots: {{who: {{type: any, examples: [mum, Anna]}}}}
    utterances: ["ring up {{who}}", "a {{who}}"]
  remind:
    slots: {{what: {{type: any, examples: [buy milk]}}, day: {{type: date}}}}
    utterances: ["remind me on {{day}} to {{what}}", "notes for {{day}}"]
  pay:
    slots: {{amount: {{type: money}}}}
    utterances: ["pay {{amount}}"]
  hello:
    utterances: [hello there, good morning]
"""


@pytest.fixture(scope="module")
def matcher(tmp_path_factory) -> Matcher:
    folder: Path = tmp_path_factory.mktemp("values")
    (folder / "bot.yaml").write_text(REGISTRY, encoding="utf-8")
    return Matcher.load(folder, encoder=WordHashEncoder(), threshold=0.99, cache="off")


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("look up QXZ-4821", "look_up"),
        ("Look up qxz-4821!", "look_up"),
        ("KLM-1111 and QXZ-4821", "look_up"),
        ("cellar on", "on"),
        ("garage off", "off"),
        ("cellar and library on", "on"),
        ("ring up my brother Tom", "call"),
        ("ring up whoever has already paid", "call"),
        ("remind me on 3 May to water the plants", "remind"),
        ("notes for the 24th of December", "remind"),
        ("pay $79.50", "pay"),
        ("pay minus five dollars", "pay"),
    ],
)
def test_an_utterance_matches_itself_with_any_other_value(matcher, message, intent):
    result = matcher.match(message, language="en", now=datetime(2026, 11, 27))

    assert (result.verdict, result.intent) == ("matched", intent)
    assert any(stage.name in ("values", "free_text") for stage in result.trace.stages)


def test_every_value_of_a_list_is_matched_alike(matcher):
    rooms = ROOMS.split(", ")

    assert [matcher.match(f"{room} on").intent for room in rooms] == ["on"] * len(rooms)
    assert [matcher.match(f"{room} off").intent for room in rooms] == ["off"] * len(rooms)


@pytest.mark.parametrize(
    "message",
    [
        "look up the number",
        "please look up QXZ-4821",
        "look up QXZ-4821 again",
        "swimming pool on",
        "ring up",
        "a gentle breeze",
        "remind me on someday to water the plants",
        "pay attention",
    ],
)
def test_what_is_no_value_and_words_around_it_do_not_match(matcher, message):
    result = matcher.match(message, language="en")

    assert result.verdict != "matched"
    assert not any(stage.name in ("values", "free_text") for stage in result.trace.stages)


def test_only_intents_that_may_answer_match_by_their_values(matcher):
    assert matcher.match("cellar on", allowed=["off", "call"]).intent is None
    assert matcher.match("cellar on", allowed=["on", "call"]).intent == "on"


def test_many_messages_are_matched_as_one_by_one(matcher):
    messages = ["cellar on", "look up QXZ-4821", "ring up my brother Tom", "pay attention"]

    assert [result.intent for result in matcher.match_many(messages)] == [
        matcher.match(message).intent for message in messages
    ]


def test_the_utterance_with_most_words_counts(tmp_path):
    registry = "version: 1\nintents:\n"
    registry += (
        "  lamp: {slots: {which: {pattern: '[a-z]+ light', examples: [red light]}}, utterances: ['{which} on']}\n"
    )
    registry += "  blue: {slots: {shade: {values: [blue, navy]}}, utterances: ['{shade} light on']}\n"
    (tmp_path / "bot.yaml").write_text(registry, encoding="utf-8")
    matcher = Matcher.load(tmp_path, encoder=WordHashEncoder(), threshold=0.99, cache="off")

    assert matcher.match("navy light on").intent == "blue"
