"""Drawing batches: who meets whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from intentmatch.adaptation.batches import Batch, Batches
from intentmatch.adaptation.recipe import EncoderRecipe
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance

RECIPE = EncoderRecipe(intents=3)
STEPS = range(60)


def lines(*texts: str, language: str | None = "en") -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


def letters(count: int) -> Registry:
    """Intents a, b, c ... with the utterances a0 to a3, b0 to b3 ..."""
    names = [chr(ord("a") + number) for number in range(count)]
    return Registry(tuple(Intent(name, lines(*(f"{name}{n}" for n in range(4)))) for name in names))


def batches(registry: Registry, recipe: EncoderRecipe = RECIPE, **more: object) -> Batches:
    """Batches of intents that are near to the intents beside them."""
    angles = np.linspace(0.0, 1.5, len(registry))
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    return Batches(registry, centres, recipe, **more)


def drawn(registry: Registry, recipe: EncoderRecipe = RECIPE, **more: object) -> list[Batch]:
    made = batches(registry, recipe, **more)
    return [made.draw(step) for step in STEPS]


def test_batch_has_two_different_utterances_of_each_of_some_intents() -> None:
    found = drawn(letters(5))

    for batch in found:
        owners = [text[0] for text in batch.messages]
        assert len(set(owners)) == 3
        assert [text[0] for text in batch.utterances] == owners
        assert not set(batch.messages) & set(batch.utterances)
    assert {text for batch in found for text in batch.messages} == {f"{a}{n}" for a in "abcde" for n in range(4)}


def test_step_draws_the_same_batch_whatever_was_drawn_before() -> None:
    one, other = batches(letters(5)), batches(letters(5))
    for step in range(7):
        one.draw(step)

    assert one.draw(7) == other.draw(7)
    assert one.draw(8) != other.draw(7)
    assert batches(letters(5), replace(RECIPE, seed=1)).draw(7) != other.draw(7)


def test_intents_that_share_an_utterance_never_meet() -> None:
    registry = Registry(
        (Intent("a", lines("a0", "Yes!")), Intent("b", lines("b0", "yes")), Intent("c", lines("c0", "c1")))
    )
    for batch in drawn(registry):
        owners = {text[0].lower() for text in (*batch.messages, *batch.utterances)} - {"y"}
        assert not {"a", "b"} <= owners


def test_intent_with_a_single_line_is_not_drawn() -> None:
    template = tuple(
        Utterance(text, "en", Location("file.yaml", 3, 1), template="t [0|1]") for text in ("t zero", "t one")
    )
    registry = Registry((*letters(2).intents, Intent("s", lines("s0", "S0!")), Intent("t", template)))
    made = batches(registry)

    assert made.intents == 2
    assert {text[0] for step in STEPS for text in made.draw(step).messages} == {"a", "b"}


def test_title_is_one_more_utterance_if_titles_have_a_meaning() -> None:
    registry = Registry((*letters(2).intents, Intent("cancel_order", lines("c0"))))

    assert batches(registry).intents == 2
    with_titles = drawn(registry, titles=True)
    pairs = {pair for batch in with_titles for pair in zip(batch.messages, batch.utterances, strict=True)}
    assert ("c0", "cancel order") in pairs
    assert ("cancel order", "c0") in pairs


def test_negative_lines_belong_to_intents_of_the_batch() -> None:
    intents = [replace(intent, negatives=lines(f"not {intent.name}")) for intent in letters(6)]
    for batch in drawn(Registry(tuple(intents)), replace(RECIPE, intents=6, negatives=4)):
        assert len(batch.negatives) == 4
        assert len({position for position, _ in batch.negatives}) == 4
        assert all(text == f"not {batch.messages[position][0]}" for position, text in batch.negatives)


def test_registry_without_negatives_has_none_in_its_batches() -> None:
    assert all(batch.negatives == [] for batch in drawn(letters(3)))


def test_translations_are_paired_more_often_than_by_chance() -> None:
    both = lines("a0", "a1", "a2", "a3", "a4", "a5") + lines("ä0", "ä1", language="de")
    pairs = [
        (batch.messages[place], batch.utterances[place])
        for batch in drawn(Registry((Intent("a", both), *letters(3).intents[1:])))
        for place in range(3)
        if batch.messages[place][0] in "aä"
    ]
    mixed = [pair for pair in pairs if pair[0][0] != pair[1][0]]

    # By chance 3 of 7; half of the others are moved.
    assert len(mixed) / len(pairs) > 0.55
    assert len(mixed) < len(pairs)


@pytest.mark.parametrize("near", [0.0, 0.5])
def test_near_intents_meet_more_often_if_wanted(near: float) -> None:
    """Intents stand in a row, so neighbours have neighbouring letters."""
    found = drawn(letters(12), replace(RECIPE, intents=4, near=near))
    owners = [sorted(ord(text[0]) for text in batch.messages) for batch in found]
    beside = np.mean([np.min(np.diff(some)) == 1 for some in owners])

    assert all(len(set(some)) == 4 for some in owners)
    assert (beside > 0.95) == (near > 0.0)


def test_anchors_are_drawn_from_all_of_them() -> None:
    found = drawn(letters(3), anchors=5)

    assert {number for batch in found for number in batch.anchors} == set(range(5))
    assert all(batch.anchors == [] for batch in drawn(letters(3)))
