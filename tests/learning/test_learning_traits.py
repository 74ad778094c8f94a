"""Heads of questions: learned from lines, calibrated beside messages that say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.types import Intent, Registry, TraitQuestion, Utterance
from intentmatch.learning.traits import train_traits, trait_data, unlabelled_rows

DIM = 32


def vectors(centre: int, count: int, seed: int) -> np.ndarray:
    """Unit vectors around an axis."""
    found = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32) * 0.1
    found[:, centre] += 1.0
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def lines(name: str, count: int) -> tuple[Utterance, ...]:
    return tuple(Utterance(f"{name} {number}") for number in range(count))


def registry_of(count: int) -> Registry:
    question = TraitQuestion("q", {"a": lines("a", count), "b": lines("b", count)})
    return Registry((Intent("i", lines("other", 40)),), questions=(question,))


def confidences(registry: Registry, utterances: np.ndarray, of_lines: np.ndarray, messages: np.ndarray) -> list:
    heads = train_traits(trait_data(registry, utterances, of_lines, vectors(9, 40, seed=9)))
    ((curve, columns),) = heads.curves(registry.questions)
    return [curve.confidences(row[columns]) for row in heads.logits(messages).tolist()]


@pytest.mark.parametrize("count", [5, 20])
def test_messages_like_a_line_have_its_answer_and_others_none(count):
    of_lines = np.vstack([vectors(0, count, 1), vectors(1, count, 2)])
    messages = np.vstack([vectors(0, 1, 5), vectors(1, 1, 6), vectors(2, 1, 7), vectors(9, 1, 8)])

    a, b, other, everyday = confidences(registry_of(count), vectors(2, 40, 3), of_lines, messages)

    assert a[0] > 0.8
    assert b[1] > 0.8
    assert sum(other) < 0.3
    assert sum(everyday) < 0.3


def test_a_question_that_every_utterance_answers_is_always_answered():
    of_lines = np.vstack([vectors(0, 20, 1), vectors(1, 20, 2)])
    utterances = np.vstack([vectors(0, 20, 3), vectors(1, 20, 4)])

    (found,) = confidences(registry_of(20), utterances, of_lines, vectors(0, 1, 5))

    assert found[0] > 0.8


def test_fewer_lines_leave_more_doubt():
    def most(count: int) -> float:
        of_lines = np.vstack([vectors(0, count, 1), vectors(1, count, 2)])
        return max(confidences(registry_of(count), vectors(2, 40, 3), of_lines, vectors(0, 1, 5))[0])

    assert most(3) < most(10) < most(40) < 1.0


def test_answers_that_nothing_tells_apart_are_as_likely():
    of_lines = np.vstack([vectors(0, 10, 1), vectors(0, 10, 2)])

    (found,) = confidences(registry_of(10), vectors(2, 40, 3), of_lines, vectors(0, 1, 5))

    assert found[0] == pytest.approx(found[1], abs=0.25)


def test_one_line_an_answer_is_not_confident():
    of_lines = np.vstack([vectors(0, 1, 1), vectors(1, 1, 2)])

    (found,) = confidences(registry_of(1), vectors(2, 40, 3), of_lines, vectors(0, 1, 5))

    assert max(found) <= 0.5


def test_lines_that_are_utterances_too_are_not_held_against_the_question():
    question = TraitQuestion("q", {"a": (Utterance("Other 3!"),), "b": lines("b", 1)})
    registry = Registry((Intent("i", lines("other", 5)),), questions=(question,))

    assert sorted(unlabelled_rows(registry, question).tolist()) == [0, 1, 2, 4]


def test_damaged_vectors_are_an_error():
    with pytest.raises(IntentMatchError, match="lines of `questions`"):
        trait_data(registry_of(5), vectors(2, 40, 3), np.full((10, DIM), np.nan, np.float32), vectors(9, 40, 9))
