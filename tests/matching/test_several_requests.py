"""Several requests in one message: their places, and the parts of the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Intent, Matcher, MatchResult, Missing, Registry, Slot, SlotValue, Utterance
from intentmatch.matching.policy import Request
from intentmatch.matching.several_requests import answer_each
from intentmatch.reading.text import ReadText


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


def test_requests_on_lines_of_their_own_are_several(bot: Matcher) -> None:
    message = "hi\ncancel my order\ngive me my money back\nthanks"

    result = bot.match(message)

    assert [(part.intent, message[part.start : part.end]) for part in result.parts] == [
        ("cancel", "cancel my order"),
        ("refund", "give me my money back"),
    ]


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


@pytest.mark.parametrize(
    ("message", "requests"),
    [
        ("cancel my ordr and refund me", ["cancel my ordr", "refund me"]),
        ("STOP MY ORDER  and\n track my parcel", ["STOP MY ORDER", "track my parcel"]),
        ("cancel my order. where is my parcel. please cancel the order", [0, 1, 2]),
        ("cancel my order and please cancel the order and refund me", [0, 1]),
    ],
)
def test_requests_keep_their_places_in_the_message_as_typed(bot: Matcher, message: str, requests: list[object]) -> None:
    """Neighbours of one intent are one request, and others of one intent are not."""
    parts = bot.match(message).parts

    said = [message[part.start : part.end] for part in parts]
    assert (said if isinstance(requests[0], str) else [*range(len(parts))]) == requests


@pytest.mark.parametrize(
    "message",
    [
        "where is my parcel? cancel my order! no, don't",
        "cancel my order and where is my parcel? no wait, forget it",
    ],
)
def test_requests_that_are_taken_back_are_asked_about(bot: Matcher, message: str) -> None:
    assert (bot.match(message).verdict, bot.match(message).parts) == ("ambiguous", ())


def test_request_keeps_what_stands_between_it_and_the_next(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(
        """
slots: {order: {pattern: "[A-Z]{2}[0-9]{4}"}}
intents:
  status: {slots: {order: {}}, utterances: ["where is my order {order}", has my parcel been sent]}
  cancel: {slots: {order: {}}, utterances: ["cancel my order {order}", "please cancel {order}"]}
""",
        encoding="utf-8",
    )
    shop = Matcher.load(tmp_path, cache="off", several_intents=True)

    cancel, status = shop.match("cancel my order AB1234 and AB9999 and where is my order CD5678").parts

    assert [one.value for one in cancel.entities] == ["AB1234", "AB9999"]
    assert [one.value for one in status.entities] == ["CD5678"]


def test_request_in_doubt_alone_is_asked_about_with_the_others(bot: Matcher) -> None:
    """What the bot would ask about whole stays a question if it would not answer each part."""
    message = "cancel my order and refund me"
    reading = SimpleNamespace(message=message, meant=ReadText(message))
    requests = Request(*["cancel my order"] * 2, "cancel"), Request(*["refund me"] * 2, "refund")
    asked = bot.match("no such thing")

    def answered(texts: Sequence[str]) -> list[MatchResult]:
        return [bot.match(text) for text in texts]

    def in_doubt(texts: Sequence[str]) -> list[MatchResult]:
        return [bot.match(texts[0]), bot.match("penguins")]

    assert len(answer_each(reading, asked, requests, answered).parts) == 2
    assert answer_each(reading, asked, requests[::-1], answered) is asked  # not to be found one after the other
    assert answer_each(reading, asked, requests, in_doubt) is asked


def test_part_that_equals_an_utterance_but_for_values_is_a_request(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(
        """
slots: {order: {pattern: "[0-9]{4}"}}
intents:
  status: {slots: {order: {}}, utterances: ["where is my order {order}", has my parcel been sent]}
  cancel: {slots: {order: {}}, utterances: ["cancel order {order}", "please cancel {order}"]}
""",
        encoding="utf-8",
    )

    result = Matcher.load(tmp_path, cache="off").match("Where is my order 1234? And please cancel order 2001.")

    assert {one.intent for one in result.rivals} == {"status", "cancel"}


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
