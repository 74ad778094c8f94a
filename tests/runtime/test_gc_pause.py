"""Pausing the garbage collector."""

from __future__ import annotations

import gc

import pytest

from intentmatch.runtime.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def collector_on():
    """Turn the collector on for the test, and restore its state afterwards."""
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def test_collector_is_on_again_after_an_error():
    def fail() -> None:
        with gc_paused():
            assert not gc.isenabled()
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert gc.isenabled()


def test_collector_stays_off_if_it_was_off():
    gc.disable()

    with gc_paused():
        pass

    assert not gc.isenabled()


def test_nested_pause_does_not_turn_the_collector_on():
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()

    assert gc.isenabled()
