"""Turns that follow up the turn before: "and tomorrow?"."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from intentmatch import Dialogue, Matcher, MemoryStore

NOW = datetime(2026, 11, 23, 9)
REGISTRY = """
version: 1
slots:
  city: {values: {Berlin: {}, Paris: {}, Rome: {}}}
  day: {type: date}
  order: {pattern: "[0-9]{4}"}
intents:
  weather:
    response: {en: "The weather in {city} on {day}."}
    slots: {city: {required: true, ask: {en: In which city?}}, day: {}}
    utterances: {en: [what is the weather like, will it rain tomorrow, weather forecast for Berlin, is it sunny]}
  order_status:
    response: {en: Order {order} is on its way.}
    slots: {order: {required: true, ask: {en: Which order?}}}
    utterances: {en: [where is my order, has my parcel been shipped, when will my delivery arrive, track my package]}
  order_cancel:
    confirm: true
    response: {en: Cancelled.}
    utterances: {en: [cancel my order, I do not want the order any more, stop the shipment, please cancel it]}
  thanks:
    response: {en: You are welcome.}
    utterances: {en: [thank you, thanks a lot, many thanks, cheers mate]}
"""


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    file: Path = tmp_path_factory.mktemp("bot") / "bot.yaml"
    file.write_text(
        REGISTRY.replace("Order {order} is on its way.", '"Order {order} is on its way."'), encoding="utf-8"
    )
    return Matcher.load(file, cache="off")


def said(dialogue: Dialogue, *messages: str) -> list[tuple[str | None, dict[str, object]]]:
    turns = [dialogue.take(message, "anna", now=NOW) for message in messages]
    return [(turn.intent, dict(turn.slots)) for turn in turns]


def test_hypotheses_from_speech_follow_up(matcher):
    dialogue = Dialogue(matcher)
    dialogue.take("what is the weather like in Berlin", "anna", now=NOW)

    turn = dialogue.take([("and in Rome", 0.7), ("and enrol", 0.3)], "anna", now=NOW)

    assert (turn.intent, turn.message, turn.slots) == ("weather", "and in Rome", {"city": "Rome"})
    assert turn.result.is_follow_up


def test_follow_up_among_hypotheses_that_say_something_else_is_not_acted_on(matcher):
    dialogue = Dialogue(matcher)
    dialogue.take("what is the weather like in Berlin", "anna", now=NOW)

    turn = dialogue.take([("xkqzw vvbrt", 0.6), ("and in Rome", 0.4)], "anna", now=NOW)

    assert (turn.message, turn.intent, turn.understood) == ("and in Rome", None, False)
    assert turn.result.is_follow_up


@pytest.mark.parametrize(
    ("before", "heard", "intent", "said"),
    [
        ("what is the weather like", [("Rome", 0.6), ("rum", 0.4)], "weather", "Rome"),
        ("what is the weather like", [("rum", 0.6), ("Rome", 0.4)], "weather", "Rome"),
        ("where is my order", [("twelve 34", 0.5), ("1243", 0.3), ("1234", 0.2)], "order_status", "1243"),
        ("what is the weather like", [("where is my order", 0.8), ("Rome", 0.2)], "order_status", "where is my order"),
        ("cancel my order", [("guess", 0.6), ("yes", 0.4)], "order_cancel", "yes"),
        ("cancel my order", [("know", 0.6), ("no", 0.4)], "order_cancel", "no"),
        ("cancel my order", [("thanks a lot", 0.9), ("yes", 0.1)], "thanks", "thanks a lot"),
        ([("cancel my order", 0.5), ("where is my order", 0.5)], [("to", 0.6), ("2", 0.4)], "order_status", "2"),
    ],
)
def test_answer_to_a_question_may_be_any_of_the_hypotheses(matcher, before, heard, intent, said):
    """Unless the message clearly is another request."""
    dialogue = Dialogue(matcher)
    assert dialogue.take(before, "anna", now=NOW).asks

    turn = dialogue.take(heard, "anna", now=NOW)

    assert (turn.message, turn.intent or turn.pending) == (said, intent)
    assert turn.understood


def test_slots_of_the_turn_before_stay_unless_they_are_said_again(matcher):
    turns = said(
        Dialogue(matcher),
        "what is the weather like in Berlin today",
        "and tomorrow?",
        "what about Rome",
        "and in Paris?",
    )

    assert turns == [
        ("weather", {"city": "Berlin", "day": "2026-11-23"}),
        ("weather", {"city": "Berlin", "day": "2026-11-24"}),
        ("weather", {"city": "Rome", "day": "2026-11-24"}),
        ("weather", {"city": "Paris", "day": "2026-11-24"}),
    ]


def test_a_message_that_stands_alone_begins_anew(matcher):
    turns = said(Dialogue(matcher), "weather forecast for Berlin", "where is my order 2001", "and 2002?")

    assert turns[1:] == [("order_status", {"order": "2001"}), ("order_status", {"order": "2002"})]


def test_without_a_turn_before_nothing_is_followed(matcher):
    assert said(Dialogue(matcher), "and 2002?") == [(None, {})]


def test_a_message_in_between_that_is_not_understood_is_passed_over(matcher):
    turns = said(Dialogue(matcher), "where is my order 2001", "the Eiffel tower is 330 m tall", "and 2002?")

    assert turns[1:] == [(None, {}), ("order_status", {"order": "2002"})]


def test_what_an_answer_completed_is_followed_too(matcher):
    turns = said(Dialogue(matcher), "where is my order", "2001", "and 2002?")

    assert [intent for intent, _ in turns] == [None, "order_status", "order_status"]
    assert turns[2][1] == {"order": "2002"}


def test_an_intent_that_must_be_confirmed_is_asked_about_again(matcher):
    dialogue = Dialogue(matcher)
    said(dialogue, "cancel my order", "yes")

    turn = dialogue.take("and the other one?", "anna")

    assert turn.intent is None
    assert turn.pending == "order_cancel"
    assert turn.asks


def test_follow_up_without_a_value_asks_before_it_does_the_same_once_more(matcher):
    dialogue = Dialogue(matcher)
    said(dialogue, "what is the weather like in Berlin")

    asked = dialogue.take("and the other one?", "anna", now=NOW)

    assert (asked.intent, asked.pending, asked.reply) == (None, "weather", "Weather: Berlin?")
    assert dialogue.take("yes", "anna", now=NOW).slots == {"city": "Berlin"}


def test_value_that_is_taken_back_afterwards_is_asked_about(matcher):
    dialogue = Dialogue(matcher)
    said(dialogue, "where is my order 2001")

    asked = dialogue.take("no, 2002", "anna", now=NOW)

    assert (asked.intent, asked.reply, asked.slots) == (None, "Order status: 2002?", {"order": "2002"})


def test_what_is_taken_back_is_not_followed_up(matcher):
    turns = said(Dialogue(matcher), "what is the weather like in Berlin", "no, xkqzw vvbrt", "and tomorrow?")

    assert [intent for intent, _ in turns] == ["weather", None, None]


@pytest.mark.parametrize("message", ["no, never mind", "no", "never mind", "cancel"])
def test_no_after_an_answer_does_nothing_once_more(matcher, message):
    turns = said(Dialogue(matcher), "where is my order 2001", message)

    assert [intent for intent, _ in turns] == ["order_status", None]


def test_conversations_do_not_follow_each_other(matcher):
    dialogue = Dialogue(matcher)
    dialogue.take("where is my order 2001", "anna")

    assert dialogue.take("and 2002?", "ben").intent is None


def test_a_turn_is_followed_while_it_is_kept(matcher):
    seconds = [0.0]
    dialogue = Dialogue(matcher, store=MemoryStore(clock=lambda: seconds[0]), patience=60)
    dialogue.take("where is my order 2001", "anna")
    seconds[0] = 61.0

    assert dialogue.take("and 2002?", "anna").intent is None


def test_forget_ends_the_topic(matcher):
    dialogue = Dialogue(matcher)
    dialogue.take("where is my order 2001", "anna")
    dialogue.forget("anna")

    assert dialogue.take("and 2002?", "anna").intent is None


def test_a_late_press_is_answered_in_the_language_of_the_one_who_presses(matcher):
    dialogue = Dialogue(matcher)
    dialogue.take("where is my order 2001", "anna")

    late = dialogue.take("", "anna", chosen="im:old:1", language="de")

    assert late.language == "de"
    assert late.reply.startswith("Diese Frage")


def test_follow_up_asks_for_free_text_anew(tmp_path):
    (tmp_path / "bot.yaml").write_text(
        "slots: {doctor: {values: [Klein, Weber]}, text: {type: any}}\n"
        "intents:\n"
        "  note:\n"
        "    slots: {doctor: {required: true}, text: {required: true, ask: Which text?}}\n"
        '    utterances: [a note please, "a note for {doctor} please", "leave a note for {doctor}"]\n'
        "  hours: {utterances: [when do you open, opening hours, are you open today]}\n",
        encoding="utf-8",
    )
    bot = Dialogue(Matcher.load(tmp_path, cache="off"))
    for text in ("a note for Klein please", "my knee hurts"):
        done = bot.take(text, "anna")
    asked = bot.take("and one for Weber please", "anna")

    assert done.slots == {"doctor": "Klein", "text": "my knee hurts"}
    assert (asked.asks_for, asked.slots) == ("text", {"doctor": "Weber"})
