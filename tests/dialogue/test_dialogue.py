"""A conversation over several messages."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest
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


def loaded(*intents: Intent, **told: object) -> Matcher:
    told = {"encoder": WordHashEncoder(), "threshold": 0.4, "margin": 0.15, "cache": "off", **told}
    return Matcher.load(Registry(intents), **told)


@pytest.fixture
def bot(clock: Clock) -> Dialogue:
    return Dialogue(loaded(STATUS, CANCEL, FOOD, NOTE), store=MemoryStore(clock=clock), patience=60)


def test_what_is_clear_is_answered_at_once(bot):
    """The intent with the author's response, and nothing waits."""
    turn = bot.take("where is my order", "anna")

    assert (turn.intent, turn.reply, turn.choices, turn.asks) == ("order_status", "On its way.", (), False)
    assert turn.result is not None
    assert turn.understood


def test_what_is_out_of_scope_is_left_to_the_bot(bot):
    """There is no reply of ours, for only the bot knows what it does then."""
    turn = bot.take("quantum chromodynamics", "anna")

    assert turn
    assert (turn.intent, turn.reply, turn.understood) == (None, None, False)


def test_a_doubt_is_asked_about_with_the_titles(bot):
    """The choices are numbered, with a way out at the end, and their ids are short enough for any channel."""
    turn = bot.take("my order", "anna")

    assert turn.intent is None
    assert turn.asks
    assert turn.text == "Did you mean:\n1. Where is my order?\n2. Cancel an order\n3. None of these"
    assert [choice.intent for choice in turn.choices] == ["order_status", "cancel_order", None]
    assert all(bot.is_choice(choice.id) and len(choice.id) <= 20 for choice in turn.choices)


def test_titles_and_question_are_in_the_language_of_the_user(bot):
    """That of the message, and where it tells none, that of the channel."""
    assert bot.take("meine bestellung", "anna").text == (
        "Meinten Sie:\n1. Wo ist meine Bestellung?\n2. Bestellung stornieren\n3. Nichts davon"
    )
    assert bot.take("my order", "anna", language="fr_FR").choices[0].title == "Where is my order?"


@pytest.mark.parametrize(
    "answer",
    ["2", "2.", "(2)", "٢", "２", "Cancel an order", "cancel an ordr", "cancel order", "Bestellung stornieren!"],
)
def test_the_answer_may_be_a_number_or_the_title(bot, answer):
    """In any script, with any punctuation, mistyped or in another language."""
    bot.take("my order", "anna")

    turn = bot.take(answer, "anna")

    assert (turn.intent, turn.reply) == ("cancel_order", "Cancelled.")


def test_the_answer_may_be_in_words_of_its_own(bot):
    """What is ambiguous among all may be clear among those that were asked about."""
    bot.take("my order", "anna")

    assert bot.take("cancel", "anna").intent == "cancel_order"


def test_the_answer_may_be_a_button(bot):
    """Whatever text comes with it; no model is asked."""
    choices = bot.take("my order", "anna").choices

    turn = bot.take("whatever", "anna", chosen=choices[0].id)

    assert (turn.intent, turn.result) == ("order_status", None)


def test_a_button_is_good_for_one_press(bot):
    """A second press, or one of an older question, is told so, and what is asked now goes on waiting."""
    first = bot.take("my order", "anna").choices
    second = bot.take("my order", "anna").choices

    late = bot.take(None, "anna", chosen=first[0].id)

    assert late
    assert (late.intent, late.reply) == (None, "That question is over. Please tell me again what you need.")
    assert bot.take(None, "anna", chosen=second[0].id).intent == "order_status"
    assert bot.take(None, "anna", chosen=second[0].id).intent is None


@pytest.mark.parametrize("pressed", ["im:", "im:x", "im::1", "im:nobody:1", "what", "", "im:x:²", 7, b"im:", {}])
def test_a_button_of_someone_elses_presses_nothing(bot, pressed):
    """What the id is does not matter."""
    bot.take("my order", "anna")

    assert bot.take("", "anna", chosen=pressed).intent is None
    assert bot.take("1", "anna").intent == "order_status"


@pytest.mark.parametrize("number", ["0", "4", "-1", "01", "²", "", "1" * 5_000])
def test_a_button_has_one_of_the_numbers_there_are(bot, number):
    """Whoever makes up an id presses nothing."""
    question = bot.take("my order", "anna").choices[0].id.removesuffix("1")

    assert bot.take("", "anna", chosen=question + number).intent is None
    assert bot.take("1", "anna").intent == "order_status"


def test_a_late_press_is_told_so_in_the_language_of_the_conversation(bot):
    """That of what is asked now, else that of the channel."""
    assert bot.take(None, "anna", chosen="im:x:1", language="de").reply.startswith("Diese Frage ist vorbei.")
    bot.take("meine bestellung", "anna")

    late = bot.take(None, "anna", chosen="im:x:1", language="en")

    assert (late.reply.partition(".")[0], late.language) == ("Diese Frage ist vorbei", "de")


def test_none_of_these_is_not_understood(bot):
    """By number, in words or by button: the bot's fallback is due, and nothing waits any more."""
    for answer in ("3", "none of these"):
        bot.take("my order", "anna")
        turn = bot.take(answer, "anna")
        assert (turn.intent, turn.understood) == (None, False)
        assert bot.take("1", "anna").intent is None


def test_none_of_these_may_be_a_button(bot):
    """What was asked about is then the message that is not understood: a fallback has something to go by."""
    turn = bot.take(None, "anna", chosen=bot.take("my order", "anna").choices[-1].id)

    assert turn
    assert (turn.message, turn.reply, turn.understood) == ("my order", None, False)


def test_another_request_is_no_answer(bot):
    """Whoever asks for something else gets that."""
    bot.take("my order", "anna")

    turn = bot.take("i am hungry", "anna")

    assert (turn.pending, turn.asks_for) == ("order_food", "dish")


def test_a_required_slot_is_asked_for_until_it_is_there(bot):
    """With the author's question, or with one of ours; at the end the response holds the values."""
    first = bot.take("i am hungry", "anna")
    second = bot.take("soup", "anna")
    third = bot.take("3", "anna")

    assert (first.reply, first.intent, first.pending, first.asks) == ("Which dish?", None, "order_food", True)
    assert (second.reply, second.asks_for) == ("Please tell me: count", "count")
    assert (third.intent, third.slots) == ("order_food", {"dish": "soup", "count": 3})
    assert third.reply == "3 soup, {soon}!"


def test_one_answer_may_hold_several_slots(bot):
    """What is said beside the one that was asked for is not asked for again."""
    bot.take("i am hungry", "anna")

    turn = bot.take("2 pizza", "anna")

    assert (turn.intent, turn.slots) == ("order_food", {"dish": "pizza", "count": 2})


def test_free_text_that_is_asked_for_is_the_whole_answer(bot):
    """Whatever else it might mean, unless it is another request to the letter."""
    bot.take("take a note", "anna")
    written = bot.take("cancel the milk", "anna")
    bot.take("take a note", "anna")
    other = bot.take("cancel my order", "anna")

    assert (written.intent, written.slots) == ("take_note", {"text": "cancel the milk"})
    assert other.intent == "cancel_order"


def test_a_slot_is_asked_for_so_many_times_and_no_more(bot):
    """Then the bot's fallback is due."""
    asked = [bot.take(text, "anna") for text in ("i am hungry", "quantum", "chromo", "dynamics")]

    assert [turn.asks_for for turn in asked] == ["dish", "dish", None, None]


def test_answers_beside_the_question_do_not_make_it_endless(bot):
    """They are kept, and the question counts as asked."""
    turns = [bot.take(text, "anna") for text in ("bring me food", "3", "3", "3")]
    kept = [bot.take(text, "bert") for text in ("bring me food", "3", "soup")]

    assert [turn.asks_for for turn in turns] == ["dish", "dish", None, None]
    assert (kept[-1].intent, kept[-1].slots) == ("order_food", {"count": 3, "dish": "soup"})


def test_another_request_ends_the_questions(bot):
    """Even where it happens to hold a value."""
    bot.take("bring me pizza", "anna")

    turn = bot.take("please cancel my order number 3", "anna")

    assert turn.pending is None
    assert [choice.intent for choice in turn.choices][:1] == ["cancel_order"]


def test_the_same_request_with_more_in_it_goes_on(bot):
    """Whoever says it again, with the value, has answered."""
    bot.take("bring me food", "anna")

    assert bot.take("bring me pizza", "anna").asks_for == "count"


def test_a_question_waits_for_so_long(bot, clock):
    """After that, a message is one of its own."""
    bot.take("my order", "anna")
    clock.now = 61

    assert bot.take("1", "anna").intent is None


def test_conversations_do_not_know_of_each_other(bot):
    """What Anna was asked, Bert does not answer."""
    bot.take("my order", "anna")

    assert bot.take("1", "bert").intent is None
    assert bot.take("1", "anna").intent == "order_status"


def test_a_bot_may_forget_what_it_asked(bot):
    """When it takes another course."""
    bot.take("my order", "anna")
    bot.forget("anna")

    assert bot.take("1", "anna").intent is None


@pytest.mark.parametrize("message", [None, "", "  ", "\n", 7, b"hello", ["hello"]])
def test_no_message_is_nothing_and_disturbs_nothing(bot, message):
    """A picture, a sticker, an edit: what waits goes on waiting."""
    bot.take("my order", "anna")

    assert not bot.take(message, "anna")
    assert bot.take("1", "anna").intent == "order_status"


@pytest.mark.parametrize("message", ["???", "\udcff", "\0", "🙂", "a" * 20_000])
def test_any_text_makes_a_turn(bot, message):
    """Nothing that a user may send is an error."""
    assert bot.take(message, "anna").intent is None


def test_a_message_is_taken_once_a_turn(bot):
    """Whoever asks again during the turn gets the same answer, and no model is asked."""
    turn = {}
    first = bot.take("my order", "anna", turn=turn)

    assert bot.take("my order", "anna", turn=turn) is first
    assert asyncio.run(bot.atake("my order", "anna", turn=turn)) is first
    assert bot.take("1", "anna").intent == "order_status"


def test_an_event_loop_goes_on_meanwhile(bot):
    """`atake` gives what `take` does."""

    async def main():
        asked = await bot.atake("my order", "anna")
        return asked, await bot.atake("2", "anna")

    asked, answered = asyncio.run(main())

    assert asked.choices
    assert answered.intent == "cancel_order"


def test_intents_that_are_gone_are_not_waited_for(bot):
    """After a reload without them, an answer is a message of its own."""
    bot.take("my order", "anna")
    bot.take("i am hungry", "bert")
    bot.matcher = Matcher.load(Registry((STATUS, NOTE)), encoder=WordHashEncoder(), threshold=0.5, cache="off")

    assert bot.take("1", "anna").intent is None
    assert bot.take("soup", "bert").intent is None


def test_a_slot_that_is_gone_is_asked_for_no_more(bot):
    """The intent is still there, and no longer needs it."""
    bot.take("i am hungry", "anna")
    changed = Intent("order_food", FOOD.utterances, slots=(COUNT,))
    bot.matcher = Matcher.load(Registry((STATUS, changed)), encoder=WordHashEncoder(), threshold=0.5, cache="off")

    assert bot.take("bring me food", "anna").asks_for == "count"
    assert bot.take("4", "anna").slots == {"count": 4}


class Interrupted(WordHashEncoder):
    """Lets something happen before the next text is encoded."""

    def happens(self) -> None:
        """Nothing, for now."""

    def encode(self, texts, *, kind="utterance"):
        happens, self.happens = self.happens, lambda: None
        happens()
        return super().encode(texts, kind=kind)


def test_a_reload_in_the_middle_of_a_message_waits_for_the_next(tmp_path):
    """A message is about one registry from beginning to end."""
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

    encoder.happens = reload

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
def test_nothing_that_users_do_is_an_error(said):
    """Whatever they say and press, in whatever order: each time there is a turn that makes sense."""
    DIALOGUE.forget("anna")
    choices = ()
    for text, pressed, language in said:
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


def test_a_store_that_fails_makes_every_message_one_of_its_own(bot, caplog):
    """And says so in the log."""
    forgetful = Dialogue(bot.matcher, store=Broken())

    assert forgetful.take("my order", "anna").asks
    assert forgetful.take("1", "anna").intent is None
    assert "cannot be kept in the store" in caplog.text


def test_phrases_may_be_ones_own(bot):
    """For a language that has none, or in place of those that are shipped."""
    own = Phrases("Which?", "Neither", "And {slot}?", "Too late.")
    curt = Dialogue(bot.matcher, phrases={"en": own})

    assert curt.take("my order", "anna").text == "Which?\n1. Where is my order?\n2. Cancel an order\n3. Neither"
    assert curt.take("neither", "anna").intent is None
    curt.take("bring me pizza", "anna")
    assert curt.take("pizza", "anna").reply == "And count?"


@pytest.mark.parametrize(
    "told", [{"attempts": 0}, {"patience": 0}, {"patience": float("nan")}, {"phrases": {"x": None}}]
)
def test_what_cannot_be_is_told_at_once(bot, told):
    """When the bot starts, and not when it first asks."""
    with pytest.raises(IntentMatchError, match=r"must be|language code"):
        Dialogue(bot.matcher, **told)


def test_phrases_are_found_whatever_the_case_of_their_code(bot):
    """As programs write them."""
    own = Phrases("Qual?", "Nenhum", "E {slot}?", "Tarde demais.")
    curt = Dialogue(bot.matcher, phrases={"PT_br": own})

    assert curt.take(None, "anna", chosen="im:x:1", language="pt-BR").reply == "Tarde demais."


def test_tags_and_time_reach_the_matcher(clock):
    """`context` opens intents with `when`, and `now` is what "tomorrow" counts from."""
    day = Slot("day", "date", required=True)
    book = Intent("book", lines("en", "book a table", "reserve a table"), slots=(day,), when=("open",))
    matcher = Matcher.load(Registry((STATUS, book)), encoder=WordHashEncoder(), threshold=0.5, cache="off")
    bot = Dialogue(matcher)

    assert bot.take("book a table", "anna").intent is None
    assert bot.take("book a table", "anna", context=["open"]).asks_for == "day"
    assert bot.take("tomorrow", "anna", now=NOW).slots == {"day": "2026-05-05"}
