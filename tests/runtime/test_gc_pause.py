"""Where garbage is not looked for."""

from __future__ import annotations

import gc

import pytest

from intentmatch.runtime.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def looking():
    """As it was, whatever a test does."""
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def test_it_is_looked_for_again_afterwards():
    """Whatever happened meanwhile."""

    def fail() -> None:
        with gc_paused():
            assert not gc.isenabled()
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert gc.isenabled()


def test_who_does_not_want_it_looked_for_keeps_that():
    """A program that has turned the search off has its reasons."""
    gc.disable()

    with gc_paused():
        pass

    assert not gc.isenabled()


def test_the_first_to_come_ends_it():
    """One inside another changes nothing for the outer one."""
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()

    assert gc.isenabled()
