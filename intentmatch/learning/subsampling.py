"""How much of a registry is learned from, so that a large one is built in bounded time and memory.

A head takes time and memory in proportion to utterances times intents. Beyond a bound it is fitted on some utterances
of each intent, and where these would be too few there is none: then intents are told apart by cosine. What is held out
for the thresholds comes from the same utterances. Scores and typing mistakes know all of them, always.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry

MOST_UTTERANCES = 30_000
"""That are learned from."""
MOST_NUMBERS = 10_000_000
"""Utterances times intents that a head is fitted to."""
FEWEST_EACH = 5
"""Utterances of an intent without which no head is fitted, where an intent has as many."""


def sample(registry: Registry) -> NDArray[np.int64]:
    """The rows of the utterances that are learned from, rising: all, or spread evenly over those of each intent."""
    each = _each(registry, MOST_UTTERANCES if beyond_a_head(registry) else _most(registry))
    rows, begin = [], 0
    for size in _sizes(registry).tolist():
        taken = min(size, each)
        rows.append(begin + np.arange(taken) * size // max(1, taken))
        begin += size
    return np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)


def beyond_a_head(registry: Registry) -> bool:
    """Whether there are so many intents that a head would have to be fitted on too few utterances of each."""
    return _each(registry, _most(registry)) < min(FEWEST_EACH, int(_sizes(registry).max(initial=0)))


def subsampling_problems(registry: Registry, settings: Settings) -> list[Problem]:
    """What a head is not fitted to, where one is wanted, and why."""
    if settings.scorer != "head":
        return []
    place = next((intent.location for intent in registry if intent.location), NOWHERE)
    intents, utterances = len(registry), len(registry.utterances)
    if beyond_a_head(registry):
        says = f"{utterances} utterances of {intents} intents are too many for a head; they are told apart by cosine"
        return [Problem(place, "warning", "head-too-large", says, "fewer intents, or several registries, have one")]
    used = len(sample(registry))
    if used == utterances:
        return []
    says = f"the head is fitted on {used} of {utterances} utterances, spread evenly over those of each intent"
    return [Problem(place, "info", "head-sampled", says, "nothing is lost for scores and typing mistakes")]


def _sizes(registry: Registry) -> NDArray[np.int64]:
    return np.array([len(intent.utterances) for intent in registry], dtype=np.int64)


def _most(registry: Registry) -> int:
    return min(MOST_UTTERANCES, MOST_NUMBERS // max(1, len(registry)))


def _each(registry: Registry, most: int) -> int:
    """Of so many utterances in all, how many an intent may give."""
    sizes = _sizes(registry)
    largest = int(sizes.max(initial=0))
    return bisect_right(range(largest), most, key=lambda each: int(np.minimum(sizes, each + 1).sum()))
