"""Free text between what the utterances have around it."""

from __future__ import annotations

import time

import pytest
from slot_helpers import NOW, marked

from intentmatch.core.result import Entity
from intentmatch.slots.free import Frame, frames, free_text
from intentmatch.slots.message import Message

REMIND = (
    marked("remind me to {task=call mum}"),
    marked("remind me to {task=call mum} {when=tomorrow}"),
    marked("don't let me forget {task=the milk} please"),
    marked("提醒我{task=买牛奶}", "zh"),
    marked("{task=牛乳を買うの}を思い出させて", "ja"),
    marked("ذكرني بأن {task=أتصل}", "ar"),
)


def read(text: str, *others: Entity, among: list[Frame] | None = None, slot: str = "task") -> str | None:
    found = free_text(slot, among or frames(slot, REMIND), Message(text, "en", NOW), others)
    assert found is None or text[found.start : found.end] == found.text == found.value
    return found.text if found else None


def entity(slot: str, text: str, message: str) -> Entity:
    start = message.index(text)
    return Entity(slot, text, text, start, start + len(text))


def test_frames_are_what_stands_around_a_mark():
    """In bare form, as far as the next mark, each once."""
    (first, second, third, *_) = frames("task", (*REMIND, *REMIND))

    assert first == Frame(None, ("remind", "me", "to"), (), None)
    assert second == Frame(None, ("remind", "me", "to"), (), "when")
    assert third == Frame(None, ("dont", "let", "me", "forget"), ("please",), None)
    assert len(frames("task", (*REMIND, *REMIND))) == len(REMIND)
    assert frames("when", REMIND) == [Frame("task", (), (), None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("remind me to call mum", "call mum"),
        ("Remind me, please, to call mum!", "call mum"),
        ("could you remnid me to pay the bill?", "pay the bill"),
        ("remind me to remind me to sleep", "remind me to sleep"),
        ("don’t let me forget “the cake” please", "the cake"),
        ("dont let me forget to say please please", "to say please"),
        ("don't let me forget the milk", "the milk"),
        ("请提醒我明天去银行", "明天去银行"),
        ("牛乳を買うのを思い出させてください", "牛乳を買うの"),
        ("ذكرني بأن أشتري الحليب", "أشتري الحليب"),
        ("remind me to 👩\u200d🚀", "👩\u200d🚀"),
        ("remind me to cafe\u0301!", "cafe\u0301"),
        ("remind me to pay $5 (cash)", "pay $5 (cash)"),
        ("remind me call mum", None),
        ("remind me to", None),
        ("remind me to ...", None),
        ("to do", None),
        ("what is the weather", None),
        ("", None),
    ],
)
def test_the_text_between_is_found(text, expected):
    """Typing mistakes and words between are forgiven; the word next to it must be there."""
    assert read(text) == expected


def test_a_slot_beside_it_bounds_the_text():
    """An entity where the utterance has one; elsewhere it is part of the text, unless its slot would have none."""
    tomorrow = "remind me to call mum tomorrow"
    inside = "remind me to tell Bob that tomorrow is Friday"

    assert read(tomorrow, entity("when", "tomorrow", tomorrow)) == "call mum"
    assert read(tomorrow) == "call mum tomorrow"
    assert read(inside, entity("who", "Bob", inside)) == "tell Bob that tomorrow is Friday"
    assert read(tomorrow, entity("who", "mum", tomorrow)) == "call mum tomorrow"
    before = "remind me to on Friday: buy milk"
    assert read(before, entity("day", "on Friday", before)) == "buy milk"


def test_an_entity_at_the_edge_stays_in_the_text_where_its_slot_has_another():
    """ "Bob" is the end of what is said, because it is said to Anna."""
    utterances = (marked("tell {who=Anna} that {text=I am late}"),)
    message = "tell Anna that I am Bob"
    others = entity("who", "Anna", message), entity("who", "Bob", message)

    assert read(message, *others, among=frames("text", utterances), slot="text") == "I am Bob"


def test_text_right_behind_another_slot_begins_there():
    """Without a word between the two."""
    utterances = (marked("message {who=Anna} {text=I am late}"),)
    message = "message Anna I'll be late"

    assert (
        read(message, entity("who", "Anna", message), among=frames("text", utterances), slot="text") == "I'll be late"
    )
    assert read(message, among=frames("text", utterances), slot="text") is None


def test_an_utterance_that_is_free_text_takes_the_whole_message():
    """And where another frame fits, that one."""
    everything = [Frame(), *frames("task", REMIND)]

    assert read(" buy milk! ", among=everything) == "buy milk"
    assert read("remind me to buy milk", among=everything) == "buy milk"


def test_a_long_message_is_read_in_bounded_time():
    """Whatever it repeats."""
    many = [marked(f"word{n} me to the to me to {{task=x}} to me to word{n}") for n in range(300)]
    message = "to me " * 1600 + "word1"
    start = time.perf_counter()

    read(message, among=frames("task", many))

    assert time.perf_counter() - start < 20.0
