"""Entities that are found in every message: which intents they go to."""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.global_entities import attach

PLACE = Location("file")


def draft() -> Draft:
    made = Draft()
    made.intent("light", PLACE).say("switch on the Lamp, please", PLACE)
    made.intent("lamps", PLACE).say("many lamps", PLACE)
    made.intent("chinese", PLACE).say("请打开台灯", PLACE)
    return made


def owners(made: Draft, slot: str) -> list[str]:
    return [intent.name for intent in made.registry() if slot in {found.name for found in intent.slots}]


def test_a_list_goes_to_the_intents_that_say_one_of_its_values():
    """As a word of its own, whatever its case; where there are no spaces between words, anywhere."""
    made = draft()
    made.type("device", PLACE).add("LAMP", ["台灯"])
    attach(made)

    assert owners(made, "device") == ["light", "chinese"]
    assert [problem.rule for problem in made.problems] == ["attached-slot"]


def test_a_list_that_is_marked_somewhere_stays_where_it_is():
    """Its author has said where it belongs."""
    made = draft()
    made.slot("device", PLACE).add("lamp")
    made.intent("lamps", PLACE).say("a lamp", PLACE, labels=[Label("device", 2, 6)])
    attach(made)

    assert owners(made, "device") == ["lamps"]
    assert made.problems == ()


def test_what_nobody_says_is_named_once():
    """All of it in one note."""
    made = draft()
    made.slot("count", PLACE).kind = "number"
    made.slot("code", PLACE).patterns.append("[A-Z]")
    attach(made)

    assert [(problem.rule, problem.message.rpartition(": ")[2]) for problem in made.problems] == [
        ("unused-slot", "count, code")
    ]
