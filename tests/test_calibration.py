"""Confidence and threshold, from what the registry itself holds out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.calibration import FALLBACK_THRESHOLD, Calibration, calibrate, hold_out
from intentmatch.index import ExactIndex
from intentmatch.registry import read_registry
from intentmatch.text import clean

INTENTS = Path(__file__).parents[1] / "intents"
AGGREGATIONS = ["mean2", "max"]


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clusters(intents: int, utterances: int, *, spread: float, dim: int = 32) -> tuple[np.ndarray, list[int]]:
    """Vectors of utterances scattered around the centre of their intent, and their owners."""
    random = np.random.default_rng(7)
    centres = unit_rows(random.normal(size=(intents, dim)))
    scattered = np.repeat(centres, utterances, axis=0) + spread * random.normal(size=(intents * utterances, dim))
    return unit_rows(scattered), [intent for intent in range(intents) for _ in range(utterances)]


@pytest.fixture(scope="module")
def own_registry() -> tuple[np.ndarray, list[int]]:
    """The project's own intents under the fake encoder."""
    registry = read_registry(INTENTS)
    texts = [clean(u.text) for intent in registry for u in intent.utterances]
    return WordHashEncoder().encode(texts), [n for n, intent in enumerate(registry) for _ in intent.utterances]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_the_same_registry_teaches_the_same(own_registry, aggregation):
    """Calibration is deterministic, to the last digit."""
    vectors, owners = own_registry

    assert calibrate(vectors, owners, aggregation) == calibrate(vectors.copy(), list(owners), aggregation)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize(("intents", "utterances"), [(0, 0), (1, 1), (1, 100), (2, 1), (50, 1), (3, 3)])
def test_a_small_registry_teaches_nothing(intents, utterances, aggregation):
    """Without twenty cases of either kind there is no confidence, and the fallback threshold stands."""
    vectors, owners = clusters(intents, utterances, spread=0.1)

    calibration = calibrate(vectors, owners, aggregation)

    assert calibration.threshold == FALLBACK_THRESHOLD
    assert calibration.weights is None
    assert calibration.confidence(1.0, 1.0) is None


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_a_separable_registry_is_sure_of_high_scores_and_of_low_ones(aggregation):
    """Where intents lie far apart, their own scores are near certain and a stranger's are not."""
    calibration = calibrate(*clusters(20, 8, spread=0.05), aggregation)

    assert calibration.confidence(0.95, 0.6) > 0.95
    assert calibration.confidence(0.1, 0.0) < 0.2
    assert 0.5 < calibration.threshold < 1.0


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("spread", [0.05, 0.15, 0.3])
def test_confidence_rises_with_the_score_and_with_the_lead(spread, aggregation):
    """A better score is never less sure, whether the second stays where it is or keeps its distance."""
    calibration = calibrate(*clusters(20, 8, spread=spread), aggregation)

    with_lead = [calibration.confidence(score, score - 0.1) for score in np.linspace(0.1, 1.0, 10)]
    at_distance = [calibration.confidence(score, 0.2) for score in np.linspace(0.1, 1.0, 10)]
    by_lead = [calibration.confidence(0.7, gap) for gap in np.linspace(0.0, 0.7, 8)]

    for curve in (with_lead, at_distance, by_lead):
        assert curve == sorted(curve)
        assert 0.0 <= curve[0] < curve[-1] <= 1.0


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_confidence_rises_with_the_score_on_real_lines(own_registry, aggregation):
    """The project's own intents teach a confidence that grows with the score and with the lead."""
    calibration = calibrate(*own_registry, aggregation)

    assert calibration.confidence(0.9, 0.3) > calibration.confidence(0.6, 0.3) > calibration.confidence(0.3, 0.1)
    assert calibration.cases > 1000


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(st.data())
def test_a_held_out_case_scores_as_if_its_line_had_never_been_written(aggregation, data):
    """Every score is that of an index without the line; and with its whole intent gone, of one without the intent."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    owners = [owner for owner, size in enumerate(sizes) for _ in range(size)]
    seed = data.draw(st.integers(0, 1000))
    vectors = unit_rows(np.random.default_rng(seed).normal(size=(len(owners), 5)))

    held_out = hold_out(vectors, owners, aggregation)

    known, unknown = [], []
    for row, owner in enumerate(owners):
        others = [other for other in range(len(owners)) if other != row]
        strangers = [other for other in others if owners[other] != owner]
        if owners.count(owner) > 1:
            known.append(best_of(vectors[row], vectors[others], [owners[other] for other in others], aggregation))
        unknown.append(best_of(vectors[row], vectors[strangers], [owners[other] for other in strangers], aggregation))
    assert held_out.score[held_out.known] == pytest.approx(np.array([score for score, _ in known]), abs=1e-5)
    assert held_out.score[~held_out.known] == pytest.approx(np.array([score for score, _ in unknown]), abs=1e-5)
    lone = [owner for owner in owners if owners.count(owner) > 1]
    assert held_out.right[held_out.known].tolist() == [
        leads == owner for (_, leads), owner in zip(known, lone, strict=True)
    ]
    assert not held_out.right[~held_out.known].any()


def best_of(vector: np.ndarray, vectors: np.ndarray, owners: list[int], aggregation: str) -> tuple[float, int]:
    index = ExactIndex(vectors, owners, aggregation)
    scores, _ = index.scores(vector[None, :])
    return float(scores.max()), int(index.owners[scores.argmax()])


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_a_line_is_never_held_against_itself(aggregation):
    """Lines that have nothing in common score 0 against one another; only against itself would one score 1."""
    owners = [row // 4 for row in range(32)]

    held_out = hold_out(np.eye(32, dtype=np.float32), owners, aggregation)

    assert held_out.score.max() == 0.0


def test_the_same_line_twice_does_not_answer_for_itself():
    """A line that is written twice is as if it were written once."""
    vectors, owners = np.repeat(np.eye(8, dtype=np.float32), 2, axis=0), [row // 4 for row in range(16)]

    assert hold_out(vectors, owners, "max").score.max() == 0.0


def test_an_intent_that_is_one_line_twice_has_nothing_left_to_be_found_by():
    """Where every line of an intent is the held-out one, only the refusal is a case."""
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)

    held_out = hold_out(vectors, [0, 0, 1, 1], "mean2")

    assert held_out.known.tolist() == [True, True, False, False, False, False]


def test_the_same_line_in_two_intents_is_no_way_to_find_either():
    """A line that belongs to two intents is held out of both, and finding neither is never right."""
    held_out = hold_out(np.ones((2, 1), dtype=np.float32), [0, 1], "max")

    assert held_out.known.tolist() == [False, False]
    assert held_out.right.tolist() == [False, False]
    assert held_out.score.tolist() == [-1.0, -1.0]
    assert held_out.gap.tolist() == [0.0, 0.0]


def test_small_intents_are_understood_under_both_aggregations():
    """Intents of two lines each calibrate as well as any; the one line that is left scores as itself."""
    vectors, owners = clusters(40, 2, spread=0.05)

    held_out = hold_out(vectors, owners, "mean2")

    assert held_out.right[held_out.known].all()
    assert calibrate(vectors, owners, "mean2").confidence(0.95, 0.6) > 0.9


def test_the_gap_is_the_lead_over_the_second_intent():
    """Gaps are never negative, and never more than the two ends of the scale allow."""
    held_out = hold_out(*clusters(5, 3, spread=0.3), "max")

    assert (held_out.gap >= 0.0).all()
    assert (held_out.gap <= held_out.score + 1.0).all()


def test_a_large_registry_is_sampled_evenly():
    """Beyond some thousands of lines the number of cases stays bounded, and every part of the registry has some."""
    vectors, owners = clusters(500, 10, spread=0.2, dim=8)

    held_out = hold_out(vectors, owners, "max")

    assert 2000 < len(held_out.score) <= 4000


@pytest.mark.parametrize(
    "calibration",
    [Calibration(), Calibration(0.0, (0.0, 0.0, 0.0), 7), Calibration(0.4131, (-2.578, 4.186, 6.653), 2992)],
)
def test_a_calibration_survives_json(calibration):
    """`from_dict` is the inverse of `to_dict`, through JSON and back."""
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


@given(st.floats(-1.0, 1.0), st.floats(0.0, 2.0), st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_a_confidence_is_a_probability(score, gap, weights):
    """Whatever was learned, a confidence lies between 0 and 1."""
    assert 0.0 <= Calibration(0.5, weights, 100).confidence(score, gap) <= 1.0
