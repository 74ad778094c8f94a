"""Conversations over several messages."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import tiers
from fakes import WordHashEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch import (
    Dialogue,
    Intent,
    IntentMatchError,
    Matcher,
    MemoryStore,
    Phrases,
    Registry,
    Slot,
    SlotValue,
    Utterance,
)
from intentmatch.dialogue.phrases import listed, shipped
from intentmatch.dialogue.turn_builder import TurnBuilder

NOW = datetime(2026, 5, 4, 12, 0)


def lines(language: str, *texts: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


STATUS = Intent(
    "order_status",
    (
        *lines("en", "where is my order", "track my order"),
        *lines("de", "wo bleibt meine bestellung", "verfolge meine bestellung"),
    ),
    title="Where is my order?",
    titles={"de": "Wo ist meine Bestellung?", "en": "Where is my order?"},
    responses={"en": "On its way.", "de": "Unterwegs."},
)
CANCEL = Intent(
    "cancel_order",
    (
        *lines("en", "cancel my order", "stop all my orders"),
        *lines("de", "storniere meine bestellung", "halte meine bestellung bitte an"),
    ),
    title="Cancel an order",
    titles={"de": "Bestellung stornieren", "en": "Cancel an order"},
    responses={"en": "Cancelled.", "de": "Storniert."},
)
DISH = Slot("dish", "list", (SlotValue("pizza"), SlotValue("soup")), required=True, questions={"en": "Which dish?"})
COUNT = Slot("count", "number", required=True)
FOOD = Intent(
    "order_food",
    lines("en", "i am hungry", "bring me food", "bring me pizza"),
    responses={"en": "{count} {dish}, {soon}!"},
    slots=(DISH, COUNT),
)
NOTE = Intent(
    "take_note",
    lines("en", "take a note", "write this down"),
    slots=(Slot("text", "any", required=True, questions={"en": "What shall I write?"}),),
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def loaded(*intents: Intent, **options: object) -> Matcher:
    options = {"encoder": WordHashEncoder(), "threshold": 0.4, "margin": 0.15, "cache": "off", **options}
    return Matcher.load(Registry(intents), **options)


@pytest.fixture
def bot(clock: Clock) -> Dialogue:
    return Dialogue(loaded(STATUS, CANCEL, FOOD, NOTE), store=MemoryStore(clock=clock), patience=60)


def test_clear_message_gets_the_response(bot):
    turn = bot.take("where is my order", "anna")

    assert (turn.intent, turn.reply, turn.choices, turn.asks) == ("order_status", "On its way.", (), False)
    assert turn.result is not None
    assert turn.understood


def test_out_of_scope_message_has_no_reply(bot):
    turn = bot.take("quantum chromodynamics", "anna")

    assert turn
    assert (turn.intent, turn.reply, turn.understood) == (None, None, False)


def test_ambiguous_message_gives_numbered_titles(bot):
    turn = bot.take("my order", "anna")

    assert turn.intent is None
    assert turn.asks
    assert turn.text == "Did you mean:\n1. Where is my order?\n2. Cancel an order\n3. None of these"
    assert [choice.intent for choice in turn.choices] == ["order_status", "cancel_order", None]
    assert all(bot.is_choice(choice.id) and len(choice.id) <= 20 for choice in turn.choices)


def test_question_is_in_the_language_of_the_message_or_channel(bot):
    assert bot.take("meine bestellung", "anna").text == (
        "Meinten Sie:\n1. Wo ist meine Bestellung?\n2. Bestellung stornieren\n3. Nichts davon"
    )
    assert bot.take("my order", "anna", language="fr_FR").choices[0].title == "Where is my order?"


@pytest.mark.parametrize(
    "answer",
    ["2", "2.", "(2)", "٢", "２", "Cancel an order", "cancel an ordr", "cancel order", "Bestellung stornieren!"],
)
def test_answer_may_be_a_number_or_a_title(bot, answer):
    bot.take("my order", "anna")

    turn = bot.take(answer, "anna")

    assert (turn.intent, turn.reply) == ("cancel_order", "Cancelled.")


def test_answer_may_be_a_message_that_is_clear_among_the_choices(bot):
    bot.take("my order", "anna")

    assert bot.take("cancel", "anna").intent == "cancel_order"


def test_answer_may_be_a_button_without_matching(bot):
    choices = bot.take("my order", "anna").choices

    turn = bot.take("whatever", "anna", chosen=choices[0].id)

    assert (turn.intent, turn.result) == ("order_status", None)


def test_button_works_once(bot):
    """A second press, or a button of an older question, gets `too_late`, and the open question stays."""
    first = bot.take("my order", "anna").choices
    second = bot.take("my order", "anna").choices

    late = bot.take(None, "anna", chosen=first[0].id)

    assert late
    assert (late.intent, late.reply) == (None, "That question is over. Please tell me again what you need.")
    assert bot.take(None, "anna", chosen=second[0].id).intent == "order_status"
    assert bot.take(None, "anna", chosen=second[0].id).intent is None


@pytest.mark.parametrize("pressed", ["im:", "im:x", "im::1", "im:nobody:1", "what", "", "im:x:²", 7, b"im:", {}])
def test_foreign_button_is_ignored(bot, pressed):
    bot.take("my order", "anna")

    assert bot.take("", "anna", chosen=pressed).intent is None
    assert bot.take("1", "anna").intent == "order_status"


@pytest.mark.parametrize("number", ["0", "4", "-1", "01", "²", "", "1" * 5_000])
def test_forged_button_number_is_ignored(bot, number):
    question = bot.take("my order", "anna").choices[0].id.removesuffix("1")

    assert bot.take("", "anna", chosen=question + number).intent is None
    assert bot.take("1", "anna").intent == "order_status"


def test_too_late_is_in_the_language_of_the_conversation(bot):
    assert bot.take(None, "anna", chosen="im:x:1", language="de").reply.startswith("Diese Frage ist vorbei.")
    bot.take("meine bestellung", "anna")

    late = bot.take(None, "anna", chosen="im:x:1", language="en")

    assert (late.reply.partition(".")[0], late.language) == ("Diese Frage ist vorbei", "de")


def test_none_of_these_is_not_understood(bot):
    for answer in ("3", "none of these"):
        bot.take("my order", "anna")
        turn = bot.take(answer, "anna")
        assert (turn.intent, turn.understood) == (None, False)
        assert bot.take("1", "anna").intent is None


def test_none_of_these_button_returns_the_original_message(bot):
    turn = bot.take(None, "anna", chosen=bot.take("my order", "anna").choices[-1].id)

    assert turn
    assert (turn.message, turn.reply, turn.understood) == ("my order", None, False)


CHOICES = [
    tuple(row.split("\t"))
    for row in (Path(__file__).parent / "choices.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


@pytest.mark.corpus
def test_choice_in_words_in_every_language():
    """The number of the choice; "-" if there is more than one."""
    bots, wrong = {}, []
    for language, answer, expected in tiers.rows_of(CHOICES):
        if language not in bots:
            intents = (Intent("one", lines(language, "xyzzy plugh")), Intent("other", lines(language, "xyzzy plover")))
            bots[language] = Dialogue(loaded(*intents, threshold=0.3, margin=0.3))
        bot = bots[language]
        bot.forget("anna")
        names = [choice.intent for choice in bot.take("xyzzy", "anna").choices]
        turn = bot.take(answer, "anna")
        chosen = "-" if turn.asks else str(names.index(turn.intent) + 1)
        if chosen != expected:
            wrong.append((language, answer, chosen))

    assert not wrong


@pytest.mark.parametrize(
    "answer",
    ["both", "one or two", "the two", "1 2", "the first and the second", "7", "not the second one", "the 1?"],
)
def test_answer_that_is_not_understood_gets_the_choices_again(bot, answer):
    first = bot.take("my order", "anna")
    again = bot.take(answer, "anna")

    assert again.reply == "I did not understand. Please choose one of these:"
    assert again.choices == first.choices
    assert bot.take("the second one", "anna").intent == "cancel_order"


def test_choices_are_shown_as_often_as_attempts_says(bot):
    turns = [bot.take(text, "anna") for text in ("my order", "quantum", "both")]

    assert [bool(turn.choices) for turn in turns] == [True, True, False]
    assert not turns[-1].understood


SEVERAL = """
slots: {order: {pattern: "[0-9]{4}"}}
intents:
  status: {slots: {order: {required: true}}, utterances: ["where is my order {order}", has my parcel been sent]}
  cancel: {slots: {order: {required: true}}, utterances: ["cancel order {order}", "please cancel {order}"]}
  hello: {response: Hello!, utterances: [hello, good morning, hi there]}
  thanks: {response: You are welcome., utterances: [thank you, thanks a lot, many thanks]}
"""


def test_several_requests_in_one_message_are_asked_about_each_with_its_own_values(tmp_path):
    (tmp_path / "bot.yaml").write_text(SEVERAL, encoding="utf-8")
    bot = Dialogue(Matcher.load(tmp_path, several_intents=True, cache="off"))
    message = "Where is my order 1234? And please cancel order 2001."

    for answer, intent, order in (("1", "status", "1234"), ("2", "cancel", "2001")):
        asked = bot.take(message, "anna")
        turn = bot.take(answer, "anna")

        assert [choice.intent for choice in asked.choices] == ["status", "cancel", None]
        assert (turn.intent, turn.slots) == (intent, {"order": order})


def test_courtesy_around_a_request_is_no_second_one(tmp_path):
    (tmp_path / "bot.yaml").write_text(SEVERAL, encoding="utf-8")
    bot = Dialogue(Matcher.load(tmp_path, several_intents=True, cache="off"))

    turn = bot.take("Hello there! Where is my order 1234? Thanks a lot.", "anna")

    assert (turn.intent, turn.slots, turn.result.parts) == ("status", {"order": "1234"}, ())


def test_another_request_replaces_the_question(bot):
    bot.take("my order", "anna")

    turn = bot.take("i am hungry", "anna")

    assert (turn.pending, turn.asks_for) == ("order_food", "dish")


def test_bot_asks_for_each_required_slot(bot):
    first = bot.take("i am hungry", "anna")
    second = bot.take("soup", "anna")
    third = bot.take("3", "anna")

    assert (first.reply, first.intent, first.pending, first.asks) == ("Which dish?", None, "order_food", True)
    assert (second.reply, second.asks_for) == ("Please tell me: count", "count")
    assert (third.intent, third.slots) == ("order_food", {"dish": "soup", "count": 3})
    assert third.reply == "3 soup, {soon}!"


def test_response_whose_slots_have_values_goes_first():
    food = replace(
        FOOD,
        slots=(DISH, replace(COUNT, required=False)),
        responses={"en": "{count} {dish}!"},
        more_responses={"en": ("{dish}!",)},
    )
    bot = Dialogue(loaded(food, STATUS))

    assert {bot.take("bring me pizza", name).reply for name in ("anna", "ben", "cem", "dora")} == {"pizza!"}


def test_one_answer_may_fill_several_slots(bot):
    bot.take("i am hungry", "anna")

    turn = bot.take("2 pizza", "anna")

    assert (turn.intent, turn.slots) == ("order_food", {"dish": "pizza", "count": 2})


def test_value_of_an_earlier_question_is_corrected(bot):
    bot.take("i am hungry", "anna", now=NOW)
    bot.take("pizza", "anna", now=NOW)
    again = [bot.take(text, "anna", now=NOW) for text in ("no, soup please", "oh, pizza", "soup after all")]

    assert [(turn.asks_for, turn.slots) for turn in again] == [
        ("count", {"dish": dish}) for dish in ("soup", "pizza", "soup")
    ]
    assert bot.take("3", "anna", now=NOW).slots == {"dish": "soup", "count": 3}


def test_another_request_is_answered_and_the_value_asked_for_once_more(bot):
    bot.take("bring me pizza", "anna")
    aside = bot.take("where is my order", "anna")

    assert (aside.intent, aside.reply) == ("order_status", "On its way.\nPlease tell me: count")
    assert bot.take("3", "anna").slots == {"dish": "pizza", "count": 3}


@pytest.mark.parametrize("answer", ["sorry, four I mean", "no, four", "make that four", "four actually"])
def test_another_number_corrects_the_count(answer):
    food = replace(FOOD, slots=(COUNT, Slot("at", "time", required=True)), utterances=lines("en", "bring me food"))
    bot = Dialogue(loaded(food, STATUS))
    turns = [bot.take(text, "anna") for text in ("bring me food", "three", answer, "at 8")]

    assert [turn.asks_for for turn in turns[:3]] == ["count", "at", "at"]
    assert turns[-1].slots == {"count": 4, "at": "08:00"}


@pytest.mark.parametrize("answer", ["my parcel has the number AB1234", "the parcel is AB1234", "it's AB1234, thanks"])
def test_code_that_is_asked_for_is_an_answer(answer):
    code = Slot("code", "pattern", patterns=("[A-Z]{2}[0-9]{4}",), required=True)
    track = Intent("track", lines("en", "where is my parcel", "my parcel has a number"), responses={"en": "There."})
    move = Intent("move", lines("en", "move it"), slots=(code,))
    bot = Dialogue(loaded(track, move))
    bot.take("move it", "anna")

    assert bot.take(answer, "anna").slots == {"code": "AB1234"}


@pytest.mark.parametrize(
    "answer",
    [
        "no, I don't want that any more",
        "Moment, ich hole die Schachtel",
        "yes",
        "non rien, c'est réglé",
        "no forget it",
        "I'll tell you later",
        "es geht jetzt wieder",
        "j'ai oublié le nom",
        "ну вы же знаете мой адрес",
        "要配送费吗",
    ],
)
def test_what_is_hardly_meant_as_a_note_is_asked_about_once_more(bot, answer):
    bot.take("take a note", "anna")

    assert bot.take(answer, "anna").asks_for == "text"


def sending(clock) -> Dialogue:
    amount, to = Slot("amount", "money", required=True), Slot("to", "any", required=True)
    send = Intent("send", lines("en", "send money", "send 20 euros"), slots=(amount, to))
    return Dialogue(loaded(send, STATUS), store=MemoryStore(clock=clock))


@pytest.mark.parametrize("correction", ["no, make it 30 euros instead", "no, 30 euros"])
def test_another_value_is_corrected_while_free_text_is_asked_for(clock, correction):
    bot = sending(clock)
    bot.take("send 20 euros", "anna")
    corrected = bot.take(correction, "anna")
    done = bot.take("Anna Miller", "anna")

    assert (corrected.asks_for, corrected.slots["amount"]["amount"]) == ("to", 30)
    assert (done.intent, done.slots["to"], done.slots["amount"]["amount"]) == ("send", "Anna Miller", 30)


def test_code_that_is_corrected_keeps_its_capitals(clock):
    code, reason = Slot("code", "pattern", patterns=("[A-Z]{2}[0-9]{4}",)), Slot("reason", "any", required=True)
    refund = Intent("refund", lines("en", "refund order AB1234", "refund me"), slots=(code, reason))
    bot = Dialogue(loaded(refund, STATUS), store=MemoryStore(clock=clock))
    bot.take("refund order AB1234", "anna")

    assert bot.take("no, CD5678", "anna").slots == {"code": "CD5678"}


@pytest.mark.parametrize("said", ["one moment please", "which one?", "I will tell you at 8", "no, to 12 Hill Road"])
def test_numbers_in_chatter_correct_nothing_while_free_text_is_asked_for(clock, said):
    bot = sending(clock)
    bot.take("send 20 euros", "anna")

    assert bot.take(said, "anna").slots["amount"]["amount"] == 20


@pytest.mark.parametrize(
    ("answer", "confidence", "is_other"),
    [
        ("then on Thursday please", 0.7, False),
        ("then on Thursday please", 0.95, True),
        ("are you open on Thursday?", 0.7, True),
        ("tell me when you open on Thursday", 0.7, True),
    ],
)
def test_day_that_was_asked_for_is_an_answer_though_it_is_like_another_intent(
    clock, monkeypatch, answer, confidence, is_other
):
    visit = Intent("visit", lines("en", "come by"), slots=(Slot("day", "date", required=True),))
    hours = Intent("hours", lines("en", "when are you open"), responses={"en": "From nine to five."})
    matcher = loaded(visit, hours)
    bot = Dialogue(matcher, store=MemoryStore(clock=clock))
    bot.take("come by", "anna", now=NOW)
    result = matcher.match("you are open when")
    trace = replace(result.trace, decided_by="head")
    result = replace(result, verdict="matched", intent="hours", message=answer, confidence=confidence, trace=trace)
    monkeypatch.setattr(TurnBuilder, "match", lambda *_: result)

    assert (bot.take(answer, "anna", now=NOW).intent == "hours") is is_other


def test_corrected_amount_keeps_its_currency(clock):
    pay = Intent("pay", lines("en", "pay the bill"), slots=(Slot("amount", "money", required=True),), confirm=True)
    bot = Dialogue(loaded(pay, STATUS), store=MemoryStore(clock=clock))
    turns = [bot.take(text, "anna") for text in ("pay the bill", "20 euros", "30 please")]

    assert [turn.slots.get("amount") for turn in turns[1:]] == [{"amount": n, "currency": "EUR"} for n in (20, 30)]


@pytest.mark.parametrize("answer", ["no idea", "I'm not sure", "keine Ahnung"])
def test_free_text_slot_is_asked_for_once_more_if_the_user_does_not_know(bot, answer):
    bot.take("take a note", "anna")

    assert bot.take(answer, "anna").asks_for == "text"
    assert bot.take("buy milk", "anna").slots == {"text": "buy milk"}


@pytest.mark.parametrize("answer", ["when will you write it?", "👍", "no idea", "I'd rather leave it"])
def test_what_is_hardly_free_text_is_asked_about_once_more(bot, answer):
    bot.take("take a note", "anna")

    assert bot.take(answer, "anna").asks_for == "text"


@pytest.mark.parametrize(
    "answer",
    [
        "no",
        "no onions please",
        "ring twice",
        "via Roma 15",
        "don't forget the milk",
        "leave it with the neighbour",
        "come later than six",
        "Bitte nicht klingeln",
        "北京路5号",
    ],
)
def test_free_text_may_begin_like_a_refusal(bot, answer):
    bot.take("take a note", "anna")

    assert bot.take(answer, "anna").slots == {"text": answer.removesuffix(" please")}


def test_free_text_that_is_said_again_is_meant(bot):
    bot.take("take a note", "anna")

    assert bot.take("what do you need that for", "anna").asks_for == "text"
    assert bot.take("what do you need that for", "anna").slots == {"text": "what do you need that for"}


@pytest.mark.parametrize(
    ("language", "answer", "amount"),
    [
        ("en", "ok 30", 30),
        ("en", "Well, let's say 30 then!", 30),
        ("en", "hmm 30 please", 30),
        ("de", "na gut, dann 30", 30),
        ("fr", "disons 30", 30),
        ("id", "oke 30 ribu aja", 30_000),
        ("tr", "tamam 30 olsun", 30),
        ("ja", "じゃあ30でお願いします", 30),
        ("ko", "그럼 30으로 해주세요", 30),
        ("en", "room 30", None),
        ("en", "why 30?", None),
        ("en", "30 is too much", None),
        ("de", "nur Linie 30", None),
        ("en", "ok then", None),
        ("en", "ok 30 k", 30_000),
        ("en", "no, not 30", None),
        ("en", "ok 30?", None),
        ("en", "option 1", None),
    ],
)
def test_value_is_read_among_words_that_add_nothing(language, answer, amount):
    pay = Intent("pay", lines(language, "pay"), slots=(Slot("amount", "money", required=True),))
    bot = Dialogue(loaded(pay, STATUS))
    bot.take("pay", "anna", language=language)

    turn = bot.take(answer, "anna", language=language)

    assert turn.slots.get("amount") == ({"amount": amount, "currency": None} if amount else None)
    if turn.slots:
        assert all(answer[entity.start : entity.end] == entity.text for entity in turn.entities)


@pytest.mark.parametrize("answer", ["ok, we are 4", "ok 3 of us", "only 2", "yes for one please"])
def test_count_among_other_words_is_no_hour(answer):
    taxi = Intent("taxi", lines("en", "taxi please"), slots=(Slot("at", "time", required=True),))
    bot = Dialogue(loaded(taxi, STATUS))
    bot.take("taxi please", "anna")

    assert bot.take(answer, "anna").slots == {}


@pytest.mark.parametrize(
    ("language", "answer", "count"),
    [
        ("en", "one moment please", None),
        ("en", "one sec", None),
        ("ru", "одну минуту", None),
        ("en", "one please", 1),
        ("en", "thirty i think", 30),
        ("en", "two minutes", 2),
    ],
)
def test_moment_is_no_number(language, answer, count):
    order = Intent("order", lines(language, "order"), slots=(Slot("count", "number", required=True),))
    bot = Dialogue(loaded(order, STATUS))
    bot.take("order", "anna", language=language)

    assert bot.take(answer, "anna", language=language).slots.get("count") == count


@pytest.mark.parametrize(
    ("language", "kind", "answer", "value"),
    [
        ("en", "duration", "give me five minutes, I'll check with my wife", None),
        ("zh", "date", "周五不行", None),
        ("en", "money", "50 pounds is a bit steep", None),
        ("de", "duration", "10 Minuten warte ich schon", None),
        ("en", "time", "how about 18:00?", "18:00"),
        ("en", "duration", "two minutes", "PT2M"),
        ("de", "time", "um 18 Uhr geht es auf keinen Fall", None),
        ("de", "time", "nicht vor 18 Uhr", "18:00"),
        ("it", "time", "no, alle 18 non ce la faccio", None),
        ("en", "time", "not sure, maybe at 18:00", "18:00"),
        ("es", "money", "no más de 50 euros", {"amount": 50, "currency": "EUR"}),
    ],
)
def test_value_that_is_not_given_is_asked_for_again(language, kind, answer, value):
    order = Intent("order", lines(language, "order"), slots=(Slot("it", kind, required=True),))
    bot = Dialogue(loaded(order, STATUS))
    bot.take("order", "anna", language=language)

    assert bot.take(answer, "anna", language=language).slots.get("it") == value


def test_value_that_is_said_again_is_meant():
    order = Intent("order", lines("en", "order"), slots=(Slot("it", "duration", required=True),))
    bot = Dialogue(loaded(order, STATUS))
    bot.take("order", "anna")
    assert bot.take("I'll know it in five minutes", "anna").slots == {}

    assert bot.take("I'll know it in five minutes", "anna").slots == {"it": "PT5M"}


def test_long_answers_are_read_in_little_time(clock):
    taxi = Intent("taxi", lines("en", "taxi please"), slots=(Slot("at", "time", required=True),))
    bot = Dialogue(loaded(taxi, STATUS))

    for answer in ("x" + " " * 5000 + "x", "ok, " * 1500 + "30", "no to " * 20 + "x"):
        bot.take("taxi please", "anna")
        bot.take(answer, "anna")  # took up to 42 seconds


@pytest.mark.parametrize(
    ("answer", "declined"),
    [
        ("no look, never mind, I'll come by", True),
        ("forget it! I'll call", True),
        ("never mind the rain", False),
        ("no importa, pero rápido", False),
    ],
)
def test_clause_that_ends_a_request_ends_it(answer, declined):
    pay = Intent("pay", lines("en", "pay"), slots=(Slot("amount", "money", required=True),))
    bot = Dialogue(loaded(pay, STATUS))
    bot.take("pay", "anna")

    assert bot.take(answer, "anna").declined is declined


@pytest.mark.parametrize(("request_", "asked"), [("take a note", "text"), ("i am hungry", "dish")])
@pytest.mark.parametrize("answer", ["never mind", "Cancel, please", "stop", "forget about it"])
def test_request_ends_while_a_value_is_asked_for(bot, request_, asked, answer):
    assert bot.take(request_, "anna").asks_for == asked
    turn = bot.take(answer, "anna")

    assert (turn.declined, turn.intent, turn.slots) == (True, None, {})
    assert bot.take("soup", "anna").slots == {}


@pytest.mark.parametrize("code", sorted(shipped()))
def test_request_ends_in_every_language(bot, code):
    for word in listed(shipped()[code].stop_words):
        bot.take("i am hungry", "anna", language=code)

        assert bot.take(word, "anna", language=code).declined


def test_learned_no_ends_the_request_for_a_value(bot):
    bot.take("i am hungry", "anna")

    assert bot.take("I don't want to any more", "anna").declined


def test_who_does_not_know_a_value_asks_for_nothing_else(bot):
    bot.take("i am hungry", "anna")
    asked = bot.take("not sure about my order yet", "anna")

    assert asked.asks_for == "dish"


def test_answer_may_correct_another_value(bot):
    bot.take("bring me pizza", "anna")

    assert bot.take("no, soup, 3 of it", "anna").slots == {"dish": "soup", "count": 3}


def test_free_text_slot_takes_the_whole_answer(bot):
    """Unless the answer is exactly an utterance of another intent."""
    bot.take("take a note", "anna")
    written = bot.take("cancel the milk", "anna")
    bot.take("take a note", "anna")
    other = bot.take("cancel my order", "anna")

    assert (written.intent, written.slots) == ("take_note", {"text": "cancel the milk"})
    assert other.intent == "cancel_order"


def test_bot_asks_at_most_attempts_times(bot):
    asked = [bot.take(text, "anna") for text in ("i am hungry", "quantum", "chromo", "dynamics")]

    assert [turn.asks_for for turn in asked] == ["dish", "dish", None, None]


def test_values_of_other_slots_are_kept_and_count_as_an_attempt(bot):
    turns = [bot.take(text, "anna") for text in ("bring me food", "3", "3", "3")]
    kept = [bot.take(text, "bert") for text in ("bring me food", "3", "soup")]

    assert [turn.asks_for for turn in turns] == ["dish", "dish", None, None]
    assert (kept[-1].intent, kept[-1].slots) == ("order_food", {"count": 3, "dish": "soup"})


@pytest.mark.parametrize(
    ("language", "offer", "answer", "chosen"),
    [
        ("en", "20 or 30 dollars", "30", 30),
        ("en", "20 or 30 dollars", "30 dollars", 30),
        ("en", "20 or 30 dollars", "the first one please", 20),
        ("en", "20 to 30 dollars", "25 dollars", 25),
        ("de", "20 oder 30 Euro", "das zweite", 30),
        ("fr", "20 ou 30 euros", "la deuxième", 30),
        ("es", "20 o 30 euros", "la primera", 20),
        ("ru", "20 или 30 евро", "второй", 30),
        ("en", "20 or 30 dollars", "both", None),
        ("en", "20 or 30 dollars", "dollars", None),
        ("en", "20 or 30 dollars", "the third one", None),
        ("en", "20 or 30 dollars", "neither", None),
    ],
)
def test_one_of_several_values_is_chosen_by_its_place_or_its_first_words(language, offer, answer, chosen):
    slot = Slot("sum", "money", required=True)
    pay = Intent("pay", lines(language, "xyzzy plugh"), slots=(slot,))
    bot = Dialogue(loaded(pay, STATUS))
    bot.take("xyzzy plugh", "anna")
    asked = bot.take(offer, "anna")
    turn = bot.take(answer, "anna")

    assert asked.reply == f"{offer}?"
    assert [value["amount"] for value in turn.slots.values()] == ([] if chosen is None else [chosen])


def test_another_request_ends_the_slot_questions(bot):
    bot.take("bring me pizza", "anna")

    turn = bot.take("please cancel my order number 3", "anna")

    assert turn.pending is None
    assert [choice.intent for choice in turn.choices][:1] == ["cancel_order"]


def test_repeated_request_with_a_value_is_an_answer(bot):
    bot.take("bring me food", "anna")

    assert bot.take("bring me pizza", "anna").asks_for == "count"


def test_question_expires_after_patience(bot, clock):
    bot.take("my order", "anna")
    clock.now = 61

    assert bot.take("1", "anna").intent is None


def test_conversations_are_independent(bot):
    bot.take("my order", "anna")

    assert bot.take("1", "bert").intent is None
    assert bot.take("1", "anna").intent == "order_status"


def test_forget_drops_the_question(bot):
    bot.take("my order", "anna")
    bot.forget("anna")

    assert bot.take("1", "anna").intent is None


@pytest.mark.parametrize("message", [None, "", "  ", "\n", 7, b"hello", ["hello"]])
def test_empty_message_is_falsy_and_keeps_the_question(bot, message):
    bot.take("my order", "anna")

    assert not bot.take(message, "anna")
    assert bot.take("1", "anna").intent == "order_status"


@pytest.mark.parametrize("message", ["???", "\udcff", "\0", "🙂", "a" * 20_000])
def test_any_text_gives_a_turn(bot, message):
    assert bot.take(message, "anna").intent is None


def test_repeated_call_with_the_same_turn_returns_the_cached_turn(bot):
    turn = {}
    first = bot.take("my order", "anna", turn=turn)

    assert bot.take("my order", "anna", turn=turn) is first
    assert asyncio.run(bot.atake("my order", "anna", turn=turn)) is first
    assert bot.take("1", "anna").intent == "order_status"


def test_atake_equals_take(bot):
    async def main():
        asked = await bot.atake("my order", "anna")
        return asked, await bot.atake("2", "anna")

    asked, answered = asyncio.run(main())

    assert asked.choices
    assert answered.intent == "cancel_order"


def test_question_about_a_removed_intent_is_dropped(bot):
    bot.take("my order", "anna")
    bot.take("i am hungry", "bert")
    bot.matcher = Matcher.load(Registry((STATUS, NOTE)), encoder=WordHashEncoder(), threshold=0.5, cache="off")

    assert bot.take("1", "anna").intent is None
    assert bot.take("soup", "bert").intent is None


def test_question_for_a_removed_slot_is_dropped(bot):
    bot.take("i am hungry", "anna")
    changed = Intent("order_food", FOOD.utterances, slots=(COUNT,))
    bot.matcher = Matcher.load(Registry((STATUS, changed)), encoder=WordHashEncoder(), threshold=0.5, cache="off")

    assert bot.take("bring me food", "anna").asks_for == "count"
    assert bot.take("4", "anna").slots == {"count": 4}


class Interrupted(WordHashEncoder):
    """Calls `interrupt` once before it encodes the next text."""

    def interrupt(self) -> None:
        """Do nothing; a test replaces this."""

    def encode(self, texts, *, kind="utterance"):
        interrupt, self.interrupt = self.interrupt, lambda: None
        interrupt()
        return super().encode(texts, kind=kind)


def test_reload_during_a_message_applies_to_the_next_message(tmp_path):
    file = tmp_path / "bot.yaml"
    file.write_text(
        "intents:\n  order_status: {utterances: [where is my order]}\n  cancel_order: {utterances: [cancel my order]}\n"
    )
    encoder = Interrupted()
    dialogue = Dialogue(Matcher.load(file, encoder=encoder, threshold=0.4, margin=0.3, cache="off"))
    assert dialogue.take("my order", "anna").asks

    def reload() -> None:
        file.write_text("intents:\n  take_note: {utterances: [take a note]}\n")
        dialogue.matcher.reload()

    encoder.interrupt = reload

    assert dialogue.take("my order please", "anna").asks
    assert not dialogue.take("my order please", "anna").understood
    assert dialogue.take("take a note", "anna").intent == "take_note"


words = st.sampled_from(
    [
        "my order",
        "cancel",
        "where is my order",
        "i am hungry",
        "2 pizza",
        "soup",
        "3",
        "1",
        "none of these",
        "take a note",
    ]
)
texts = words | st.text() | st.none() | st.integers() | st.binary()
DIALOGUE = Dialogue(loaded(STATUS, CANCEL, FOOD, NOTE, several_intents=True))


@settings(max_examples=60)
@given(st.lists(st.tuples(texts, st.integers(-3, 6), st.sampled_from([None, "de", "fr_CA", "??", 7]))))
def test_any_messages_and_presses_give_consistent_turns(messages):
    DIALOGUE.forget("anna")
    choices = ()
    for text, pressed, language in messages:
        chosen = choices[pressed].id if 0 <= pressed < len(choices) else "im:x:9" if pressed == -1 else None
        turn = DIALOGUE.take(text, "anna", chosen=chosen, language=language)
        choices = turn.choices or choices

        assert turn.intent is None or not turn.asks
        assert turn.reply or not turn.asks
        assert (turn.asks_for is None) == (turn.pending is None)
        assert bool(turn) or not turn.understood


class Broken:
    def put(self, conversation, text, seconds):
        raise ConnectionError("no route to the store")

    def pop(self, conversation):
        raise ConnectionError("no route to the store")


def test_failing_store_is_logged_and_loses_the_question(bot, caplog):
    forgetful = Dialogue(bot.matcher, store=Broken())

    assert forgetful.take("my order", "anna").asks
    assert forgetful.take("1", "anna").intent is None
    assert "cannot keep the open question in the store" in caplog.text


def test_own_phrases_replace_the_built_in_ones(bot):
    own = Phrases("Which?", "Neither", "And {slot}?", "Too late.")
    other = Dialogue(bot.matcher, phrases={"en": own})

    assert other.take("my order", "anna").text == "Which?\n1. Where is my order?\n2. Cancel an order\n3. Neither"
    assert other.take("neither", "anna").intent is None
    other.take("bring me pizza", "anna")
    assert other.take("pizza", "anna").reply == "And count?"


@pytest.mark.parametrize(
    "options", [{"attempts": 0}, {"patience": 0}, {"patience": float("nan")}, {"phrases": {"x": None}}]
)
def test_invalid_options_are_refused_on_creation(bot, options):
    with pytest.raises(IntentMatchError, match=r"must be|language code"):
        Dialogue(bot.matcher, **options)


def test_language_codes_of_phrases_are_normalized(bot):
    own = Phrases("Qual?", "Nenhum", "E {slot}?", "Tarde demais.")
    other = Dialogue(bot.matcher, phrases={"PT_br": own})

    assert other.take(None, "anna", chosen="im:x:1", language="pt-BR").reply == "Tarde demais."


def test_context_and_now_reach_the_matcher(clock):
    day = Slot("day", "date", required=True)
    book = Intent("book", lines("en", "book a table", "reserve a table"), slots=(day,), when=("open",))
    matcher = Matcher.load(Registry((STATUS, book)), encoder=WordHashEncoder(), threshold=0.5, cache="off")
    bot = Dialogue(matcher)

    assert bot.take("book a table", "anna").intent is None
    assert bot.take("book a table", "anna", context=["open"]).asks_for == "day"
    assert bot.take("tomorrow", "anna", now=NOW).slots == {"day": "2026-05-05"}


def follow_ups(**options: object) -> Dialogue:
    """Return a dialogue with two questions, each with a yes of its own, and a yes of small talk."""
    intents = (
        Intent("cancel", lines("en", "cancel my order", "stop the purchase"), responses={"en": "Cancel it?"}),
        Intent(
            "cancel_yes",
            lines("en", "yes", "go ahead", "please cancel"),
            title="Cancel the order",
            when=("cancelling",),
            responses={"en": "Cancelled."},
        ),
        Intent("close", lines("en", "close my account", "delete the profile"), responses={"en": "Close it?"}),
        Intent(
            "close_yes",
            lines("en", "Yes!", "go ahead", "please close"),
            title="Close the account",
            when=("closing",),
            responses={"en": "Closed."},
        ),
        Intent("agree", lines("en", "yes", "that is right"), responses={"en": "Fine."}),
    )
    matcher = Matcher.load(Registry(intents), encoder=WordHashEncoder(), threshold=0.5, cache="off")
    return Dialogue(matcher, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("yes", ["yes", "go ahead", "YES!", "yes please"])
def test_the_same_yes_answers_two_questions(yes: str) -> None:
    """The program says after each turn which question of its own is open."""
    bot = follow_ups()
    open_questions = {"cancel": ["cancelling"], "close": ["closing"]}
    said, context = [], []
    for message in ("cancel my order", yes, "close my account", yes):
        turn = bot.take(message, "anna", context=context)
        said.append((turn.intent, turn.text))
        context = open_questions.get(turn.intent or "", [])

    assert said == [
        ("cancel", "Cancel it?"),
        ("cancel_yes", "Cancelled."),
        ("close", "Close it?"),
        ("close_yes", "Closed."),
    ]
    assert bot.take("yes", "anna").intent == "agree"


def test_a_yes_to_two_open_questions_is_asked_about() -> None:
    bot = follow_ups()

    turn = bot.take("yes", "anna", context=["cancelling", "closing"])

    assert [choice.title for choice in turn.choices] == ["Cancel the order", "Close the account", "None of these"]
    answered = bot.take("2", "anna", context=["cancelling", "closing"])
    assert (answered.intent, answered.text) == ("close_yes", "Closed.")


def test_an_answer_to_which_intent_follows_the_active_tags() -> None:
    """Among the intents that were offered, the one with an active tag goes first with a shared line."""
    bot = follow_ups()
    bot.take("yes", "anna", context=["cancelling", "closing"])

    assert bot.take("go ahead", "anna", context=["closing"]).intent == "close_yes"


def test_hypotheses_from_speech_are_a_message(bot):
    turn = bot.take([("xkqzw vvbrt", 0.3), ("where is my order", 0.7)], "anna")

    assert (turn.intent, turn.reply, turn.message) == ("order_status", "On its way.", "where is my order")
    assert turn.result.message == "where is my order"
    assert "n_best" in [stage.name for stage in turn.result.trace.stages]
    assert asyncio.run(bot.atake([("cancel my order", 1)], "anna")).intent == "cancel_order"


def test_hypotheses_for_two_intents_are_asked_about(bot):
    """Each alone would be clear; the first must not be acted on."""
    turn = bot.take([("where is my order", 0.5), ("cancel my order", 0.5)], "anna")
    assert {choice.intent for choice in turn.choices} == {"order_status", "cancel_order", None}

    assert bot.take([("Cancel an order", 0.6), ("can sell an order", 0.4)], "anna").intent == "cancel_order"


def test_slots_are_read_in_the_hypothesis_that_is_answered(bot):
    asked = bot.take([("bring me pizza", 0.8), ("bring me a visa", 0.2)], "anna")
    assert (asked.asks_for, asked.slots) == ("count", {"dish": "pizza"})

    answered = bot.take((("3", 0.9), ("free", 0.1)), "anna")
    assert (answered.intent, answered.slots) == ("order_food", {"dish": "pizza", "count": 3})


@pytest.mark.parametrize(("weight", "intent"), [(0.4, "order_food"), (0.2, "order_status")])
def test_answer_needs_a_quarter_of_the_weight_against_another_request(bot, weight, intent):
    bot.take("bring me pizza", "anna")

    assert bot.take([("where is my order", 1 - weight), ("3", weight)], "anna").intent == intent


def test_button_counts_more_than_hypotheses(bot):
    turn = bot.take([("where is my order", 0.5), ("cancel my order", 0.5)], "anna")
    button = next(choice for choice in turn.choices if choice.intent == "cancel_order")

    assert bot.take([("where is my order", 1)], "anna", chosen=button.id).intent == "cancel_order"


def test_hypotheses_without_words_are_no_message(bot):
    bot.take("bring me pizza", "anna")

    assert not bot.take([("", 0.6), (" ", 0.4)], "anna")
    assert bot.take("3", "anna").intent == "order_food"
    assert bot.take({"picture": "cat.png"}, "anna").reply is None


def test_invalid_hypotheses_leave_the_question_open(bot):
    bot.take("bring me pizza", "anna")

    with pytest.raises(IntentMatchError, match="the weight of hypothesis 2 must be a finite number above 0"):
        bot.take([("3", 0.6), ("free", 0)], "anna")
    assert bot.take("3", "anna").intent == "order_food"
