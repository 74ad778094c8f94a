"""Tests for repairing imported registries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intentmatch.core.errors import Location
from intentmatch.core.types import Case, Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.kit.repair import repair
from intentmatch.registry import check
from intentmatch.registry.templates.expansion import expand

FINE = Intent("fine", (Utterance("hello"), Utterance("Hello!"), Utterance("hallo", "de")), (Utterance("goodbye"),))


def test_valid_registry_is_unchanged() -> None:
    """Repeated utterances are no error."""
    registry = Registry((FINE,), tests=(Case("hi", "fine"), Case("x", None)), slots=(Slot("n", "number"),))

    assert repair(registry) == (registry, [])


@pytest.mark.parametrize(
    ("intents", "rule", "expected"),
    [
        ([Intent("", (Utterance("x"), Utterance("y")))], "no-name", "an intent without a name, with 2 utterances,"),
        ([Intent("empty", ())], "no-utterances", "the intent 'empty' has no utterances; it is skipped"),
        ([Intent("b", (Utterance("?!"), Utterance("b")))], "empty-utterance", "'?!' of 'b' has no words"),
        ([Intent("b", (Utterance("HELLO"), Utterance("b")))], "conflicting-utterance", "already belongs to 'fine'"),
        ([Intent("b", (Utterance("b"),), (Utterance("B"),))], "contradicting-negative", "the negative “B” of 'b'"),
        ([Intent("b", (Utterance("b"),), (Utterance("..."),))], "empty-utterance", "has no words"),
        ([Intent("b", (Utterance("b"),), threshold=1.5)], "threshold", "the threshold 1.5 of 'b'"),
    ],
)
def test_invalid_piece_is_skipped_with_the_rule_of_its_check(intents, rule, expected) -> None:
    kept, problems = repair(Registry((FINE, *intents)))

    assert [problem.rule for problem in problems] == [rule]
    assert expected in problems[0].message
    assert problems[0].severity == "warning"
    assert not [problem for problem in check(kept) if problem.severity == "error"]
    assert FINE in kept.intents


def test_intent_without_remaining_utterances_is_removed_with_its_tests() -> None:
    lost = Intent("lost", (Utterance("hello", location=Location("f", 3)),), location=Location("f", 2))
    kept, problems = repair(Registry((FINE, lost), tests=(Case("x", ("fine", "lost"), location=Location("f", 9)),)))

    assert kept == Registry((FINE,))
    assert [(p.location.line, p.rule) for p in problems] == [
        (2, "no-utterances"),
        (3, "conflicting-utterance"),
        (9, "unknown-intent"),
    ]


def test_unusable_values_and_patterns_of_slots_are_removed() -> None:
    """A slot with nothing left accepts any text."""
    odd = Slot("odd", "list", (SlotValue("?"), SlotValue("red", (Utterance("..."), Utterance("rot")))))
    patterns = Slot("code", "pattern", patterns=("[0-9", "[0-9]+", "(" * 2000))
    empty = Slot("empty", "list")
    kept, problems = repair(Registry((replace(FINE, slots=(odd,)),), slots=(odd, patterns, empty)))

    assert kept.slots[0].values == (SlotValue("red", (Utterance("rot"),)),)
    assert kept["fine"].slots == kept.slots[:1]
    assert kept.slots[1].patterns == ("[0-9]+",)
    assert kept.slots[2].kind == "any"
    assert {problem.rule for problem in problems} == {"bad-slot"}


def template(text: str) -> Utterance:
    return Utterance(text, None, None, text)


def lines(registry: Registry, intent: str) -> list[str]:
    return [line.text for line in registry[intent].utterances]


def test_template_with_a_sentence_of_another_intent_is_skipped() -> None:
    """The whole template is skipped, because only its author can split it."""
    first = Intent("first", (template("(delete|drop) it"),))
    second = Intent("second", (template("[please] delete it"), Utterance("erase it"), template("[do] drop that")))
    found, problems = repair(Registry((first, second)))

    assert lines(found, "second") == ["erase it", "[do] drop that"]
    assert [problem.rule for problem in problems] == ["conflicting-utterance"]
    assert check(expand(found)[0]) == []


def test_conflicts_include_slot_values() -> None:
    size = Slot("size", "list", (SlotValue("large"),))
    first = Intent("first", (Utterance("large"),))
    second = Intent("second", (template("{size}"), Utterance("make it big")), slots=(size,))
    found, _ = repair(Registry((first, second), slots=(size,)))

    assert lines(found, "second") == ["make it big"]


def test_negative_template_with_a_sentence_of_the_intent_is_skipped() -> None:
    intent = Intent("first", (template("(delete|drop) it"),), (template("drop [it]"), Utterance("dropping")))
    found, problems = repair(Registry((intent,)))

    assert [line.text for line in found["first"].negatives] == ["dropping"]
    assert [problem.rule for problem in problems] == ["contradicting-negative"]


def test_line_of_intents_that_tags_tell_apart_stays_with_all_of_them() -> None:
    intents = [
        Intent("order", (Utterance("yes"), Utterance("do it")), when=("ordering",)),
        Intent("close", (Utterance("Yes!"), Utterance("of course")), when=("closing", "leaving")),
        Intent("agree", (Utterance("yes"), Utterance("quite so"))),
    ]
    registry = Registry((*intents, FINE))

    assert repair(registry) == (registry, [])


def test_line_is_skipped_where_one_of_its_owners_has_the_same_tag() -> None:
    intents = [
        Intent("order", (Utterance("yes"),), when=("ordering",)),
        Intent("close", (Utterance("yes"),), when=("closing",)),
        Intent("leave", (Utterance("yes"), Utterance("go on")), when=("leaving", "closing")),
        Intent("agree", (Utterance("yes"),)),
        Intent("fine", (Utterance("yes"), Utterance("fine"))),
    ]

    kept, problems = repair(Registry(tuple(intents)))

    assert check(expand(kept)[0]) == []
    assert [problem.message for problem in problems] == [
        "“yes” of 'fine' already belongs to 'agree'; it is skipped",
        "“yes” of 'leave' already belongs to 'close'; it is skipped",
    ]
