"""How often one caller may call: token buckets.

A bucket holds as many requests as the limit names, and fills again evenly over its period. Each process counts for
itself.
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

# Callers without keys are told apart by their addresses, and of those anyone may have many. Whoever was longest away is
# forgotten first.
_MAX_CALLERS = 10_000


class Rates:
    """The buckets of an app's callers."""

    def __init__(self, limit: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """The limit is such as `600/minute`. Raises `InputError` for anything else."""
        found = _LIMIT.fullmatch(limit)
        if found is None:
            raise InputError(f"a rate limit is a number per second, minute or hour, such as 600/minute, not {limit!r}")
        self.limit = limit
        self._capacity = float(found[1])
        self._per_second = self._capacity / _PERIODS[found[2]]
        self._clock = clock
        # What was left, and when.
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> int:
        """Take one request out of a caller's bucket; from 1 on, the seconds until there is one to take."""
        now = self._clock()
        left, then = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - then) * self._per_second)
        allowed = left >= 1.0
        self._buckets[caller] = (left - allowed, now)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1.0 - left) / self._per_second))
