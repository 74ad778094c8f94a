"""Processor time as on one known machine: a test states its limit for that machine and holds on slower ones."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable

REFERENCE_SECONDS = 0.0155
"""Processor time of `_reference` where the limits of the tests were chosen: the best of 50 on CPython 3.11."""
_TEXT = "From Berlin to Zürich on the 5th of November at 8:30 for 3 people, 120 €, or tomorrow morning? " * 8
_WORDS = re.compile(r"\w+(?:[-']\w+)*|[^\w\s]")
_NUMBERS = re.compile(r"(?<!\w)\d+(?:[.,:]\d+)*(?!\w)")


def _reference() -> int:
    """Do a fixed piece of work of the kind that reading a message is: scanning, folding, counting, small tuples."""
    seen: dict[str, int] = {}
    spans = []
    for _ in range(60):
        folded = unicodedata.normalize("NFKD", _TEXT).casefold()
        for match in _WORDS.finditer(folded):
            word = match.group()
            seen[word] = seen.get(word, 0) + 1
            spans.append((match.start(), match.end(), word.isalpha()))
        spans += [(*match.span(), False) for match in _NUMBERS.finditer(folded)]
    return len(sorted(spans)) + len(seen)


def _seconds(run: Callable[[], object]) -> float:
    began = time.thread_time()
    run()
    return time.thread_time() - began


def standard_seconds(run: Callable[[], object], enough: float, attempts: int = 6) -> float:
    """Return the processor time of `run` in seconds, as it would be on the machine of `REFERENCE_SECONDS`.

    The time is divided by the slowness of this machine, which a fixed piece of work shows. Both times are the best of
    several, taken in turns, because other processes slow both down. Ends as soon as the result is at most `enough`.
    """
    best = slowness = float("inf")
    for _ in range(attempts):
        best = min(best, _seconds(run))
        if best <= enough:
            return best
        slowness = min(slowness, _seconds(_reference) / REFERENCE_SECONDS)
        if best / max(1.0, slowness) <= enough:
            break
    return best / max(1.0, slowness)
