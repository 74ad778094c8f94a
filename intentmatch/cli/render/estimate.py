"""Estimate how long a step of long work still takes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from intentmatch.runtime.steps import Step

# Before so many seconds and advances, a rate says little: the first items are often cached, or the first of a kind.
_LEAST_SECONDS = 2.0
_LEAST_ADVANCES = 3
# The rate is that of this share of the time so far, and of so many of the longest gaps between advances at least.
_WINDOW, _GAPS = 1 / 3, 4
# An estimate never falls below this while there is work left.
_SOON = 1.0
# A silence of this share of an estimate is as usual, even if none was as long before.
_PART = 0.1


class _Advance(NamedTuple):
    moment: float
    done: int


class TimeLeft:
    """The time that one step still needs, from its rate over the last third of its time so far.

    A third of the time so far follows work that becomes slower, however long the step is; where work comes in bursts,
    the rate is that of several bursts. Between two advances the estimate counts down; a silence longer than any before
    makes it grow again. Moments are seconds of any clock that does not run backwards.
    """

    def __init__(self, started: float) -> None:
        self._started = started
        self._advances = deque([_Advance(started, 0)])
        self._total: int | None = None
        self._given: float | None = None
        self._last, self._longest_gap = started, 0.0
        self._count = 0

    def update(self, step: Step, now: float) -> None:
        """Take note of how far the step is."""
        done = self._advances[-1].done
        advanced = step.done > done or step.seconds_left != self._given
        self._total, self._given = step.total, step.seconds_left
        if not advanced:
            return
        if step.done > done:
            self._advances.append(_Advance(now, step.done))
            self._count += 1
        self._longest_gap = max(self._longest_gap, now - self._last)
        self._last = now

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds left; None if they are not known or while an estimate would mean nothing."""
        expected = self._given if self._given is not None else self._by_rate()
        if expected is None:
            return None
        since, usual = now - self._last, max(self._longest_gap, _PART * expected, _SOON)
        return max(expected - min(since, usual), _SOON) * max(1.0, since / usual)

    def _by_rate(self) -> float | None:
        """Return the seconds left at the last advance."""
        last = self._advances[-1]
        elapsed = last.moment - self._started
        if not self._total or elapsed < _LEAST_SECONDS or self._count < _LEAST_ADVANCES:
            return None
        window = max(elapsed * _WINDOW, _GAPS * self._longest_gap)
        # The first of those that stay lies at or before the beginning of the window, so that the rate covers all of it.
        while len(self._advances) > 2 and self._advances[1].moment <= last.moment - window:
            self._advances.popleft()
        first = self._advances[0]
        rate = (last.done - first.done) / (last.moment - first.moment)
        return max(self._total - last.done, 0) / rate


def in_words(seconds: float) -> str:
    """Return a duration in words, rounded up to what an estimate can promise: "about 40 s", "about 3 min"."""
    if seconds <= 5:
        return "a few seconds"
    if seconds <= 60:
        return f"about {-(-int(seconds + 0.999) // 5) * 5} s"
    minutes = -(-int(seconds + 0.999) // 60)
    return f"about {minutes} min" if minutes < 120 else f"about {-(-minutes // 60)} h"
