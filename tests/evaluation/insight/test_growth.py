"""Where ten more utterances would help most."""

from __future__ import annotations

import json

import numpy as np
import pytest

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.insight.growth import MeasuredSize, _kept, growths, learning_curve
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases

SIZES = (10, 20, 30, 40)


def measured(*errors: tuple[float, float, float, float], cases: int = 400) -> list[MeasuredSize]:
    """Cases of intents with these shares of errors at the four sizes."""
    count = len(errors)
    return [
        MeasuredSize(
            np.full(count, size),
            np.full(count, cases),
            np.array([round(cases * of_intent[place]) for of_intent in errors]),
        )
        for place, size in enumerate(SIZES)
    ]


def test_intent_that_misses_most_gains_most():
    power = np.array(SIZES, dtype=float) ** -0.5
    found = growths(["good", "bad"], measured(tuple(0.5 * power), tuple(2.0 * power)))

    assert [one.intent for one in found] == ["bad", "good"]
    expected = 2.0 * (40**-0.5 - 50**-0.5)
    assert found[0].gain == pytest.approx(expected, rel=0.15)
    assert found[0].error == pytest.approx(2.0 * 40**-0.5, rel=0.1)


def test_small_intent_gains_more_than_a_large_one_with_the_same_error():
    two = measured((0.4, 0.3, 0.25, 0.2), (0.4, 0.3, 0.25, 0.2))
    two = [one._replace(sizes=one.sizes * np.array([1, 8])) for one in two]

    found = growths(["small", "large"], two)

    assert found[0].intent == "small"
    assert found[0].gain > 3 * found[1].gain


def test_flat_curve_promises_nothing():
    found = growths(["one", "two"], measured((0.3, 0.3, 0.3, 0.3), (0.3, 0.3, 0.3, 0.3)))

    assert all(one.gain == pytest.approx(0.0, abs=1e-3) for one in found)


def test_rising_error_promises_nothing_and_not_a_loss():
    found = growths(["one"], measured((0.1, 0.2, 0.3, 0.4)))

    assert found[0].gain == 0.0


def test_fewer_cases_give_a_wider_interval():
    errors = (0.4, 0.3, 0.25, 0.2)
    many = growths(["one", "two"], measured(errors, errors, cases=1000))[0]
    few = growths(["one", "two"], measured(errors, errors, cases=10))[0]

    assert many.low <= many.gain <= many.high
    assert few.high - few.low > 2 * (many.high - many.low)


def test_intent_without_cases_is_left_out():
    one = measured((0.4, 0.3, 0.25, 0.2), (0.0, 0.0, 0.0, 0.0))
    one = [each._replace(cases=each.cases * np.array([1, 0])) for each in one]

    assert [each.intent for each in growths(["kept", "without"], one)] == ["kept"]


def test_curve_of_a_registry_grows_with_its_lines(cases: HeldOutCases):
    found = learning_curve(cases)

    sizes = [size for size, _ in found.points]
    assert sizes == sorted(sizes)
    assert sizes[-1] == len(cases.registry.utterances)
    assert {one.intent for one in found.growths} == set(cases.names)
    assert all(0.0 <= one.gain <= one.error <= 1.0 for one in found.growths)
    assert learning_curve(cases) == found
    json.dumps(found.to_dict())


def test_every_intent_keeps_two_lines_in_the_smallest_share():
    lines = tuple(Utterance(f"line {number}") for number in range(5))
    registry = Registry((Intent("a", lines[:3]), Intent("b", lines[3:])))

    kept = _kept(registry, np.arange(5), 0.1)

    assert sorted(registry.owners[row] for row in kept) == [0, 0, 1, 1]
