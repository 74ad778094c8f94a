"""A store that never fails: a conversation goes on without memory while its store is unavailable."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from intentmatch.dialogue.stores import Store

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")


class LenientStore:
    """Keeps values in a `Store` and logs its exceptions. What cannot be kept is lost.

    `kept` names the values in the log: "the open question".
    """

    def __init__(self, store: Store, kept: str) -> None:
        self._store, self._kept = store, kept

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for this many seconds."""
        try:
            self._store.put(conversation, text, seconds)
        except Exception:  # noqa: BLE001 - a store may raise anything
            _log.exception("cannot keep %s in the store", self._kept)

    def pop(self, conversation: str, read: Callable[[str], _Value]) -> _Value | None:
        """Remove the text of a conversation and return what `read` makes of it.

        None if there is no text, or if the store or `read` raises an exception.
        """
        try:
            text = self._store.pop(conversation)
            return None if text is None else read(text)
        except Exception:  # noqa: BLE001 - a store may raise anything, and may return another program's text
            _log.exception("cannot read %s from the store", self._kept)
            return None
