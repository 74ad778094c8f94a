"""The map of a registry: a point for each line, and marks for misplaced ones."""

from __future__ import annotations

import json

import numpy as np
from lint.subjects import around, lines, subject

from intentmatch import Matcher
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.utterance_map import misunderstood, utterance_map
from intentmatch.lint.subject import Subject

EAST, NORTH = [10.0, 0.0, 1.0], [0.0, 10.0, 1.0]


def separated() -> Subject:
    """Two intents far apart; the last line of `east` lies among those of `north`."""
    east = [*around(EAST, 9, 0.8), *around(NORTH, 1, 0.3, seed=2)]
    return subject({"east": lines("east", east), "north": lines("north", around(NORTH, 10, 0.8, seed=1))})


def test_misplaced_line_is_marked_with_its_neighbour():
    found = utterance_map(separated())

    assert [found.lines[row].text for row in found.misplaced] == ["east 9"]
    (row,) = found.misplaced
    assert found.intents[int(found.owners[found.neighbours[row]])] == "north"


def test_lines_of_an_intent_lie_together():
    found = utterance_map(separated())
    east, north = (found.positions[found.owners == owner][:9].mean(axis=0) for owner in (0, 1))

    stray = found.positions[found.misplaced[0]]
    assert np.linalg.norm(stray - north) < np.linalg.norm(stray - east)


def test_template_is_one_point():
    place = Location("bot.yaml", 3, 7)
    several = [Utterance(text, "en", place, template="a (b|c)") for text in ("a b", "a c")]
    registry = Registry((Intent("one", (*several, Utterance("d", "en", Location("bot.yaml", 4, 7)))),))
    vectors = np.eye(3, dtype=np.float32)

    found = utterance_map(Subject(registry, vectors, "mean2"))

    assert len(found.lines) == 2


def test_json_has_names_once_and_numbers_per_point():
    values = utterance_map(separated()).to_dict()

    assert values["intents"] == ["east", "north"]
    assert values["languages"] == ["en"]
    assert len(values["points"]) == 20
    assert values["points"][9]["misplaced"] is not None
    assert values["points"][9]["location"] == ["bot.yaml", 110, 7]
    json.dumps(values)


def test_held_out_mistakes_are_rows_of_the_map(matcher: Matcher, cases: HeldOutCases):
    artefact = matcher.artefact
    shown = utterance_map(Subject(artefact.registry, artefact.wide_vectors, "mean2"))

    rows = misunderstood(shown, cases)

    wrong = cases.held_out.known & ~cases.held_out.right
    assert {shown.lines[row].text for row in rows} == {
        cases.registry.utterances[row].text for row in cases.held_out.rows[wrong]
    }
    assert len(rows) > 0
