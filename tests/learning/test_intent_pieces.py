"""How much of a text an intent lacks, whatever was asked for before and from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from learning.clusters import unit_rows

from intentmatch.learning import intent_pieces
from intentmatch.learning.intent_pieces import IntentPieces

VECTORS = unit_rows(np.random.default_rng(0).normal(size=(12, 8)))
ROWS = [np.array(row, dtype=np.int32) for row in ([0, 1], [1, 2, 2], [3], [], [4, 5, 6], [6])]
OWNERS = (0, 0, 1, 2, 4, 4)
MESSAGE, PIECES, WEIGHTS = VECTORS[6:11], (106, 107, 108, 109, 110), (1.0, 0.5, 2.0, 0.1, 3.0)


@pytest.fixture
def intents() -> IntentPieces:
    return IntentPieces(ROWS, OWNERS, VECTORS)


def plain(intent: int, without: tuple[int, ...] = ()) -> float:
    rows = [row for row, owner in enumerate(OWNERS) if owner == intent and row not in without]
    own = [piece for row in rows for piece in ROWS[row].tolist()]
    if not own:
        return sum(WEIGHTS)
    distances = (1.0 - max(float(vector @ VECTORS[piece]) for piece in own) for vector in MESSAGE)
    return sum(weight * distance**2 for weight, distance in zip(WEIGHTS, distances, strict=True))


@pytest.mark.parametrize("intent", [0, 1, 2, 4])
@pytest.mark.parametrize("without", [(), (0,), (0, 1), (1, 2), (4,)])
def test_what_is_lacking_depends_on_the_nearest_piece_that_counts(intents, intent, without):
    expected = pytest.approx(plain(intent, without), abs=1e-6)

    assert intents.lacking(PIECES, MESSAGE, WEIGHTS, intent, without) == expected
    assert intents.lacking(PIECES, MESSAGE, WEIGHTS, intent) == pytest.approx(plain(intent), abs=1e-6)
    assert intents.lacking(PIECES, MESSAGE, WEIGHTS, intent, without) == expected


def test_last_bit_does_not_depend_on_what_was_asked_for_before():
    """Of every piece alone, and of all at once."""
    together = IntentPieces(ROWS, OWNERS, VECTORS).lacking(PIECES, MESSAGE, WEIGHTS, 4)
    one_by_one = IntentPieces(ROWS, OWNERS, VECTORS)

    for n in reversed(range(len(PIECES))):
        one_by_one.lacking((PIECES[n],), MESSAGE[n : n + 1], (1.0,), 4)

    assert one_by_one.lacking(PIECES, MESSAGE, WEIGHTS, 4) == together


def test_memory_is_bounded_and_threads_agree(monkeypatch):
    monkeypatch.setattr(intent_pieces, "_MOST_REMEMBERED", 7)
    intents = IntentPieces(ROWS, OWNERS, VECTORS)
    expected = {intent: plain(intent) for intent in (0, 1, 4)}

    with ThreadPoolExecutor(8) as threads:
        asked = [0, 1, 4] * 200
        found = list(threads.map(lambda intent: intents.lacking(PIECES, MESSAGE, WEIGHTS, intent), asked))

    for intent, lacking in zip(asked, found, strict=True):
        assert lacking == pytest.approx(expected[intent], abs=1e-6)
    assert sum(map(len, intents._remembered.values())) <= 7 + 8 * len(PIECES)
