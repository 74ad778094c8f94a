"""Tests for attaching global entities to intents."""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.global_entities import attach_global_entities

PLACE = Location("file")


def make_draft() -> Draft:
    draft = Draft()
    draft.intent("light", PLACE).say("switch on the Lamp, please", PLACE)
    draft.intent("lamps", PLACE).say("many lamps", PLACE)
    draft.intent("chinese", PLACE).say("请打开台灯", PLACE)
    return draft


def owners(draft: Draft, slot: str) -> list[str]:
    return [intent.name for intent in draft.registry() if slot in {found.name for found in intent.slots}]


def test_list_is_attached_to_intents_that_mention_a_value():
    """As a whole word in any case; in scripts without spaces, anywhere."""
    draft = make_draft()
    draft.type("device", PLACE).add("LAMP", ["台灯"])
    attach_global_entities(draft)

    assert owners(draft, "device") == ["light", "chinese"]
    assert [problem.rule for problem in draft.problems] == ["attached-slot"]


def test_value_with_a_bar_is_found():
    draft = make_draft()
    draft.intent("music", PLACE).say("play something by AC|DC", PLACE)
    draft.type("artist", PLACE).add("AC|DC")
    attach_global_entities(draft)

    assert owners(draft, "artist") == ["music"]


def test_list_with_marks_is_not_attached_elsewhere():
    draft = make_draft()
    draft.slot("device", PLACE).add("lamp")
    draft.intent("lamps", PLACE).say("a lamp", PLACE, labels=[Label("device", 2, 6)])
    attach_global_entities(draft)

    assert owners(draft, "device") == ["lamps"]
    assert draft.problems == ()


def test_unused_entities_are_reported_in_one_note():
    draft = make_draft()
    draft.slot("count", PLACE).kind = "number"
    draft.slot("code", PLACE).patterns.append("[A-Z]")
    attach_global_entities(draft)

    assert [(problem.rule, problem.message.rpartition(": ")[2]) for problem in draft.problems] == [
        ("unused-slot", "count, code")
    ]
