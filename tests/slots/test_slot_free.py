"""Free text between the words that surround it in the utterances."""

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


def test_frames_hold_the_words_around_a_mark():
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
def test_free_text_is_found_despite_typos_and_extra_words(text, expected):
    """The word next to it is required."""
    assert read(text) == expected


def test_neighbouring_slot_bounds_the_free_text():
    """Elsewhere, an entity is part of the free text, unless its slot would then have no value."""
    tomorrow = "remind me to call mum tomorrow"
    inside = "remind me to tell Bob that tomorrow is Friday"

    assert read(tomorrow, entity("when", "tomorrow", tomorrow)) == "call mum"
    assert read(tomorrow) == "call mum tomorrow"
    assert read(inside, entity("who", "Bob", inside)) == "tell Bob that tomorrow is Friday"
    assert read(tomorrow, entity("who", "mum", tomorrow)) == "call mum tomorrow"
    before = "remind me to on Friday: buy milk"
    assert read(before, entity("day", "on Friday", before)) == "buy milk"


def test_entity_at_the_edge_stays_in_the_text_if_its_slot_has_another():
    utterances = (marked("tell {who=Anna} that {text=I am late}"),)
    message = "tell Anna that I am Bob"
    others = entity("who", "Anna", message), entity("who", "Bob", message)

    assert read(message, *others, among=frames("text", utterances), slot="text") == "I am Bob"


def test_free_text_may_start_right_behind_another_slot():
    utterances = (marked("message {who=Anna} {text=I am late}"),)
    message = "message Anna I'll be late"

    assert (
        read(message, entity("who", "Anna", message), among=frames("text", utterances), slot="text") == "I'll be late"
    )
    assert read(message, among=frames("text", utterances), slot="text") is None


def test_empty_frame_takes_the_whole_message_if_no_other_fits():
    everything = [Frame(), *frames("task", REMIND)]

    assert read(" buy milk! ", among=everything) == "buy milk"
    assert read("remind me to buy milk", among=everything) == "buy milk"


def test_long_message_is_read_quickly():
    many = [marked(f"word{n} me to the to me to {{task=x}} to me to word{n}") for n in range(300)]
    message = "to me " * 1600 + "word1"
    start = time.thread_time()

    read(message, among=frames("task", many))

    assert time.thread_time() - start < 20.0
