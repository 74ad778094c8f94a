"""Messages that do not stand alone: "and tomorrow?", "the other one", "no, the red one"."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch import Matcher
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.core.result import Entity
from intentmatch.matching.follow_up import follow_up

FOLDER = Path(__file__).parent / "follow_ups"
MESSAGES = yaml.safe_load((FOLDER / "messages.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(FOLDER / "intents.yaml", cache="off")


def right(matcher: Matcher, half: str, kind: str) -> float:
    """The share of messages of the table that get the right intent."""
    rows = [row for some in MESSAGES[half][kind].values() for row in some]
    answers = [matcher.match(row[1], previous=row[0]).intent for row in rows]
    return sum(
        answer == (row[0] if kind == "follow" else row[2]) for row, answer in zip(rows, answers, strict=True)
    ) / len(rows)


def test_the_table_is_large_enough():
    follow = {half: MESSAGES[half]["follow"] for half in ("development", "kept")}

    assert sum(len(rows) for some in follow.values() for rows in some.values()) >= 200
    assert all(len(some) == 6 for some in follow.values())


@pytest.mark.parametrize("half", ["development", "kept"])
def test_follow_ups_get_the_intent_before(matcher, half):
    assert right(matcher, half, "follow") >= 0.8


@pytest.mark.parametrize("half", ["development", "kept"])
def test_messages_that_stand_alone_keep_their_intent(matcher, half):
    assert right(matcher, half, "alone") >= 0.9


def test_the_trace_says_what_does_not_stand_alone(matcher):
    result = matcher.match("no, the red one", previous="availability")

    stage = next(stage for stage in result.trace.stages if stage.name == "follow_up")
    assert result.is_follow_up
    assert result.trace.decided_by == "follow_up"
    assert stage.says.startswith("“one” stands for nothing alone: read behind “")
    assert "it does not stand alone, and availability was before it" in result.explain()
    assert [(entity.slot, entity.text) for entity in result.entities] == [("colour", "red")]
    assert sum(candidate.confidence for candidate in result.candidates) <= 1.0


def test_a_message_that_the_intent_before_answers_alone_is_a_follow_up_too(matcher):
    alone, after = matcher.match("and tomorrow?"), matcher.match("and tomorrow?", previous="weather")

    assert alone.intent == after.intent == "weather"
    assert after.is_follow_up
    assert not alone.is_follow_up
    assert after.trace.decided_by == alone.trace.decided_by
    assert after.candidates == alone.candidates


def test_the_result_of_the_turn_before_may_be_given(matcher):
    before = matcher.match("what is the weather like")
    nothing = matcher.match("how tall is the Eiffel tower")

    assert before.intent == "weather"
    assert nothing.intent is None
    assert matcher.match("and to Rome?", previous=before).intent == "weather"
    assert matcher.match("and to Rome?", previous=nothing) == matcher.match("and to Rome?")


@pytest.mark.parametrize("message", ["thanks a lot", "and how much is the bag?", "no", "and", "", "?!", "xkcdqwrt"])
def test_what_stands_alone_or_says_nothing_is_not_changed(matcher, message):
    alone, after = matcher.match(message), matcher.match(message, previous="weather")

    assert (after.verdict, after.intent, after.candidates) == (alone.verdict, alone.intent, alone.candidates)


def test_only_intents_that_may_answer_are_followed(matcher):
    assert matcher.match("and the other one?", previous="order_status").intent == "order_status"
    assert matcher.match("and the other one?", previous="order_status", allowed=["thanks"]).intent is None


def test_many_messages_follow_the_same_turn(matcher):
    found = matcher.match_many(["and the other one?", "thanks a lot"], previous="order_status")

    assert [result.intent for result in found] == ["order_status", "thanks"]
    assert matcher.match_each([("and the other one?", {"previous": "order_status"})])[0].intent == "order_status"


def test_unknown_intents_and_other_types_are_refused(matcher):
    with pytest.raises(UnknownNameError, match="weahter"):
        matcher.match("and tomorrow?", previous="weahter")
    with pytest.raises(InputError, match="previous"):
        matcher.match("and tomorrow?", previous=5)


def entity(message: str, text: str) -> Entity:
    return Entity("slot", text, text, message.index(text), message.index(text) + len(text))


@pytest.mark.parametrize(
    ("message", "values", "language", "bare"),
    [
        ("tomorrow", ["tomorrow"], "en", True),
        ("tomorrow in Rome", ["tomorrow", "Rome"], "en", True),
        ("the other one", [], "en", True),
        ("and the smaller size", [], "en", False),
        ("and what is the capital of France", [], "en", None),
        ("blue please", [], "en", None),
        ("no", [], "en", None),
        ("homme", ["homme"], "et", True),
        ("aga homme", ["homme"], "et", None),
        ("tomorrow", ["tomorrow"], None, True),
    ],
)
def test_why_a_message_does_not_stand_alone(message, values, language, bare):
    found = follow_up(message, [entity(message, value) for value in values], language)

    assert (found and found.is_bare) == bare


def test_words_of_the_bot_tell_that_a_message_does_not_stand_alone(tmp_path):
    intents = """
      weather: {utterances: {et: [milline ilm on homme, kas täna sajab, ilmateade nädalavahetuseks]}}
      news: {utterances: {et: [mis uudiseid on, loe päeva uudiseid, uusimad pealkirjad]}}
    """
    says = {}
    for own in ("", "languages: {et: {follow_ups: {openings: [aga]}}}"):
        file = tmp_path / "bot.yaml"
        file.write_text(f"version: 1\n{own}\nintents:{intents}", encoding="utf-8")
        trace = Matcher.load(file, cache="off").match("aga nädalavahetuseks?", previous="weather", language="et").trace
        says[own] = [stage.says for stage in trace.stages if stage.name == "follow_up"]

    assert [*says.values()] == [[], ["“aga” refers to what was said before; weather was before it"]]
