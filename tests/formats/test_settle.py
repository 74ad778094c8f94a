"""What keeps a registry from being loaded: left out, with a warning that names its rule."""

from __future__ import annotations

from intentmatch.formats.settle import settled
from intentmatch.registry import check
from intentmatch.registry.expansion import expand
from intentmatch.types import Intent, Registry, Slot, SlotValue, Utterance


def template(text: str) -> Utterance:
    return Utterance(text, None, None, text)


def lines(registry: Registry, intent: str) -> list[str]:
    return [line.text for line in registry[intent].utterances]


def test_a_template_with_a_sentence_of_another_intent_is_left_out():
    """Whole, for nobody but its author knows what is left of it; its neighbours stay."""
    first = Intent("first", (template("(delete|drop) it"),))
    second = Intent("second", (template("[please] delete it"), Utterance("erase it"), template("[do] drop that")))
    found, problems = settled(Registry((first, second)))

    assert lines(found, "second") == ["erase it", "[do] drop that"]
    assert [problem.rule for problem in problems] == ["conflicting-utterance"]
    assert check(expand(found)[0]) == []


def test_values_of_slots_count_as_they_are_said():
    """A slot alone says its values."""
    size = Slot("size", "list", (SlotValue("large"),))
    first = Intent("first", (Utterance("large"),))
    second = Intent("second", (template("{size}"), Utterance("make it big")), slots=(size,))
    found, _ = settled(Registry((first, second), slots=(size,)))

    assert lines(found, "second") == ["make it big"]


def test_a_negative_template_must_not_say_what_the_intent_says():
    """In any of its sentences."""
    intent = Intent("first", (template("(delete|drop) it"),), (template("drop [it]"), Utterance("dropping")))
    found, problems = settled(Registry((intent,)))

    assert [line.text for line in found["first"].negatives] == ["dropping"]
    assert [problem.rule for problem in problems] == ["contradicting-negative"]


def test_an_intent_that_says_nothing_else_is_left_out_as_well():
    """With a warning for each."""
    found, problems = settled(Registry((Intent("a", (Utterance("hi"),)), Intent("b", (template("[oh] hi"),)))))

    assert [intent.name for intent in found] == ["a"]
    assert [problem.rule for problem in problems] == ["conflicting-utterance", "no-utterances"]


def test_what_is_sound_stays_as_it_is():
    """With nothing to say about it."""
    registry = Registry((Intent("a", (template("(x|y) z"), Utterance("hi"))), Intent("b", (Utterance("ho"),))))

    assert settled(registry) == (registry, [])
