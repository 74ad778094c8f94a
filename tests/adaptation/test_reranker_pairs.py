"""Pairs for a cross-encoder: what is the same, and what is hard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from intentmatch.adaptation.recipe import RerankerRecipe
from intentmatch.adaptation.reranker_pairs import LabelledPair, Pairs
from intentmatch.core.types import Intent, Registry, Utterance

RECIPE = RerankerRecipe(messages=4, hardest=2)
STEPS = range(60)


def registry(**texts: str) -> Registry:
    return Registry(
        tuple(Intent(name, tuple(Utterance(text, "en") for text in some.split())) for name, some in texts.items())
    )


def drawn(some: Registry, recipe: RerankerRecipe = RECIPE) -> list[list[LabelledPair]]:
    """Pairs where utterances beside each other in the registry have near vectors."""
    angles = np.linspace(0.0, 1.5, len(some.utterances))
    pairs = Pairs(some, np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32), recipe)
    return [pairs.draw(step) for step in STEPS]


THREE = registry(a="a0 a1 a2", b="b0 b1 b2", c="c0 c1 c2")


def test_each_message_has_a_pair_of_its_intent_and_one_of_another() -> None:
    for pairs in drawn(THREE):
        assert [pair.same for pair in pairs] == [True, False] * 4
        assert all((pair.message[0] == pair.utterance[0]) == pair.same for pair in pairs)
        assert all(pair.message != pair.utterance for pair in pairs)
        assert len({pair.message for pair in pairs}) == 4


def test_other_intent_is_one_that_the_bot_confuses() -> None:
    """Of nine utterances in a row, the nearest two of other intents."""
    others = {pair.utterance for pairs in drawn(THREE) for pair in pairs if pair.message == "a1" and not pair.same}

    assert others == {"b0", "b1"}


def test_step_draws_the_same_pairs_whatever_was_drawn_before() -> None:
    assert drawn(THREE)[7] == drawn(THREE)[7]
    assert drawn(THREE)[7] != drawn(THREE)[8]
    assert drawn(THREE)[7] != drawn(THREE, replace(RECIPE, seed=1))[7]


def test_negative_lines_are_messages_that_do_not_belong_to_their_intent() -> None:
    one = replace(THREE.intents[0], negatives=(Utterance("x", "en"),))
    pairs = [pair for some in drawn(Registry((one, *THREE.intents[1:]))) for pair in some if pair.message == "x"]

    assert pairs
    assert all(pair.utterance[0] == "a" and not pair.same for pair in pairs)


def test_utterance_that_two_intents_share_is_never_a_pair_of_different_intents() -> None:
    shared = registry(a="a0 yes", b="b0 YES", c="c0 c1")

    for pairs in drawn(shared):
        assert all(pair.message.lower() != pair.utterance.lower() for pair in pairs)


def test_single_utterance_is_no_message() -> None:
    some = registry(a="a0", b="b0 b1", c="c0 c1")

    assert {pair.message for pairs in drawn(some) for pair in pairs} == {"b0", "b1", "c0", "c1"}
    assert Pairs(registry(a="a0 a1"), np.eye(2, dtype=np.float32), RECIPE).messages == 0
