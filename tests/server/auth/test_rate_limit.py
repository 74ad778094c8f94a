"""Token buckets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import InputError
from intentmatch.server.auth.rate_limit import RateLimiter


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_full_bucket_empties_at_once_and_refills_evenly() -> None:
    """Three a minute: three now, the next after twenty seconds, and never more than three."""
    clock = Clock()
    rates = RateLimiter("3/minute", clock=clock)
    assert [rates.take(b"a") for _ in range(5)] == [0, 0, 0, 20, 20]
    clock.now += 19
    assert rates.take(b"a") == 1
    clock.now += 1
    assert [rates.take(b"a"), rates.take(b"a")] == [0, 20]
    clock.now += 1e6
    assert [rates.take(b"a") for _ in range(4)] == [0, 0, 0, 20]


def test_each_caller_has_a_bucket() -> None:
    rates = RateLimiter("1/hour", clock=Clock())
    assert [rates.take(b"a"), rates.take(b"b"), rates.take(b"a")] == [0, 0, 3600]


def test_least_recent_callers_are_forgotten() -> None:
    rates = RateLimiter("1/hour", clock=Clock())
    for n in range(20_000):
        rates.take(str(n).encode())
    assert len(rates._buckets) == 10_000
    assert rates.take(b"19999") == 3600


@given(st.lists(st.floats(0, 100), max_size=60))
def test_bucket_gives_at_most_its_size_and_what_has_refilled(pauses: list[float]) -> None:
    """A caller who waits as told may call."""
    clock = Clock()
    rates = RateLimiter("5/minute", clock=clock)
    taken, passed = 0, 0.0
    for pause in pauses:
        clock.now += pause
        passed += pause
        wait = rates.take(b"a")
        taken += not wait
        assert taken <= 5 + passed * 5 / 60 + 1e-6
    clock.now += rates.take(b"a")
    assert rates.take(b"a") <= 12


@pytest.mark.parametrize("limit", ["", "10", "0/second", "-1/second", "1.5/second", "ten/minute", "10/day", "1/hour "])
def test_invalid_limit_is_refused(limit: str) -> None:
    """The message shows a valid one."""
    with pytest.raises(InputError, match="600/minute"):
        RateLimiter(limit)


def test_seconds_to_wait_takes_nothing() -> None:
    rates = RateLimiter("1/minute", clock=Clock())
    assert [rates.seconds_to_wait(b"a") for _ in range(3)] == [0, 0, 0]
    assert (rates.take(b"a"), rates.seconds_to_wait(b"a"), rates.take(b"a")) == (0, 60, 60)
