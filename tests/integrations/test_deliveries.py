"""Events that a platform delivers again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from intentmatch.integrations.deliveries import Deliveries


def is_new(deliveries: Deliveries, event: str | None) -> bool:
    with deliveries.once(event) as new:
        return new


def test_event_is_handled_once():
    deliveries = Deliveries()

    assert [is_new(deliveries, event) for event in ("a", "b", "a", "b")] == [True, True, False, False]


def test_event_without_id_is_always_handled():
    deliveries = Deliveries()

    assert is_new(deliveries, None)
    assert is_new(deliveries, None)


def test_event_is_handled_again_after_an_error():
    """A repeated delivery whose handling fails changes nothing."""
    deliveries = Deliveries()

    with pytest.raises(ZeroDivisionError), deliveries.once("a"):
        raise ZeroDivisionError
    assert is_new(deliveries, "a")
    with pytest.raises(ZeroDivisionError), deliveries.once("a"):
        raise ZeroDivisionError
    assert not is_new(deliveries, "a")


def test_event_is_forgotten_after_its_time():
    now = 0.0
    deliveries = Deliveries(seconds=10, clock=lambda: now)
    is_new(deliveries, "a")

    now = 9.9
    assert not is_new(deliveries, "a")
    now = 10.0
    assert is_new(deliveries, "a")


def test_only_latest_events_are_remembered():
    deliveries = Deliveries(most=2)
    for event in ("a", "b", "c"):
        is_new(deliveries, event)

    assert [is_new(deliveries, event) for event in ("b", "c", "a")] == [False, False, True]


def test_threads_handle_an_event_once():
    deliveries = Deliveries()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: is_new(deliveries, "a"), range(200))) == 1
