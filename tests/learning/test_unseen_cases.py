"""Held-out cases for encoders that were trained on the registry's own utterances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders.unseen_messages import UnseenMessages
from intentmatch.learning.cross_validation import RANKED, HeldOut
from intentmatch.learning.unseen_cases import as_cases, unseen_of, with_unseen

SETTINGS = Settings()


def cases(known: list[bool], evidence: float, rows: list[int] | None = None) -> HeldOut:
    count = len(known)
    return HeldOut(
        ranked=np.tile(np.linspace(evidence, 0.0, RANKED), (count, 1)),
        first=np.zeros(count, dtype=np.int64),
        place=np.where(known, 0, RANKED),
        known=np.array(known),
        rows=np.array(rows or [-1] * count),
        weights=np.ones(count),
    )


@pytest.fixture
def registry() -> Registry:
    lines = [tuple(Utterance(f"{name} {number}") for number in range(20)) for name in ("a", "b")]
    return Registry((Intent("a", lines[0]), Intent("b", lines[1])))


@pytest.fixture
def held_out() -> HeldOut:
    """Each of the forty utterances once in scope and once out of scope."""
    return cases([True] * 40 + [False] * 40, 9.0, [*range(40)] * 2)


@pytest.fixture
def unseen(registry: Registry) -> UnseenMessages:
    return unseen_of([cases([True] * 25, 5.0), cases([False] * 20, 4.0)], registry, SETTINGS)


def test_utterances_that_were_trained_on_are_replaced(
    registry: Registry, held_out: HeldOut, unseen: UnseenMessages
) -> None:
    found = with_unseen(held_out, registry, SETTINGS, unseen)

    assert sorted(found.evidence.tolist()) == [4.0] * 20 + [5.0] * 25
    assert found.known.sum() == 25
    assert set(found.rows.tolist()) == {-1}


def test_messages_weigh_as_much_as_the_cases_that_they_replace(
    registry: Registry, held_out: HeldOut, unseen: UnseenMessages
) -> None:
    found = with_unseen(held_out, registry, SETTINGS, unseen)

    assert found.weights[found.known].tolist() == [40 / 25] * 25
    assert found.weights[~found.known].tolist() == [2.0] * 20


def test_new_utterances_stay(registry: Registry, held_out: HeldOut, unseen: UnseenMessages) -> None:
    """An author has replaced the first one since the encoder was adapted."""
    first, second = registry.intents
    edited = Registry((replace(first, utterances=(Utterance("new"), *first.utterances[1:])), second))

    found = with_unseen(held_out, edited, SETTINGS, unseen)

    assert found.rows[found.rows >= 0].tolist() == [0, 0]
    assert found.weights[found.known].sum() == pytest.approx(40.0)


def test_kind_that_no_message_is_of_stays(registry: Registry, held_out: HeldOut) -> None:
    unseen = unseen_of([cases([True] * 20, 5.0)], registry, SETTINGS)

    found = with_unseen(held_out, registry, SETTINGS, unseen)

    assert found.evidence[found.known].tolist() == [5.0] * 20
    assert found.evidence[~found.known].tolist() == [9.0] * 40


@pytest.mark.parametrize(("inside", "outside"), [(19, 40), (40, 19)])
def test_too_few_messages_for_a_calibration_replace_nothing(
    registry: Registry, held_out: HeldOut, inside: int, outside: int
) -> None:
    unseen = unseen_of([cases([True] * inside + [False] * outside, 5.0)], registry, SETTINGS)

    assert with_unseen(held_out, registry, SETTINGS, unseen) is held_out


def test_nothing_changes_without_messages_or_under_other_settings(
    registry: Registry, held_out: HeldOut, unseen: UnseenMessages
) -> None:
    lines = [tuple(Utterance(f"{name} {number}") for number in range(20)) for name in ("c", "d")]
    other = Registry((Intent("c", lines[0]), Intent("d", lines[1])))

    assert with_unseen(held_out, registry, SETTINGS, None) is held_out
    assert with_unseen(held_out, registry, replace(SETTINGS, scorer="cosine"), unseen) is held_out
    assert with_unseen(held_out, other, SETTINGS, unseen).rows.tolist() == held_out.rows.tolist()


def test_kept_messages_are_cases_again(registry: Registry, unseen: UnseenMessages) -> None:
    assert as_cases(unseen).known.tolist() == [True] * 25 + [False] * 20
    assert as_cases(unseen).right.tolist() == [True] * 25 + [False] * 20
    assert len(unseen.lines) == 40
