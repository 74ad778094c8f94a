"""All slots of an intent together: overlaps, missing slots and properties of every result."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import regex
from documents import GUIDE
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import NOW, list_slot, marked

from intentmatch.core.errors import Location, MissingExtraError, RegistryError, UnknownNameError
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.languages.tables import Table
from intentmatch.slots import SlotReader, slot_readers
from intentmatch.slots.clock_words import CLOCK_WORDS

CITIES = ("Berlin", "Hamburg", "New York|Big Apple", "York", "東京", "Москва", "İstanbul", "👩\u200d🚀")
FLY = Intent(
    "fly",
    (
        marked("fly from {origin=Berlin} to {target=Hamburg}"),
        marked("{number=2} tickets to {target=Berlin} on {day=friday}"),
        marked("von {origin=Berlin} nach {target=Hamburg}", "de"),
    ),
    slots=(
        list_slot("origin", *CITIES, required=True, questions={"en": "From where?", "de": "Von wo?"}),
        list_slot("target", *CITIES, required=True),
        Slot("day", "date", required=True, questions={"": "When?"}),
        Slot("number", "number"),
        Slot("time", "time"),
        Slot("code", "pattern", patterns=(r"[a-z]{2}\d{4}", r"(a+)+$")),
        Slot("note", "any"),
    ),
)


def reader(*slots: Slot, utterances: tuple[Utterance, ...] = (Utterance("hello", "en"),)) -> SlotReader:
    return slot_readers(Registry((Intent("intent", utterances, slots=slots),)))["intent"]


def values(slots: SlotReader, text: str, language: str | None = "en") -> list[tuple[str, object]]:
    return [(entity.slot, entity.value) for entity in slots.read(text, language, NOW).entities]


FLIGHTS = slot_readers(Registry((FLY,)))["fly"]


def test_every_kind_is_read_from_one_message():
    text = "2 tickets from Berlin to new york, Friday 6pm, AB1234"
    reading = FLIGHTS.read(text, "en", NOW)

    assert [(entity.slot, entity.value, entity.text) for entity in reading.entities] == [
        ("number", 2, "2"),
        ("origin", "Berlin", "Berlin"),
        ("target", "New York", "new york"),
        ("day", "2026-11-27", "Friday"),
        ("time", "18:00", "6pm"),
        ("code", "AB1234", "AB1234"),
    ]
    assert reading.missing == ()
    assert reading.says == ("found number=2, origin=Berlin, target=New York, day=2026-11-27, time=18:00, code=AB1234")


def test_neighbouring_words_tell_equal_slots_apart():
    """Then an empty slot wins, then the first."""
    assert values(FLIGHTS, "to Hamburg, from Berlin") == [("target", "Hamburg"), ("origin", "Berlin")]
    assert values(FLIGHTS, "nach Berlin von Hamburg", "de") == [("target", "Berlin"), ("origin", "Hamburg")]
    assert values(FLIGHTS, "Hamburg Berlin") == [("origin", "Hamburg"), ("target", "Berlin")]
    assert values(FLIGHTS, "Hamburg York Berlin") == [("origin", "Hamburg"), ("target", "York"), ("origin", "Berlin")]


def test_missing_required_slots_have_localized_questions():
    english, german = FLIGHTS.read("to Berlin", "en", NOW), FLIGHTS.read("nach Berlin", "de-AT", NOW)

    assert [(missing.slot, missing.question) for missing in english.missing] == [
        ("origin", "From where?"),
        ("day", "When?"),
    ]
    assert [missing.question for missing in german.missing] == ["Von wo?", "When?"]
    assert FLIGHTS.read("hm", "en", NOW).says == "found nothing; missing origin, target, day"


def test_longest_value_wins():
    """Then the one closest to its declaration, then the first slot."""
    slots = reader(list_slot("a", "York", "Berlin"), list_slot("b", "New York", "berlín"), Slot("n", "number"))

    assert values(slots, "New York") == [("b", "New York")]
    assert values(slots, "berlin") == [("a", "Berlin")]
    assert values(slots, "berlín") == [("b", "berlín")]
    assert values(reader(Slot("n", "number"), Slot("c", "pattern", patterns=(r"\d+",))), "12") == [("n", 12)]
    assert values(reader(Slot("c", "pattern", patterns=(r"\d+",)), Slot("n", "number")), "12") == [("c", "12")]
    assert values(reader(Slot("n", "number"), Slot("d", "date")), "22 November") == [("d", "2026-11-22")]


def test_free_text_absorbs_entities_inside_it():
    slots = reader(
        Slot("task", "any", required=True),
        Slot("when", "date"),
        list_slot("who", "Bob", "Anna"),
        utterances=(marked("remind {who=Anna} to {task=eat} {when=tomorrow}"), marked("remind me to {task=eat}")),
    )

    assert values(slots, "remind Anna to tell Bob the truth tomorrow") == [
        ("who", "Anna"),
        ("task", "tell Bob the truth"),
        ("when", "2026-11-22"),
    ]
    assert slots.read("remind Anna", "en", NOW).missing[0].slot == "task"


def test_two_free_texts_never_overlap():
    both = reader(Slot("who", "any"), Slot("text", "any"), utterances=(marked("tell {who=mum} that {text=I am late}"),))

    assert values(both, "tell my boss that that thing broke") == [("who", "my boss"), ("text", "that thing broke")]
    assert values(both, "tell my boss") == [("who", "my boss")]


def test_fill_reads_one_some_or_all_slots():
    """Free text may be the whole answer."""
    slots = reader(
        Slot("task", "any"), Slot("when", "date"), Slot("n", "number"), utterances=(marked("remind me to {task=eat}"),)
    )

    def fill(text: str, *names: str) -> list[tuple[str, object]]:
        return [(entity.slot, entity.value) for entity in slots.fill(text, names or None, "en", NOW)]

    assert fill("tomorrow", "when") == [("when", "2026-11-22")]
    assert fill("tomorrow at 5", "when") == [("when", "2026-11-22")]
    assert fill("buy 2 apples tomorrow!", "task") == [("task", "buy 2 apples tomorrow")]
    assert fill("remind me to buy apples", "task") == [("task", "buy apples")]
    assert fill("buy 2 apples tomorrow", "task", "when") == [("task", "buy 2 apples"), ("when", "2026-11-22")]
    assert fill("tomorrow", "n") == []
    assert fill("tomorrow") == [("when", "2026-11-22")]
    with pytest.raises(UnknownNameError, match=r"unknown slot 'whne': known are n, task, when\. Did you mean 'when'"):
        fill("x", "whne")


def test_intents_share_the_finders_of_equal_slots():
    city = list_slot("city", *CITIES)
    one = Intent("one", (Utterance("a"),), slots=(city,))
    other = Intent("other", (Utterance("b"),), slots=(replace(city, required=True),))
    readers = slot_readers(Registry((one, other, Intent("none", (Utterance("c"),)))))

    assert sorted(readers) == ["one", "other"]
    assert readers["one"]._finders["city"] is readers["other"]._finders["city"]
    assert readers["one"].read("x").missing == ()
    assert len(readers["other"].read("x").missing) == 1


def test_words_of_utterances_are_never_mistyped_values():
    """Except for words that are values themselves."""
    slots = reader(list_slot("animal", "horse", "mouse"), utterances=(marked("a {animal=hores} in the house"),))

    assert values(slots, "a house for the hores") == [("animal", "horse")]
    assert values(reader(list_slot("animal", "horse")), "a hosre for the house") == [("animal", "horse")] * 2


def test_tolerant_false_turns_typing_mistakes_off():
    registry = Registry((FLY,))

    assert slot_readers(registry, tolerant=False)["fly"].read("to Brelin", "en", NOW).entities == ()
    assert len(slot_readers(registry)["fly"].read("to Brelin", "en", NOW).entities) == 1


def test_all_invalid_patterns_are_reported_together():
    slots = (
        Slot("a", "pattern", patterns=("(",), location=Location("bot.yaml", 3, 5)),
        Slot("b", "pattern", patterns=("fine", "*")),
        Slot("c", "pattern", patterns=("fine",)),
    )
    with pytest.raises(RegistryError) as caught:
        reader(*slots)

    assert [problem.location.short for problem in caught.value.problems] == ["bot.yaml:3", "registry:1"]
    assert "invalid regular expression in slot 'a': missing )" in str(caught.value)
    assert "'b': nothing to repeat" in str(caught.value)


def test_slow_pattern_is_noted_in_the_trace_and_other_slots_are_read():
    reading = FLIGHTS.read("to Berlin " + "a" * 3000 + "!", "en", NOW)

    assert ("target", "Berlin") in [(entity.slot, entity.value) for entity in reading.entities]
    assert reading.says.endswith("; a pattern of slot code timed out: (a+)+$")


def test_missing_extra_is_raised_before_the_first_message(monkeypatch):
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")

    with pytest.raises(MissingExtraError, match=r"A slot of kind date needs .*intentmatch\[dates\]"):
        slot_readers(Registry((FLY,)))


PIECES = """Berlin york new Hamburg 東京 москве istanbul'a 👩‍🚀 👩 é \u200b from to tomorrow 22 November 18:30
    6 pm ab1234 aaaa ٣ . , مُ""".split()  # noqa: SIM905 - one a piece
MESSAGES = (
    st.text() | st.lists(st.sampled_from([*PIECES, " "])).map("".join) | st.lists(st.sampled_from(PIECES)).map(" ".join)
)


@given(MESSAGES, st.sampled_from(["en", "de", "tr", "ru", "ja", "ar", "tlh", None]))
def test_any_message_gives_ordered_disjoint_entities(text, language):
    reading = FLIGHTS.read(text, language, NOW)
    whole = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    end = 0

    for entity in reading.entities:
        assert end <= entity.start < entity.end <= len(text)
        assert text[entity.start : entity.end] == entity.text
        assert {entity.start, entity.end} <= whole
        end = entity.end
    there = {entity.slot for entity in reading.entities}
    asked = [missing.slot for missing in reading.missing]
    assert [slot for slot in asked if slot not in there] == [s for s in ("origin", "target", "day") if s not in there]
    for slot in set(asked) & there:
        assert len([entity for entity in reading.entities if entity.slot == slot]) > 1
    assert reading == FLIGHTS.read(text, language, NOW)
    for name in ("note", "origin"):
        for entity in FLIGHTS.fill(text, [name], language, NOW):
            assert text[entity.start : entity.end] == entity.text


def test_guide_lists_the_languages_of_numbers_and_times():
    """The languages of words for numbers and times."""
    page = (GUIDE / "slots.md").read_text(encoding="utf-8")
    (languages,) = re.findall(r"; words in ([a-z, ]+ and [a-z]+) \|", page)

    assert languages.replace(" and ", ", ").split(", ") == sorted({*Table[object]("cardinals"), "ja", "zh"})
    assert f"words in {len(CLOCK_WORDS)} languages" in page


def test_free_text_follows_the_utterances_of_its_language():
    """French "à" without its accent is the English article, but no place begins after the article."""
    slots = reader(
        Slot("address", "any"),
        utterances=(
            marked("deliver a pizza to {address=Main Street 5}"),
            marked("une pizza à {address=12 rue de Rivoli}", "fr"),
            marked("address: {address=12 rue de Rivoli}", None),
        ),
    )

    assert values(slots, "I want a pizza, a large one") == []
    assert values(slots, "deliver a pizza to my office") == [("address", "my office")]
    assert values(slots, "une pizza à la gare", "fr-CA") == [("address", "la gare")]
    assert values(slots, "address: Main Street 7") == [("address", "Main Street 7")]
    assert values(slots, "una pizza à mia casa", "it") == [("address", "mia casa")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I want the large one", [("size", "large")]),
        ("a small one please", [("size", "small")]),
        ("this one", []),
        ("one large pizza", [("count", 1), ("size", "large")]),
        ("large, one", [("size", "large"), ("count", 1)]),
        ("I want one", [("count", 1)]),
    ],
)
def test_pronoun_one_is_no_number(text, expected):
    slots = reader(list_slot("size", "small", "large"), Slot("count", "number"))

    assert values(slots, text) == expected


def test_pronoun_in_an_answer_fills_no_other_slot():
    slots = reader(list_slot("size", "small", "large"), Slot("count", "number"))

    assert [entity.slot for entity in slots.fill("the small one please", ["size"], "en", others=["count"])] == ["size"]
    assert [entity.value for entity in slots.fill("the one", ["count"], "en", others=["size"])] == [1]
    assert slots.fill("the second one", ["count"], "en", others=["size"]) == ()
