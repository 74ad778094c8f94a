"""Comparisons of each line with all others: those of a naive twin, which looks at one pair of lines at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lint.subjects import around, subject

from intentmatch.core.shared_lines import SharedLines, never_together
from intentmatch.learning.near_duplicates import SAME_TEXT
from intentmatch.lint import subject as module
from intentmatch.lint.subject import Subject

EYE = np.eye(4)
TAGS = {"b": ("ordering",), "c": ("closing",), "d": ("closing", "ordering")}


def several(tags: dict[str, tuple[str, ...]], aggregation: str) -> Subject:
    """Four intents in three languages, with lines that are close, of another intent, shared, alone or unknown."""
    intents = {}
    for number, name in enumerate("abcd"):
        directions = [*around(EYE[number], 14, 0.3, seed=number), *around(EYE[(number + 1) % 4], 3, 0.2, seed=9)]
        codes = ["en"] * 8 + ["de"] * 6 + ["en", "de", None]
        intents[name] = [(f"{name} {n}", code, d) for n, (code, d) in enumerate(zip(codes, directions, strict=True))]
        intents[name] += [("yes please", "en", EYE[0] + EYE[1]), (f"{name} ?", "en", [0.0] * 4)]
    intents["a"] += [("a fr", "fr", EYE[1]), ("yes  please", "de", EYE[0] + EYE[1])]
    about = subject(intents, aggregation)
    made = tuple(replace(intent, when=tags.get(intent.name, ())) for intent in about.registry)
    return Subject(replace(about.registry, intents=made), about.vectors, aggregation)


def compared(about: Subject, row: int, other: int) -> bool:
    """Whether `when` lets two lines be compared."""
    one, two = int(about.owners[row]), int(about.owners[other])
    intents = about.registry.intents
    shared = set(SharedLines(about.registry).pairs())
    return not (never_together(intents[one], intents[two]) or {(other, one), (row, two)} & shared)


def counts(about: Subject, row: int, other: int) -> bool:
    """Whether a line counts for another one that is left out."""
    peers = (about.owners == about.owners[row]) & (about.languages == about.languages[row])
    foreign = peers.sum() == 1 and about.languages[row] == about.languages[other]
    return not foreign and compared(about, row, other)


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
@pytest.mark.parametrize("tags", [{}, TAGS], ids=["no when", "when"])
@pytest.mark.parametrize("block", [7, 512])
def test_scores_are_those_of_a_naive_twin(monkeypatch, block, tags, aggregation):
    monkeypatch.setattr(module, "LINT_ROWS", block)
    about = several(tags, aggregation)
    cosines, everything = about.vectors @ about.vectors.T, range(len(about.lines))
    for row in everything:
        scores, nearest = {}, {}
        for intent in range(len(about.registry)):
            rows = [r for r in about.rows(intent).tolist() if cosines[row, r] <= SAME_TEXT and counts(about, row, r)]
            rows.sort(key=lambda other: -cosines[row, other])
            if rows:
                best = cosines[row, rows[: 1 if aggregation == "max" else 2]]
                scores[intent], nearest[intent] = best.mean(), rows[0]
        own = scores.pop(int(about.owners[row]), -np.inf)
        assert about.left_out.own[row] == pytest.approx(own, abs=1e-6)
        if np.isinf(own) or not scores or not about.known[row]:
            assert np.isnan(about.left_out.lead[row])
            assert about.left_out.rival[row] == -1
            continue
        rival = max(scores, key=lambda intent: scores[intent])
        assert about.left_out.lead[row] == pytest.approx(scores[rival] - own, abs=1e-6)
        assert about.left_out.rival[row] == rival
        assert about.left_out.nearest[row] == nearest[rival]


@pytest.mark.parametrize("tags", [{}, TAGS], ids=["no when", "when"])
@pytest.mark.parametrize("block", [7, 512])
def test_near_lines_are_those_of_a_naive_twin(monkeypatch, block, tags):
    monkeypatch.setattr(module, "LINT_ROWS", block)
    monkeypatch.setattr(module, "_NEARLY", 1.5)
    about = several(tags, "mean2")
    cosines = about.vectors @ about.vectors.T
    distances = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
    for row in range(len(about.lines)):
        close = [
            other
            for other in range(row)
            if distances[row, other] < about.near_distance
            and about.languages[row] == about.languages[other]
            and about.folded[row] != about.folded[other]
            and compared(about, row, other)
        ]
        for found, wanted in ((about.near.within, True), (about.near.across, False)):
            some = [other for other in close if (about.owners[other] == about.owners[row]) == wanted]
            assert found[row] == max(some, key=lambda other: cosines[row, other], default=-1)
    assert (about.near.within >= 0).any()
    assert (about.near.across >= 0).any()
