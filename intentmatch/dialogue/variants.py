"""Choose among the responses of an intent, so that a conversation never gets the same one twice in a row."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from intentmatch.dialogue.lenient_store import LenientStore
from intentmatch.dialogue.stores import Store

_SUFFIX = "#responses"
_SECONDS = 86_400.0
# Bounds the text in the store: the counts of older intents are forgotten.
_MOST_INTENTS = 50


class Variants:
    """Goes through the responses of an intent in an order of its own for each conversation.

    The order follows from `seed`, the conversation and the intent; it begins again after the last response. How many
    responses a conversation got is kept in `store` for a day. If the store fails, the order begins again.
    """

    def __init__(self, store: Store, seed: int) -> None:
        self._store = LenientStore(store, "which responses were given")
        self._seed = seed

    def choose(self, conversation: str, intent: str, responses: Sequence[str]) -> str:
        """Return the next of two or more different responses."""
        # The store has no get: what is taken out is put back below.
        counts = self._store.pop(conversation + _SUFFIX, _counts_in) or {}
        # Taken out, so that the intent comes last and the oldest ones are dropped.
        count = counts.pop(intent, 0)
        counts[intent] = count + 1
        latest = dict(list(counts.items())[-_MOST_INTENTS:])
        self._store.put(conversation + _SUFFIX, json.dumps(latest, ensure_ascii=False), _SECONDS)
        order = list(range(len(responses)))
        # A text as seed gives the same order on every machine.
        random.Random(f"{self._seed}\n{conversation}\n{intent}").shuffle(order)  # noqa: S311 - no secret
        return responses[order[count % len(responses)]]


def _counts_in(text: str) -> dict[str, int]:
    return {str(intent): int(count) for intent, count in json.loads(text).items()}
