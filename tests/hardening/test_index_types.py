"""Indices are of numpy's index type: 32-bit systems refuse to take 64-bit ones."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders.encode import Known, encode_all
from intentmatch.evaluation.insight.closest_lines import overlapping_intents
from intentmatch.evaluation.insight.projection import _repulsion
from intentmatch.lint.subject import Subject

LINES = ("book a table", "cancel my table", "book a room", "where is my order")


@pytest.fixture(autouse=True)
def _refused_as_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `np.int64` a type that every numpy refuses for indices, as numpy 1 does int64 on 32 bits."""
    monkeypatch.setattr(np, "int64", np.float64)


def test_known_vectors_are_taken():
    vectors = WordHashEncoder().encode(LINES)
    known = Known({text: row for row, text in enumerate(LINES)}, vectors, {})

    assert encode_all(WordHashEncoder(), LINES[::-1], "utterance", known=known).tolist() == vectors[::-1].tolist()


def test_lines_of_an_intent_are_counted():
    intents = tuple(Intent(f"intent_{n}", (Utterance(LINES[n]), Utterance(LINES[n + 2]))) for n in range(2))
    subject = Subject(Registry(intents), WordHashEncoder().encode(LINES), "max")

    assert np.bincount(subject.owners).tolist() == [2, 2]
    assert isinstance(overlapping_intents(subject), list | tuple)


def test_points_are_counted_on_a_grid():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    assert np.isfinite(_repulsion(corners)).all()
