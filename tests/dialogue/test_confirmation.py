"""Yes-or-no questions: before an intent with `confirm`, and about a message that refuses its intent."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest
import tiers
from fakes import WordHashEncoder

from intentmatch import Dialogue, Intent, Matcher, MemoryStore, Registry, Slot, SlotValue, Utterance
from intentmatch.dialogue.answers import yes_or_no
from intentmatch.dialogue.phrases import listed, shipped


def lines(language: str, *texts: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


CANCEL = Intent(
    "cancel_order",
    (*lines("en", "cancel my order", "stop all my orders"), *lines("de", "storniere meine bestellung")),
    titles={"de": "Bestellung stornieren", "en": "Cancel an order"},
    title="Cancel an order",
    responses={"en": "Cancelled.", "de": "Storniert."},
    confirm=True,
)
STATUS = Intent("order_status", lines("en", "where is my order", "track my order"), responses={"en": "On its way."})
DISH = Slot("dish", "list", (SlotValue("pizza"), SlotValue("soup")), required=True, questions={"en": "Which dish?"})
FOOD = Intent(
    "order_food",
    lines("en", "i am hungry", "bring me food", "bring me pizza"),
    responses={"en": "One {dish}!"},
    slots=(DISH,),
    confirm=True,
)
AGREE = Intent("agree", lines("en", "yes", "so be it", "make it so"))
REFUSE = Intent("refuse", lines("en", "no", "leave it be", "heaven forbid"))


def dialogue(*intents: Intent, **options: int) -> Dialogue:
    matcher = Matcher.load(Registry(intents), encoder=WordHashEncoder(), threshold=0.4, margin=0.15, cache="off")
    return Dialogue(matcher, **options)


@pytest.fixture(scope="module")
def bot() -> Dialogue:
    return dialogue(CANCEL, STATUS, FOOD, AGREE, REFUSE)


@pytest.fixture(autouse=True)
def forgotten(bot: Dialogue) -> None:
    bot.forget("anna")


def test_yes_that_names_another_request_or_adds_something_is_none():
    lock = Intent("lock", lines("en", "lock the door", "lock the door with the chain"), confirm=True)
    unlock = Intent("unlock", lines("en", "unlock the door", "unlock it"))
    bot = dialogue(lock, unlock)
    for answer in ("yes, unlock the door", "yes without the chain please"):
        bot.take("lock the door", "anna")

        assert bot.take(answer, "anna").intent != "lock"


def test_request_is_repeated_in_letters_with_accents_behind_a_yes():
    call_off = Intent("call_off", lines("pl", "chcę odwołać wizytę", "odwołuję wizytę"), confirm=True)
    bot = dialogue(call_off)
    bot.take("odwołuję wizytę", "anna")

    assert bot.take("no tak, proszę odwołać", "anna").intent == "call_off"


@pytest.mark.parametrize(("answer", "done", "declined"), [("hmm, no", False, True), ("eh, yes", True, False)])
def test_sounds_before_an_answer_are_none_of_it(bot, answer, done, declined):
    bot.take("cancel my order", "anna")
    turn = bot.take(answer, "anna")

    assert (turn.intent is not None, turn.declined) == (done, declined)


def test_yes_with_a_form_of_the_request_keeps_values_of_several_parts():
    amount = Slot("amount", "money")
    pay = Intent("pay", lines("en", "pay the bill", "pay 20 euros", "transfer money"), slots=(amount,), confirm=True)
    bot = dialogue(pay)
    bot.take("pay 20 euros", "anna")
    done = bot.take("yes, transferring", "anna")

    assert (done.intent, done.slots["amount"]["amount"]) == ("pay", 20)


@pytest.mark.parametrize(
    ("request_", "answer", "done", "declined"),
    [
        ("cancel my order", "cancel", False, False),  # a yes or a no: asked again
        ("cancel my order", "never mind", False, True),
        ("bring me pizza", "cancel", False, True),
        ("storniere meine bestellung", "ja, stornieren bitte", True, False),
        ("storniere meine bestellung", "ja, aber erst morgen stornieren", False, False),
        ("storniere meine bestellung", "ja, die stornierungen von gestern", False, False),
    ],
)
def test_words_of_the_request_confirm_it_behind_a_yes_and_are_no_refusal_of_it(bot, request_, answer, done, declined):
    asked = bot.take(request_, "anna")
    turn = bot.take(answer, "anna")

    assert asked.pending
    assert (turn.intent is not None, turn.declined) == (done, declined)


def test_intent_is_asked_about_before_it_is_handed_over(bot):
    asked = bot.take("cancel my order", "anna")
    confirmed = bot.take("yes", "anna")

    assert (asked.intent, asked.asks, asked.pending, asked.reply) == (None, True, "cancel_order", "Cancel an order?")
    assert asked.text == "Cancel an order?\n1. Yes\n2. No"
    assert [choice.intent for choice in asked.choices] == ["cancel_order", None]
    assert all(bot.is_choice(choice.id) and len(choice.id) <= 20 for choice in asked.choices)
    assert not asked.answers
    assert (confirmed.intent, confirmed.reply, confirmed.asks) == ("cancel_order", "Cancelled.", False)
    assert confirmed.answers


def test_answer_may_be_in_the_language_of_the_channel(bot):
    for answer, intent in (("ja", "cancel_order"), ("ja, aber morgen", None), ("lieber nicht", None)):
        bot.take("cancel my order", "anna", language="de")

        assert bot.take(answer, "anna", language="de").intent == intent


def test_intent_without_confirm_is_handed_over(bot):
    assert bot.take("where is my order", "anna").intent == "order_status"


def test_question_is_in_the_language_of_the_user(bot):
    asked = bot.take("storniere meine bestellung", "anna")

    assert asked.text == "Bestellung stornieren?\n1. Ja\n2. Nein"
    assert bot.take("ja bitte", "anna").reply == "Storniert."


@pytest.mark.parametrize(
    ("title", "question"),
    [(None, "Cancel order?"), ("Cancel it?", "Cancel it?"), ("取消？", "取消?"), ("¿Anular?", "Anular?")],
)
def test_question_is_made_of_the_title_or_the_name(title, question):
    bot = dialogue(replace(CANCEL, title=title, titles={}), STATUS)

    assert bot.take("cancel my order", "anna").reply == question


@pytest.mark.parametrize(
    "answer",
    ["yes", "Yes!", "yep", "1", "yes please", "yes, please do it", "ok go ahead", "so be it", "yes, cancel my order"],
)
def test_yes_in_many_words(bot, answer):
    bot.take("cancel my order", "anna")

    assert bot.take(answer, "anna").intent == "cancel_order"


@pytest.mark.parametrize(
    "answer",
    ["no", "NO!!", "nope", "2", "no, please don't cancel my order", "don't cancel my order", "no, stop it"],
)
def test_no_in_many_words_drops_the_intent(bot, answer):
    bot.take("cancel my order", "anna")

    declined = bot.take(answer, "anna")

    assert (declined.intent, declined.declined, declined.pending) == (None, True, "cancel_order")
    assert declined.reply == "All right, I will not do that."
    assert declined.understood
    assert not declined.asks
    assert bot.take("yes", "anna").intent == "agree"


def test_own_intent_for_no_drops_the_intent(bot):
    bot.take("cancel my order", "anna")

    assert bot.take("heaven forbid", "anna").declined


@pytest.mark.parametrize("code", sorted(shipped()))
def test_yes_and_no_are_understood_in_every_language_of_the_phrases(code):
    said = shipped()[code]
    registry = Registry((replace(CANCEL, utterances=lines(code, "xyzzy")), STATUS))
    bot = Dialogue(Matcher.load(registry, encoder=WordHashEncoder(), threshold=0.4, cache="off"))

    for word in (said.yes, *said.yes_words.split(",")):
        bot.take("xyzzy", "anna")
        assert bot.take(word, "anna").intent == "cancel_order"
    for word in (said.no, *said.no_words.split(",")):
        bot.take("xyzzy", "anna")
        assert bot.take(word, "anna").declined


def test_buttons_confirm_and_decline_once(bot):
    first, second = bot.take("cancel my order", "anna").choices
    assert bot.take(None, "anna", chosen=first.id).intent == "cancel_order"
    assert bot.take(None, "anna", chosen=second.id).reply.startswith("That question is over.")

    _, second = bot.take("cancel my order", "anna").choices
    assert bot.take(second.title, "anna", chosen=second.id).declined


def test_another_request_is_answered_and_the_question_asked_once_more(bot):
    bot.take("cancel my order", "anna")
    aside = bot.take("where is my order", "anna")

    assert (aside.intent, aside.reply) == ("order_status", "On its way.\nCancel an order?\n1. Yes\n2. No")
    assert bot.take("yes", "anna").intent == "cancel_order"


@pytest.mark.parametrize("asides", [["no, where is my order"], ["where is my order"] * 2])
def test_question_ends_with_a_no_or_after_a_second_request(bot, asides):
    bot.take("cancel my order", "anna")
    for aside in asides:
        assert bot.take(aside, "anna").intent == "order_status"

    assert bot.take("yes", "anna").intent == "agree"


def test_question_that_the_program_hides_is_closed() -> None:
    bot = dialogue(CANCEL, replace(STATUS, responses={}), AGREE)
    bot.take("cancel my order", "anna")
    bot.take("where is my order", "anna")

    assert bot.take("yes", "anna").intent == "agree"


def test_yes_and_another_request_leaves_the_question_open(bot):
    bot.take("cancel my order", "anna")
    aside = bot.take("yes and where is my order", "anna")

    assert (aside.intent, bot.take("yes", "anna").intent) == ("order_status", "cancel_order")


def test_repeated_request_is_asked_about_again(bot):
    bot.take("cancel my order", "anna")

    assert bot.take("cancel my order", "anna").pending == "cancel_order"


def test_other_answers_are_asked_again_as_often_as_attempts_says(bot):
    asked = [bot.take(text, "anna") for text in ("cancel my order", "quantum", "chromodynamics")]

    assert [turn.pending for turn in asked] == ["cancel_order", "cancel_order", None]
    assert [turn.understood for turn in asked] == [True, True, False]


def test_slots_are_asked_for_first(bot):
    which = bot.take("i am hungry", "anna")
    asked = bot.take("soup", "anna")
    confirmed = bot.take("yes", "anna")

    assert (which.asks_for, which.choices) == ("dish", ())
    assert (asked.reply, asked.slots) == ("Order food: soup?", {"dish": "soup"})
    assert (confirmed.intent, confirmed.slots, confirmed.reply) == ("order_food", {"dish": "soup"}, "One soup!")


def test_chosen_intent_is_asked_about_too():
    bot = dialogue(CANCEL, STATUS)
    bot.take("my order", "anna")

    assert bot.take("cancel an order", "anna").reply == "Cancel an order?"
    assert bot.take("yes", "anna").intent == "cancel_order"


def test_question_about_a_removed_intent_is_dropped(bot):
    store = MemoryStore()
    Dialogue(bot.matcher, store=store).take("cancel my order", "anna")
    smaller = Matcher.load(Registry((STATUS,)), encoder=WordHashEncoder(), threshold=0.5, cache="off")

    assert Dialogue(smaller, store=store).take("yes", "anna").intent is None


def test_message_that_refuses_its_intent_is_asked_about():
    """With or without `confirm`, and only once."""
    for confirm in (True, False):
        bot = dialogue(replace(CANCEL, confirm=confirm), FOOD)

        asked = bot.take("please don't cancel my order", "anna")

        assert (asked.text, asked.pending) == ("Cancel an order?\n1. Yes\n2. No", None)
        assert bot.take("yes", "anna").intent == "cancel_order"
        bot.take("please don't cancel my order", "anna")
        assert bot.take("no", "anna").declined


def test_slots_of_a_refusing_message_are_kept():
    bot = dialogue(replace(FOOD, utterances=lines("en", "bring me pizza", "bring me food")), STATUS)

    asked = bot.take("please don't bring me pizza", "anna")
    confirmed = bot.take("yes", "anna")

    assert asked.slots == {"dish": "pizza"}
    assert (confirmed.intent, confirmed.slots) == ("order_food", {"dish": "pizza"})


def test_yes_to_an_intent_is_none_to_the_values_that_are_asked_for_next():
    bot = dialogue(replace(FOOD, utterances=lines("en", "bring me food", "bring me some food")), STATUS)
    bot.take("please don't bring me food", "anna")

    assert bot.take("yes", "anna").asks_for == "dish"
    assert bot.take("soup", "anna").reply == "Order food: soup?"
    assert bot.take("yes", "anna").intent == "order_food"


def test_refusal_ends_the_question_for_a_slot(bot):
    bot.take("bring me food", "anna")

    declined = bot.take("please don't bring me food", "anna")

    assert (declined.declined, declined.pending) == (True, "order_food")


OWN_WORDS = {"": (), "with intents for yes and no": (AGREE, REFUSE)}


@pytest.mark.parametrize("intents", OWN_WORDS.values(), ids=OWN_WORDS)
@pytest.mark.parametrize(
    "answer",
    [
        *("of course not", "yes but not now", "yes if it is free", "yes, no", "no yes", "so be it but later", "yes?"),
        *(
            "yes so be it not",
            "make it so?",
            "sure not",
            "yes for 3 people",
            "yes 👎",
            "thanks",
            "please, thanks",
            "🙏",
        ),
        *("make it tomorrow", "yes, cancel my order if it is late", "yes, cancel my orders tomorrow", "y es no"),
    ],
)
def test_answer_that_says_more_than_yes_is_not_carried_out(answer, intents):
    bot = dialogue(CANCEL, FOOD, *intents)
    bot.take("cancel my order", "anna")

    turn = bot.take(answer, "anna")

    assert turn.intent is None
    assert turn.asks or turn.declined
    bot = dialogue(replace(CANCEL, confirm=False), FOOD, *intents)
    assert bot.take("please don't cancel my order", "anna").asks
    assert bot.take(answer, "anna").intent is None


@pytest.mark.parametrize(("answer", "asks"), [("yes?", True), ("yes, track my order", False), ("yes sir?", False)])
def test_what_follows_a_yes_is_a_request_only_if_it_asks_for_something(answer, asks):
    bot = dialogue(
        CANCEL, STATUS, Intent("salute", lines("en", "yes sir", "at your service"), responses={"en": "Sir!"})
    )
    bot.take("cancel my order", "anna")

    assert bot.take(answer, "anna").asks == asks


@pytest.mark.parametrize(("answer", "confirmed"), [("sim", True), ("não", False)])
def test_bot_with_lines_in_two_languages_is_answered_in_either(answer, confirmed):
    close = Intent(
        "close",
        (
            *lines("es", "quiero darme de baja", "cierra mi cuenta"),
            *lines("pt", "quero sair", "não quero mais a conta"),
        ),
        titles={"es": "Darse de baja", "pt": "Cancelar a conta"},
        confirm=True,
    )
    bot = dialogue(close, Intent("hours", (*lines("es", "a qué hora abren"), *lines("pt", "a que horas abrem sim"))))
    bot.take("quiero darme de baja", "anna")

    assert (bot.take(answer, "anna").intent == "close") == confirmed


@pytest.mark.parametrize(
    "answer", ["YESSS!!", "yes yes", "👍🏽", "ok 👍 thanks", "so be it, please", "yes make it so", "(yes)"]
)
def test_yes_may_be_repeated_lengthened_or_polite(bot, answer):
    bot.take("cancel my order", "anna")

    assert bot.take(answer, "anna").intent == "cancel_order"


def test_words_that_differ_by_accents_only_are_no_yes_without_them():
    """In Vietnamese "đúng" is right and "đừng" is don't."""
    registry = Registry((replace(CANCEL, utterances=lines("vi", "xyzzy")), STATUS))
    bot = Dialogue(Matcher.load(registry, encoder=WordHashEncoder(), threshold=0.4, cache="off"))
    for answer, intent in (("đúng", "cancel_order"), ("đừng", None), ("dung", None), ("dong y", "cancel_order")):
        bot.forget("anna")
        bot.take("xyzzy", "anna")
        assert bot.take(answer, "anna").intent == intent


def test_yes_with_another_value_is_not_carried_out_with_the_old_one(bot):
    bot.take("bring me pizza", "anna")
    assert bot.take("yes, bring me soup", "anna").intent is None


def test_request_that_is_a_word_for_no_is_not_read_as_a_repetition():
    bot = dialogue(replace(CANCEL, utterances=lines("en", "cancel my order", "no")), STATUS)
    bot.take("cancel my order", "anna")

    assert bot.take("yes, no", "anna").intent is None


def test_line_of_an_intent_near_yes_is_no_yes():
    """Only an intent that has the word for yes among its lines agrees."""
    chat = Intent("chat", lines("en", "yes my dear friend", "good evening friend"))
    bot = dialogue(CANCEL, STATUS, chat)
    bot.take("cancel my order", "anna")

    assert bot.take("good evening friend", "anna").intent != "cancel_order"


@functools.cache
def bot_in(code: str, own: bool) -> Dialogue:
    said = shipped()[code]
    intents = [replace(CANCEL, utterances=lines(code, "xyzzy")), replace(STATUS, utterances=lines(code, "plugh"))]
    if own:
        for name, words in (
            ("agree", [said.yes, *listed(said.yes_words)]),
            ("refuse", [said.no, *listed(said.no_words)]),
        ):
            intents.append(Intent(name, lines(code, *dict.fromkeys(words[:7]))))
    return dialogue(*intents)


def answers(name: str) -> list[tuple[str, str]]:
    _, *rows = (Path(__file__).parent / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(code, answer) for code, answer in (row.split("\t") for row in rows)]


@pytest.mark.corpus
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("name", "confirms"), [("yeses", True), ("refusals", False)])
def test_answers_in_every_language(name, confirms, own):
    """`refusals.tsv` has refusals, conditions, hedges and questions."""
    rows = tiers.rows_of(answers(name))

    wrong = []
    for code, answer in rows:
        bot = bot_in(code, own)
        bot.forget("anna")
        bot.take("xyzzy", "anna")
        if (bot.take(answer, "anna").intent == "cancel_order") != confirms:
            wrong.append((code, answer))

    assert not wrong


@pytest.mark.parametrize("code", sorted(shipped()))
def test_yes_word_beside_a_no_word_is_never_carried_out(code):
    said = shipped()[code]
    yes, no = listed(said.yes_words)[:6], listed(said.no_words)[:6]

    for answer in (f"{one} {other}" for pair in zip(yes, no, strict=False) for one, other in (pair, pair[::-1])):
        read = yes_or_no(answer, [said])
        assert read is not None
        assert not read.yes


@pytest.mark.parametrize("message", ["no, soup", "soup instead", "I meant the soup"])
def test_value_is_corrected_before_it_is_confirmed(bot, message):
    """Otherwise "no" would drop the request, and a yes to the same question again would bring what was corrected."""
    bot.take("bring me pizza", "anna")
    asked = bot.take(message, "anna")
    confirmed = bot.take("yes", "anna")

    assert (asked.reply, asked.slots) == ("Order food: soup?", {"dish": "soup"})
    assert (confirmed.intent, confirmed.slots) == ("order_food", {"dish": "soup"})


@pytest.mark.parametrize("message", ["no", "no, no pizza", "no, not soup"])
def test_message_without_another_value_corrects_nothing(bot, message):
    bot.take("bring me pizza", "anna")

    assert bot.take(message, "anna").declined


def test_other_request_with_a_value_corrects_nothing(bot):
    bot.take("bring me pizza", "anna")

    assert bot.take("where is my order of soup", "anna").intent == "order_status"


def test_request_that_is_repeated_keeps_its_values(bot):
    bot.take("bring me pizza", "anna")
    asked = bot.take("bring me food", "anna")

    assert (asked.reply, asked.slots) == ("Order food: pizza?", {"dish": "pizza"})
    assert bot.take("yes", "anna").slots == {"dish": "pizza"}


@pytest.mark.parametrize(
    "answer", ["hmm no", "I said no", "um no", "eh, no", "no, I'll keep it", "no, leave it as it is"]
)
def test_no_among_other_words_is_a_no(bot, answer):
    bot.take("cancel my order", "anna")

    assert bot.take(answer, "anna").declined


@pytest.mark.parametrize("answer", ["yes, pizza", "yes, bring me pizza", "ok bring me the pizza please"])
def test_yes_may_repeat_words_of_the_request_and_its_values(bot, answer):
    bot.take("bring me pizza", "anna")

    assert bot.take(answer, "anna").slots == {"dish": "pizza"}


@pytest.mark.parametrize("answer", ["yes, soup", "yes, bring me soup", "yes, bring me pizza tomorrow"])
def test_yes_with_something_else_carries_nothing_out(bot, answer):
    bot.take("bring me pizza", "anna")

    assert bot.take(answer, "anna").intent is None


@pytest.mark.parametrize("answer", ["no, it is 21 Hill Road", "sorry, 21 Hill Road", "the number is 21"])
def test_free_text_is_asked_for_again_after_a_no_or_a_number(answer: str) -> None:
    address = Slot("address", "any", required=True, questions={"en": "Where to?"})
    move = Intent("move", lines("en", "change my address"), title="Move", slots=(address,), confirm=True)
    bot = dialogue(move, STATUS)
    turns = [bot.take(text, "anna") for text in ("change my address", "12 Hill Road", answer)]

    assert [turn.reply for turn in turns] == ["Where to?", "Move: 12 Hill Road?", "Where to?"]
    assert bot.take("21 Hill Road", "anna").reply == "Move: 21 Hill Road?"
