"""Several intents in one message: pieces, the best division, and the parts of the result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Intent, Matcher, Missing, Registry, Slot, SlotValue, Utterance
from intentmatch.core.result import Candidate, MatchResult, Trace
from intentmatch.matching.multi_intent import division
from intentmatch.text.clauses import Span


def intent(name: str, *lines: str, **more: object) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), **more)  # type: ignore[arg-type]


SHOP = Registry(
    (
        intent("cancel", "cancel my order", "please cancel the order", "stop my order", responses={"en": "Stopped."}),
        intent("refund", "refund me", "give me my money back", "I want a refund", responses={"en": "Money is coming."}),
        intent("status", "where is my parcel", "track my parcel", "has my parcel been sent"),
    )
)


@pytest.fixture(scope="module")
def bot() -> Matcher:
    return Matcher.load(SHOP, several_intents=True, cache="off", threshold=0.5)


def answer(name: str | None, confidence: float) -> MatchResult:
    """Return the result of a match with this intent and confidence."""
    return MatchResult(
        message="",
        verdict="matched" if name else "out_of_scope",
        intent=name,
        score=confidence,
        confidence=confidence,
        candidates=(Candidate(name, confidence),) if name else (),
        rivals=(),
        language=None,
        response=None,
        trace=Trace((), "dense", None, "", ""),
    )


A, B, BOTH = Span(0, 1), Span(2, 3), Span(0, 3)


@pytest.mark.parametrize(
    ("first", "second", "both", "expected"),
    [
        (("x", 0.97), ("y", 0.97), ("x", 0.90), [A, B]),
        (("x", 0.90), ("y", 0.90), ("x", 0.99), [BOTH]),
        (("x", 0.97), ("x", 0.97), ("x", 0.80), [BOTH]),
        (("x", 0.97), ("y", 0.60), ("x", 0.80), [BOTH]),
        (("x", 0.97), (None, 0.2), ("x", 0.80), [BOTH]),
        (("x", 0.97), ("y", 0.97), (None, 0.10), [A, B]),
        ((None, 0.1), (None, 0.1), (None, 0.10), []),
    ],
)
def test_division_with_the_most_certain_answers_wins(first, second, both, expected) -> None:
    """Neighbours of one intent and uncertain clauses are never divided."""
    answers = {A: answer(*first), B: answer(*second), BOTH: answer(*both)}

    assert division([A, B], answers) == expected


def test_two_requests_give_two_parts(bot: Matcher) -> None:
    """Each with span, confidence and response; the rest of the result is that of the first."""
    message = "cancel my order, and give me my money back"

    result = bot.match(message)

    assert [part.intent for part in result.parts] == ["cancel", "refund"]
    assert [message[part.start : part.end] for part in result.parts] == ["cancel my order", "give me my money back"]
    assert [part.response for part in result.parts] == ["Stopped.", "Money is coming."]
    assert (result.verdict, result.intent, result.message) == ("matched", "cancel", message)
    assert result.trace.stages[-1].name == "parts"
    assert "2 requests: cancel, refund" in result.explain()
    assert [part["intent"] for part in result.to_dict()["parts"]] == ["cancel", "refund"]
    assert bot.match_many([message])[0].parts == result.parts


def test_single_request_has_no_parts(bot: Matcher) -> None:
    """Nor has a message of too many pieces."""
    for message in ("cancel my order", "please, cancel the order", "where is my parcel and has it been sent", "a, b"):
        assert bot.match(message).parts == ()
    assert bot.match(", ".join(["cancel my order", "refund me"] * 5)).parts == ()


def test_several_intents_is_off_by_default() -> None:
    plain = Matcher.load(SHOP, cache="off", threshold=0.5)

    assert plain.match("cancel my order, and give me my money back").parts == ()


@given(st.text(max_size=80))
def test_any_message_gives_valid_parts(bot: Matcher, message: str) -> None:
    result = bot.match(message)

    assert len(result.parts) != 1
    assert all(0 <= part.start < part.end <= len(message) for part in result.parts)


def test_slots_of_parts_have_spans_in_the_whole_message() -> None:
    """Invisible characters count; missing slots are those of the part."""
    city = Slot("city", "list", (SlotValue("Berlin"), SlotValue("Rome")), required=True)
    fly = intent("fly", "fly to Berlin", "a flight to Rome", "book a flight", slots=(city,))
    shop = Matcher.load(Registry((*SHOP, fly)), several_intents=True, cache="off", threshold=0.5)
    message = "\u200b Cancel my order, and a flight to ＲＯＭＥ!"

    result = shop.match(message)

    assert [part.intent for part in result.parts] == ["cancel", "fly"]
    assert result.entities == result.parts[0].entities == ()
    (rome,) = result.parts[1].entities
    assert (rome.value, message[rome.start : rome.end], rome.text) == ("Rome", "ＲＯＭＥ", "ＲＯＭＥ")
    assert shop.match("book a flight and refund me").parts[0].missing == (Missing("city", None),)
