"""Rate limits: one token bucket per caller.

A bucket holds as many requests as the limit allows, and refills evenly over the period. Each process counts its own
requests.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable

from intentmatch.core.errors import InputError

_PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
_LIMIT = re.compile(rf"([1-9][0-9]{{0,8}})/({'|'.join(_PERIODS)})")

# Callers without keys are told apart by address, and one caller may have many: the least recent bucket is dropped.
_MAX_CALLERS = 10_000


class RateLimiter:
    """The token buckets of an app's callers."""

    def __init__(self, limit: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Parse a limit such as `600/minute`. Raises `InputError` for anything else."""
        found = _LIMIT.fullmatch(limit)
        if found is None:
            raise InputError(f"a rate limit is requests per second, minute or hour, such as 600/minute, not {limit!r}")
        self.limit = limit
        self._capacity = float(found[1])
        self._per_second = self._capacity / _PERIODS[found[2]]
        self._clock = clock
        # Tokens left, and the time of that count.
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> int:
        """Take one token from a caller's bucket. Returns 0, or the seconds to wait if the bucket is empty."""
        now = self._clock()
        left = self._left(caller, now)
        allowed = left >= 1.0
        # Taken out first, so that it comes last: a dict keeps the place of a key that it has.
        self._buckets.pop(caller, None)
        self._buckets[caller] = (left - allowed, now)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if allowed else self._wait(left)

    def seconds_to_wait(self, caller: bytes) -> int:
        """Return what `take` would, without taking a token."""
        left = self._left(caller, self._clock())
        return 0 if left >= 1.0 else self._wait(left)

    def _left(self, caller: bytes, now: float) -> float:
        left, then = self._buckets.get(caller, (self._capacity, now))
        return min(self._capacity, left + (now - then) * self._per_second)

    def _wait(self, left: float) -> int:
        # Retry-After has whole seconds, and 0 would invite the next refusal.
        return max(1, math.ceil((1.0 - left) / self._per_second))
