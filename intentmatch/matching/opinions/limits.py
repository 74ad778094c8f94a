"""Limits on requests to a server: a budget per minute and per day, and a circuit breaker. Not thread-safe alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

_SECONDS = {"minute": 60.0, "day": 86_400.0}
# Consecutive failures that open the circuit, its first pause in seconds, and the longest: it doubles each time.
_FAILURES, _PAUSE, _LONGEST_PAUSE = 3, 10.0, 320.0


class Budget:
    """Counts requests in the last minute and the last day; `clock` returns seconds that never go back."""

    def __init__(self, limits: Mapping[str, int], clock: Callable[[], float]) -> None:
        self._limits, self._clock = limits, clock
        self._sent: dict[str, deque[float]] = {time: deque() for time in limits}

    def take(self) -> str | None:
        """Count one request; if there is no room for it, count nothing and return the limit in words."""
        now = self._clock()
        for time, sent in self._sent.items():
            while sent and sent[0] <= now - _SECONDS[time]:
                sent.popleft()
            if len(sent) >= self._limits[time]:
                return f"the budget of {self._limits[time]:,} requests a {time} is used up"
        # Only now, with room in all budgets: a request that one of them forbids must not use up the others.
        for sent in self._sent.values():
            sent.append(now)
        return None


class CircuitBreaker:
    """Stops requests to a server that fails: after three failures in a row for 10 s, then for twice as long each time.

    After a pause one request is let through; its success closes the circuit.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures, self._pause, self._until = 0, _PAUSE, 0.0

    def rest(self) -> float:
        """Return the seconds to wait before the next request; 0.0 if it may be sent."""
        rest = self._until - self._clock()
        if rest > 0.0:
            return rest
        if self._failures >= _FAILURES:
            # Others wait for the result of this trial.
            self._until = self._clock() + self._pause
        return 0.0

    def succeeded(self) -> None:
        """Record an answer."""
        self._failures, self._pause, self._until = 0, _PAUSE, 0.0

    def failed(self) -> None:
        """Record a failure."""
        self._failures += 1
        if self._failures >= _FAILURES:
            self._until = self._clock() + self._pause
            self._pause = min(2.0 * self._pause, _LONGEST_PAUSE)
