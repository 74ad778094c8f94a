"""Estimate how long an evaluation still takes, from the pace of its builds and of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class Pace:
    """Counts the time of two kinds of work: building registries, by utterances, and answering messages.

    Messages come in bursts between long builds, so their rate alone would say that the work is nearly done whenever a
    burst has passed. The work of each kind still to do takes as long as the newer half of that kind took.
    """

    def __init__(self, messages: int, utterances: int = 0, clock: Callable[[], float] = perf_counter) -> None:
        """Plan to answer so many `messages`, and to build registries of so many `utterances` in all."""
        self._clock = clock
        self._answering, self._building = _Kind(messages), _Kind(utterances)

    @contextmanager
    def answering(self, messages: int) -> Iterator[None]:
        """Measure the block, which answers so many messages."""
        with self._measured(self._answering, messages):
            yield

    @contextmanager
    def building(self, utterances: int) -> Iterator[None]:
        """Measure the block, which builds a registry of so many utterances."""
        with self._measured(self._building, utterances):
            yield

    def seconds_left(self) -> float | None:
        """Return the seconds that all work left takes; None while some kind of it is yet unknown."""
        left = [kind.seconds_left() for kind in (self._answering, self._building)]
        known = [seconds for seconds in left if seconds is not None]
        # A sum without one kind would be a promise that cannot hold.
        return sum(known) if len(known) == len(left) else None

    @contextmanager
    def _measured(self, kind: _Kind, count: int) -> Iterator[None]:
        start = self._clock()
        yield
        kind.measured.append((count, self._clock() - start))


class _Kind:
    """Work of one kind: units planned, and units with their seconds as they were done."""

    def __init__(self, planned: int) -> None:
        self.planned = planned
        self.measured: list[tuple[int, float]] = []

    def seconds_left(self) -> float | None:
        left = max(self.planned - sum(count for count, _ in self.measured), 0)
        # The first builds are slower: they encode texts that later ones find encoded.
        newer = self.measured[len(self.measured) // 2 :]
        units, seconds = sum(count for count, _ in newer), sum(seconds for _, seconds in newer)
        if not left:
            return 0.0
        return left * seconds / units if units else None
