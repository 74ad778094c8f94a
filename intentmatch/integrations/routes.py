"""Choose the function of a bot that answers a turn; shared by the adapters that call functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from intentmatch import Dialogue, Registry, Turn, UnknownNameError
from intentmatch.integrations.deliveries import Deliveries

Handler = Callable[..., Any]
_H = TypeVar("_H", bound=Handler)


class Routes:
    """Functions by intent, and a fallback. Adapters add how messages are received and replies are sent.

    Without a function, an intent is answered with its response from the YAML. Questions to the user are sent as they
    are. A bot needs functions only for what it does beside talking. An event that is delivered again is not answered
    again.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self._deliveries = Deliveries()
        self._handlers: dict[str, Handler] = {}
        self._fallback: Handler | None = None

    def intent(self, *names: str) -> Callable[[_H], _H]:
        """Mark the function that answers these intents. Raises `UnknownNameError` if an intent does not exist."""
        check_intents(self.dialogue.matcher.registry, names)

        def mark(handler: _H) -> _H:
            self._handlers.update(dict.fromkeys(names, handler))
            return handler

        return mark

    def fallback(self, handler: _H) -> _H:
        """Mark the function for messages out of scope; without one, such messages get no reply."""
        self._fallback = handler
        return handler

    def handler(self, turn: Turn) -> Handler | None:
        """Return the function for a turn; None if the turn's `reply` suffices, or if there is nothing to answer."""
        if turn.intent is not None:
            return self._handlers.get(turn.intent)
        return None if turn.reply is not None or not turn else self._fallback


def check_intents(registry: Registry, names: Iterable[str]) -> None:
    """Raise `UnknownNameError` if a name is not an intent, so that a misspelling is found when the bot starts."""
    for name in names:
        if name not in registry:
            raise UnknownNameError("intent", name, [intent.name for intent in registry])
