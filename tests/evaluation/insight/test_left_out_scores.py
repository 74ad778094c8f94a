"""How many lines find their intent when they are left out, before and after an edit."""

from __future__ import annotations

import numpy as np
import pytest
from lint.subjects import around, lines, subject

from intentmatch.evaluation.insight.left_out_scores import LeftOutScores
from intentmatch.learning.near_duplicates import SAME_TEXT
from intentmatch.lint.subject import Subject

A, B = [10.0, 0.0, 0.0], [0.0, 10.0, 0.0]


def strayed(aggregation: str = "mean2") -> Subject:
    """Two lines of `a` lie among those of `b`."""
    return subject(
        {
            "a": lines("a", [*around(A, 6, 0.5), *around(B, 2, 0.5, seed=1)]),
            "b": lines("b", around(B, 6, 0.5, seed=2)),
            "c": lines("c", around([0.0, 0.0, 10.0], 4, 0.5, seed=3)),
        },
        aggregation,
    )


def naive(found: Subject, owners: np.ndarray, counted: np.ndarray, of: np.ndarray | None = None) -> int:
    """Count the right lines one by one; of these only, if given."""
    right = 0
    for row in np.flatnonzero(counted if of is None else of):
        cosines = found.vectors @ found.vectors[row]
        scores = {}
        for owner in set(owners[counted].tolist()):
            own = [
                float(cosines[n])
                for n in np.flatnonzero((owners == owner) & counted)
                if n != row and cosines[n] <= SAME_TEXT
            ]
            best = sorted(own, reverse=True)[: 1 if found.aggregation == "max" else 2]
            if best:
                scores[owner] = sum(best) / len(best)
        right += max(scores, key=lambda owner: (scores[owner], -owner)) == owners[row]
    return right


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
def test_right_lines_are_those_of_a_naive_count(aggregation):
    found = strayed(aggregation)

    assert LeftOutScores(found).right.sum() == naive(found, found.owners, np.ones(len(found.lines), bool))


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
@pytest.mark.parametrize("row", [0, 6, 7, 9])
@pytest.mark.parametrize("to", [None, 1, 2])
def test_gain_is_that_of_a_naive_count(aggregation, row, to):
    found = strayed(aggregation)
    everything = np.ones(len(found.lines), dtype=bool)
    if to == found.owners[row]:
        return
    counted, owners = everything.copy(), found.owners.copy()
    if to is None:
        counted[row] = False
    else:
        owners[row] = to
    scores = LeftOutScores(found)
    others = everything & (np.arange(len(everything)) != row)
    before = int(scores.right[others].sum())

    assert scores.gain(row, to) == naive(found, owners, counted, of=others) - before


@pytest.mark.parametrize("to", [None, 2])
def test_intent_that_comes_first_wins_a_tie_after_an_edit_too(to):
    """The line between two intents is as near to the one as to the other."""
    found = subject(
        {
            "a": lines("a", [[3, 4, 0, 0], [3, -4, 0, 0], [1, 0, 0, 0]]),
            "b": lines("b", [[0, 0, 0, 1], [0, 0, 1, 9]]),
            "c": lines("c", [[3, 0, 4, 0], [3, 0, -4, 0]]),
        }
    )
    row, counted, owners = 3, np.ones(len(found.lines), dtype=bool), found.owners.copy()
    if to is None:
        counted[row] = False
    else:
        owners[row] = to
    scores = LeftOutScores(found)

    assert bool(scores.right[2])
    others = np.arange(len(owners)) != row
    assert scores.gain(row, to) == naive(found, owners, counted, of=others) - int(scores.right[others].sum())


def test_moving_a_stray_line_home_wins_it():
    assert LeftOutScores(strayed()).gain(6, 1) >= 1


def test_misread_counts_the_lines_of_some_intents():
    scores = LeftOutScores(strayed())

    assert scores.misread(0) == 2
    assert scores.misread(1, 2) == int((~scores.right).sum()) - 2
    assert scores.misread() == 0


def test_empty_registry_has_nothing_to_win():
    from intentmatch.core.types import Registry

    scores = LeftOutScores(Subject(Registry(()), np.empty((0, 3), dtype=np.float32), "mean2"))

    assert len(scores.right) == 0
