"""A store that never fails: a conversation goes on without memory while its store is unavailable."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.rare_lines import RareLines
from intentmatch.dialogue.stores import Store

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")


# Each call has a `LenientStore` of its own, so that the lines are counted with the store behind it.
_lines: WeakKeyDictionary[Store, RareLines] = WeakKeyDictionary()


class LenientStore:
    """Keeps values in a `Store` and logs its exceptions, at most once a minute. What cannot be kept is lost.

    `kept` names the values in the log: "the open question".
    """

    def __init__(self, store: Store, kept: str) -> None:
        self._store, self._kept = store, kept

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for this many seconds."""
        try:
            self._store.put(conversation, text, seconds)
        except Exception as error:  # noqa: BLE001 - a store may raise anything
            self._tell(f"keep {self._kept} in", error)

    def pop(self, conversation: str, read: Callable[[str], _Value]) -> _Value | None:
        """Remove the text of a conversation and return what `read` makes of it.

        None if there is no text, or if the store or `read` raises an exception.
        """
        try:
            text = self._store.pop(conversation)
            return None if text is None else read(text)
        except Exception as error:  # noqa: BLE001 - a store may raise anything, and may return another program's text
            self._tell(f"read {self._kept} from", error)
            return None

    def _tell(self, failed: str, error: Exception) -> None:
        if _lines_of(self._store).due(failed):
            expected = isinstance(error, IntentMatchError)
            _log.error("cannot %s the store: %s", failed, error, exc_info=None if expected else error)


def _lines_of(store: Store) -> RareLines:
    try:
        return _lines.setdefault(store, RareLines())
    except TypeError:  # without a hash or weak references
        return RareLines()
