"""Tests for what an import leaves out so that lint has nothing to say about the import itself."""

from __future__ import annotations

from pathlib import Path

from intentmatch import formats
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.formats.kit.tidy import tidy
from intentmatch.registry import examine


def template(text: str) -> Utterance:
    return Utterance(text, None, None, text)


CITY = Slot("city", "list", (SlotValue("Rome"), SlotValue("Oslo")))
MARKED = Utterance("to Rome", None, Location("a", 3), "to {city=Rome}", (Mark("city", 3, 7),))


def test_repeated_utterances_are_imported_once() -> None:
    """In each language; the wording of the first counts, and the place of both is reported."""
    lines = (
        Utterance("Hello!", "en", Location("a", 1)),
        Utterance("hello", "en", Location("a", 2)),
        Utterance("hello", "de", Location("a", 3)),
        Utterance("?!"),
        Utterance("..."),
        template("go [now]"),
        template("go [now]"),
        template("go"),
    )
    found, problems = tidy(Registry((Intent("greet", lines), Intent("other", (Utterance("hello", "en"),)))))

    assert [line.text for line in found["greet"].utterances] == ["Hello!", "hello", "?!", "...", "go [now]", "go"]
    assert len(found["other"].utterances) == 1
    assert [(p.rule, p.severity) for p in problems] == [("duplicate-utterance", "info")] * 2
    assert "“hello” is already at a:1; it is imported once" in [p.message for p in problems]


def test_marked_one_of_equal_utterances_is_kept() -> None:
    lines = (Utterance("to rome", None, Location("a", 1)), Utterance("home"), MARKED)
    found, problems = tidy(Registry((Intent("go", lines, slots=(CITY,)),), slots=(CITY,)))

    assert [line.template for line in found["go"].utterances] == ["to {city=Rome}", None]
    assert found.slots == (CITY,)
    assert [problem.location for problem in problems] == [Location("a", 3)]


def test_slot_goes_with_its_last_utterance() -> None:
    """Two labels of the same words: the slot of the second one is no longer used."""
    place = Slot("place", "list", (SlotValue("Rome"),))
    second = Utterance("to Rome", None, Location("a", 4), "to {place=Rome}", (Mark("place", 3, 7),))
    found, problems = tidy(Registry((Intent("go", (MARKED, second), slots=(CITY, place)),), slots=(CITY, place)))

    assert (found.slots, found["go"].slots) == ((CITY,), (CITY,))
    assert {problem.rule for problem in problems} == {"duplicate-utterance", "unused-slot"}


def test_unused_slots_and_rules_are_left_out() -> None:
    """A rule may be used through another one; a slot may be listed without an utterance that names it."""
    rules = (Rule("polite", {"": "<please> do"}), Rule("please", {"": "please"}), Rule("loud", {"": "<louder>"}))
    listed = Slot("day", "date")
    intent = Intent("go", (template("<polite> go <gone>"),), slots=(listed,))
    found, problems = tidy(Registry((intent,), slots=(CITY, listed, Slot("any", "any")), rules=rules))

    assert [rule.name for rule in found.rules] == ["polite", "please"]
    assert found.slots == (listed,)
    assert [(p.severity, p.message) for p in problems] == [
        ("info", "the rule 'loud' is not imported, because no utterance uses it"),
        ("warning", "the slot 'any' is not imported, because no intent uses the slot"),
        ("warning", "the slot 'city' and its 2 values are not imported, because no intent uses the slot"),
    ]


def test_tidy_registry_is_unchanged() -> None:
    registry = Registry((Intent("go", (MARKED,), slots=(CITY,)),), slots=(CITY,))

    assert tidy(registry) == (registry, [])


def test_import_of_a_rasa_bot_leaves_no_warning(tmp_path: Path) -> None:
    """Repetitions, lookup tables without an annotation, and a value that is also a synonym are usual in Rasa's bots."""
    nlu = """\
nlu:
- intent: go
  examples: |
    - to [NYC](city)
    - to [NYC](city:New York)
    - from [NYC](city:New York)
    - home
    - Home!
    - bring me home
- lookup: airline
  examples: |
    - Lufthansa
"""
    (tmp_path / "nlu.yml").write_text(nlu, encoding="utf-8")
    registry, problems = tidy(formats.read(tmp_path / "nlu.yml").registry)
    formats.write(registry, "intentmatch", tmp_path / "bot.yaml")

    assert examine(tmp_path / "bot.yaml")[1] == []
    assert [problem.rule for problem in problems] == ["duplicate-utterance", "duplicate-utterance", "unused-slot"]
