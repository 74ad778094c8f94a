"""A pizza bot: which slot takes which words of a message, and of an answer."""

from __future__ import annotations

from datetime import datetime

import pytest
from fakes import WordHashEncoder
from slot_helpers import NOW, list_slot, marked

from intentmatch import Dialogue, Matcher
from intentmatch.core.types import Intent, Registry, Slot
from intentmatch.slots import slot_readers

SIZE = list_slot("size", "small", "medium", "large")
PIZZA = list_slot("pizza", "pepperoni", "margherita", "hawaii")
COUNT, TIME = Slot("count", "number"), Slot("time", "time")
ADDRESS = Slot("address", "any", required=True, questions={"en": "Where to?", "es": "¿A dónde?"})
ORDER = Intent(
    "order_pizza",
    (
        marked("order {count=2} {size=large} {pizza=margherita}"),
        marked("I want a {size=large} {pizza=pepperoni} to {address=5 Main Street} at {time=8 pm}"),
        marked("can I have a {pizza=pepperoni} for {time=7 pm}"),
        marked("I want a pizza"),
        marked("deliver {count=3} {pizza=margherita} to {address=Baker Street}"),
        marked("I want a {address=pizza} for {time=7 pm}"),
        marked("{address=the office} at {time=8}"),
        marked("{size=large} {address=the office} {pizza=pepperoni}"),
        marked("quiero una pizza a {address=calle Sol}", "es"),
        marked("quiero {count=2} pizzas", "es"),
    ),
    slots=(SIZE, PIZZA, COUNT, ADDRESS, TIME),
)
READER = slot_readers(Registry((ORDER,)))["order_pizza"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "order large pepperoni to 12 Baker Street at 8",
            {"size": "large", "pizza": "pepperoni", "address": "12 Baker Street", "time": "08:00"},
        ),
        ("I want a pizza for 7 pm", {"time": "19:00"}),
        ("order 2 pepperoni to 12 Baker Street", {"count": 2, "pizza": "pepperoni", "address": "12 Baker Street"}),
        (
            "3 small hawaii at 8 pm to Elm Avenue 14 please",
            {"count": 3, "size": "small", "pizza": "hawaii", "time": "20:00", "address": "Elm Avenue 14"},
        ),
        ("I would like a pizza at 8", {"time": "08:00"}),
        ("deliver 2 hawaii to the old mill", {"count": 2, "pizza": "hawaii", "address": "the old mill"}),
    ],
)
def test_each_slot_takes_its_own_words(text, expected):
    assert {entity.slot: entity.value for entity in READER.read(text, "en", NOW).entities} == expected


def test_alternatives_leave_no_words_for_free_text():
    reading = READER.read("can I have a small or medium pepperoni", "en", NOW)

    assert [(entity.slot, entity.value) for entity in reading.entities] == [
        ("size", "small"),
        ("size", "medium"),
        ("pizza", "pepperoni"),
    ]
    assert [(one.slot, one.question) for one in reading.missing] == [
        ("size", "small or medium?"),
        ("address", "Where to?"),
    ]


@pytest.mark.parametrize(
    ("language", "answer", "expected"),
    [
        ("es", "calle Mayor 5, Madrid", {"address": "calle Mayor 5, Madrid"}),
        ("en", "12 Baker Street at 8", {"address": "12 Baker Street", "time": "08:00"}),
        ("en", "to 12 Baker Street please", {"address": "12 Baker Street"}),
        ("en", "Elm Avenue 14, large please", {"address": "Elm Avenue 14", "size": "large"}),
        ("en", "Large Hall", {"address": "Large Hall"}),
        ("en", "the", {}),
    ],
)
def test_answer_fills_the_slot_that_was_asked_for(language, answer, expected):
    """Other slots are filled only by their own words."""
    found = READER.fill(answer, ["address"], language, NOW, others=["size", "pizza", "count", "time"])

    assert {entity.slot: entity.value for entity in found} == expected


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("time", "8", ["08:00"]),
        ("time", "at 8 please", ["08:00"]),
        ("time", "25", []),
        ("time", "8 or so people", []),
        ("ordinal", "2", [2]),
        ("ordinal", "0", []),
        ("temperature", "twenty", [{"amount": 20, "unit": None}]),
        ("temperature", "300 K", [{"amount": 300, "unit": "K"}]),
        ("money", "20", [{"amount": 20, "currency": None}]),
        ("money", "20 people", []),
    ],
)
def test_number_alone_answers_the_question_for_a_time_a_place_degrees_or_an_amount(kind, answer, expected):
    intent = Intent("x", (marked("hello"),), slots=(Slot("asked", kind), Slot("n", "number")))
    reader = slot_readers(Registry((intent,)))["x"]

    assert [
        one.value for one in reader.fill(answer, ["asked"], "en", NOW, others=["n"]) if one.slot == "asked"
    ] == expected


def test_what_two_slots_may_take_is_for_the_one_asked_for():
    cities = ("Rom", "Oslo")
    slots = list_slot("origin", *cities), list_slot("target", *cities)
    fly = Intent("fly", (marked("from {origin=Rom} to {target=Oslo}"),), slots=slots)
    reader = slot_readers(Registry((fly,)))["fly"]

    def fill(text: str) -> list[tuple[str, object]]:
        return [(one.slot, one.value) for one in reader.fill(text, ["target"], "en", NOW, others=["origin"])]

    assert fill("Oslo") == [("target", "Oslo")]
    assert fill("Oslo from Rom") == [("target", "Oslo"), ("origin", "Rom")]


@pytest.fixture
def bot():
    order = Intent("order_pizza", (*ORDER.utterances, marked("pizza please")), slots=ORDER.slots)
    bye = Intent("bye", (marked("goodbye"), marked("adiós", "es")))
    return Dialogue(Matcher.load(Registry((order, bye)), encoder=WordHashEncoder(), threshold=0.1, cache="off"))


def test_dialogue_asks_about_alternatives_before_missing_slots(bot):
    now = datetime(2026, 11, 21)
    first = bot.take("can I have a small or medium pepperoni", "anna", language="en", now=now)
    again = bot.take("hm?", "anna", language="en", now=now)
    second = bot.take("medium", "anna", language="en", now=now)
    third = bot.take("12 Baker Street", "anna", language="en", now=now)

    assert (first.asks_for, first.reply, first.slots) == ("size", "small or medium?", {"pizza": "pepperoni"})
    assert (again.asks_for, again.reply) == ("size", "small or medium?")
    assert (second.asks_for, second.reply) == ("address", "Where to?")
    assert third.intent == "order_pizza"
    assert third.slots == {"pizza": "pepperoni", "size": "medium", "address": "12 Baker Street"}


def test_dialogue_asks_about_each_of_two_choices_and_about_an_answer_with_two(bot):
    first = bot.take("can I have a small or medium pepperoni or hawaii", "bert", language="en")
    second = bot.take("small or large", "bert", language="en")
    third = bot.take("large", "bert", language="en")
    fourth = bot.take("hawaii", "bert", language="en")

    assert [turn.reply for turn in (first, second, third, fourth)] == [
        "small or medium?",
        "small or large?",
        "pepperoni or hawaii?",
        "Where to?",
    ]
    assert fourth.slots == {"size": "large", "pizza": "hawaii"}


def test_dialogue_does_not_count_a_house_number(bot):
    asked = bot.take("quiero una pizza", "carl", language="es")
    done = bot.take("calle Mayor 5, Madrid", "carl", language="es")

    assert asked.asks_for == "address"
    assert (done.intent, done.slots) == ("order_pizza", {"address": "calle Mayor 5, Madrid"})


def test_values_of_several_parts_are_shown_in_the_words_of_the_user():
    line = marked("send {amount=5 euros} to mum")
    pay = Intent("pay", (line,), slots=(Slot("amount", "money"),), responses={"en": "Sending {amount}."})
    other = Intent("bye", (marked("goodbye"),))
    matcher = Matcher.load(Registry((pay, other)), encoder=WordHashEncoder(), threshold=0.1, cache="off")
    turn = Dialogue(matcher).take("send 20 € to mum", "dora", language="en")

    assert turn.slots == {"amount": {"amount": 20, "currency": "EUR"}}
    assert turn.reply == "Sending 20 €."


@pytest.mark.parametrize(
    ("kind", "messages", "question", "value"),
    [
        ("money", ("send 20 to 30 euros to mum", "30 euros"), "20 to 30 euros?", {"amount": 30, "currency": "EUR"}),
        (
            "money",
            ("send 20 or 30 euros to mum", "20 euros"),
            "20 or 30 euros?",
            {"amount": 20, "currency": "EUR"},
        ),
        ("number", ("send 20 to 30 to mum", "25"), "20 to 30?", 25),
        ("date", ("send May 3 to May 5 to mum", "May 4"), "May 3 to May 5?", "2027-05-04"),
        ("duration", ("send 2 or 3 hours to mum", "3 hours"), "How much?", "PT3H"),
    ],
)
def test_dialogue_asks_about_a_range_or_choice_and_takes_the_answer(kind, messages, question, value):
    what = Slot("what", kind, required=True, questions={"en": "How much?"})
    send = Intent("send", (marked("send {what=5} to mum"), marked("send something")), slots=(what,))
    matcher = Matcher.load(
        Registry((send, Intent("bye", (marked("goodbye"),)))), encoder=WordHashEncoder(), threshold=0.1, cache="off"
    )
    dialogue = Dialogue(matcher)
    first, second = (dialogue.take(text, "emil", language="en", now=NOW) for text in messages)

    assert (first.intent, first.asks_for, first.reply) == (None, "what", question)
    assert (second.intent, second.slots) == ("send", {"what": value})
