"""Choose among the responses of an intent, so that a conversation never gets the same one twice in a row."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Sequence

from intentmatch.dialogue.stores import Store

_log = logging.getLogger(__name__)

_SUFFIX = "#responses"
_SECONDS = 86_400.0
# The counts of the latest intents are kept.
_MOST_INTENTS = 50


class Variants:
    """Goes through the responses of an intent in an order of its own for each conversation.

    The order follows from `seed`, the conversation and the intent; it begins again after the last response. How many
    responses a conversation got is kept in `store` for a day. If the store fails, the order begins again.
    """

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._seed = seed

    def choose(self, conversation: str, intent: str, responses: Sequence[str]) -> str:
        """Return the next of two or more different responses."""
        counts = self._pop(conversation)
        count = counts.pop(intent, 0)
        counts[intent] = count + 1
        self._put(conversation, dict(list(counts.items())[-_MOST_INTENTS:]))
        order = list(range(len(responses)))
        # A text as seed gives the same order on every machine.
        random.Random(f"{self._seed}\n{conversation}\n{intent}").shuffle(order)  # noqa: S311 - no secret
        return responses[order[count % len(responses)]]

    def _pop(self, conversation: str) -> dict[str, int]:
        try:
            counts = json.loads(self._store.pop(conversation + _SUFFIX) or "{}")
            return {str(intent): int(count) for intent, count in counts.items()}
        except Exception:  # noqa: BLE001 - if the store fails, the bot goes on without memory
            _log.exception("cannot read from the store which responses were given")
            return {}

    def _put(self, conversation: str, counts: dict[str, int]) -> None:
        try:
            self._store.put(conversation + _SUFFIX, json.dumps(counts, ensure_ascii=False), _SECONDS)
        except Exception:  # noqa: BLE001 - if the store fails, the bot goes on without memory
            _log.exception("cannot keep in the store which responses were given")
