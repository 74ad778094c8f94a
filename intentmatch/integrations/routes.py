"""Which of a bot's functions answers a turn: shared by the adapters that call functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from intentmatch import Dialogue, Registry, Turn, UnknownNameError

Handler = Callable[..., Any]
_H = TypeVar("_H", bound=Handler)


class Routes:
    """Functions by intent, and one for what no intent answers. Adapters add to it how messages come and replies go.

    An intent without a function is answered with its response from the YAML, and a question is asked as it is: a bot
    needs functions only for what it does beside talking.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self._handlers: dict[str, Handler] = {}
        self._fallback: Handler | None = None

    def intent(self, *names: str) -> Callable[[_H], _H]:
        """Marks the function that answers these intents. Raises `UnknownNameError` for one that is not there."""
        check_intents(self.dialogue.matcher.registry, names)

        def mark(handler: _H) -> _H:
            self._handlers.update(dict.fromkeys(names, handler))
            return handler

        return mark

    def fallback(self, handler: _H) -> _H:
        """Marks the function that answers what is not understood; without one, such messages get no reply."""
        self._fallback = handler
        return handler

    def handler(self, turn: Turn) -> Handler | None:
        """The function for a turn; None where its `reply` says it all, or nothing is to be said."""
        if turn.intent is not None:
            return self._handlers.get(turn.intent)
        return None if turn.reply is not None or not turn else self._fallback


def check_intents(registry: Registry, names: Iterable[str]) -> None:
    """Raise `UnknownNameError` for the name of no intent, so that a typing mistake shows when a bot starts."""
    for name in names:
        if name not in registry:
            raise UnknownNameError("intent", name, [intent.name for intent in registry])
