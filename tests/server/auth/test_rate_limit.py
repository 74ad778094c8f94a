"""Token buckets: how much may be taken, and when there is more."""

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


def test_a_full_bucket_may_be_emptied_at_once_and_fills_evenly() -> None:
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


def test_callers_do_not_take_from_each_other() -> None:
    """Each has a bucket."""
    rates = RateLimiter("1/hour", clock=Clock())
    assert [rates.take(b"a"), rates.take(b"b"), rates.take(b"a")] == [0, 0, 3600]


def test_memory_is_bounded() -> None:
    """Any number of callers may come; those longest away are forgotten."""
    rates = RateLimiter("1/hour", clock=Clock())
    for n in range(20_000):
        rates.take(str(n).encode())
    assert len(rates._buckets) == 10_000
    assert rates.take(b"19999") == 3600


@given(st.lists(st.floats(0, 100), max_size=60))
def test_no_more_than_the_limit_and_what_came_since(pauses: list[float]) -> None:
    """Whatever the pauses, what was taken is at most what the bucket held and what ran in; who waits as told may."""
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
def test_what_is_no_limit_is_refused(limit: str) -> None:
    """With an example of one."""
    with pytest.raises(InputError, match="600/minute"):
        RateLimiter(limit)
