"""Choose the utterances of a large registry that are trained on, so that a build is bounded in time and memory.

Training a head takes time and memory proportional to utterances times intents. Beyond a bound the head is trained on
some utterances of each intent. If these would be too few, there is no head and cosine similarity decides. Thresholds
are calibrated on the same utterances. Scores and typing mistakes always use all utterances.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import NOWHERE, Problem, counted
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry

MOST_UTTERANCES = 30_000
"""Utterances that are trained on at most."""
MOST_NUMBERS = 10_000_000
"""Utterances times intents that a head is trained on at most."""
FEWEST_EACH = 5
"""Fewest utterances of each intent for a head, as far as the intent has so many."""


def sample(registry: Registry) -> NDArray[np.int64]:
    """Return the rows that are trained on, in rising order: all, or evenly spread over those of each intent."""
    each = _each(registry, MOST_UTTERANCES if beyond_a_head(registry) else _most(registry))
    rows, begin = [], 0
    for size in _sizes(registry).tolist():
        taken = min(size, each)
        # The product may exceed 32 bits, which is the default of numpy 1 on Windows and of 32-bit systems.
        rows.append(begin + np.arange(taken, dtype=np.int64) * size // max(1, taken))
        begin += size
    return np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)


def beyond_a_head(registry: Registry) -> bool:
    """Whether a head would have to be trained on too few utterances of each intent."""
    return _each(registry, _most(registry)) < min(FEWEST_EACH, int(_sizes(registry).max(initial=0)))


def subsampling_problems(registry: Registry, settings: Settings) -> list[Problem]:
    """Return a problem if the setting asks for a head and it is missing or trained on a sample."""
    if settings.scorer != "head":
        return []
    place = next((intent.location for intent in registry if intent.location), NOWHERE)
    intents, utterances = len(registry), len(registry.utterances)
    if beyond_a_head(registry):
        many = f"{utterances} utterances of {counted(intents, 'intent')}"
        says = f"{many} are too many for a head; cosine similarity tells them apart"
        return [
            Problem(place, "warning", "head-too-large", says, "use fewer intents or several registries to have a head")
        ]
    used = len(sample(registry))
    if used == utterances:
        return []
    says = f"the head is trained on {used} of {utterances} utterances, evenly spread over those of each intent"
    return [Problem(place, "info", "head-sampled", says, "scores and typing mistakes still use all utterances")]


def _sizes(registry: Registry) -> NDArray[np.int64]:
    return np.array([len(intent.all_utterances) for intent in registry], dtype=np.int64)


def _most(registry: Registry) -> int:
    return min(MOST_UTTERANCES, MOST_NUMBERS // max(1, len(registry)))


def _each(registry: Registry, most: int) -> int:
    """Return how many utterances each intent may contribute so that all together stay below `most`."""
    sizes = _sizes(registry)
    largest = int(sizes.max(initial=0))
    # Small intents keep all of their utterances, and the room that they leave is for the large ones.
    return bisect_right(range(largest), most, key=lambda each: int(np.minimum(sizes, each + 1).sum()))
