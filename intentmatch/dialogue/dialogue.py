"""The face of a conversation: a message in, a `Turn` out."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, MutableMapping
from datetime import datetime
from typing import Any

from intentmatch.core.errors import InputError
from intentmatch.core.types import checked_language_code
from intentmatch.dialogue.pending import PREFIX, Pending, of_text, to_text
from intentmatch.dialogue.phrases import Phrases
from intentmatch.dialogue.stores import MemoryStore, Store
from intentmatch.dialogue.turn_logic import DialogueOptions, UserInput, next_turn
from intentmatch.dialogue.turns import Turn
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import language_code

_log = logging.getLogger(__name__)

_KEY = "intentmatch"


class Dialogue:
    """Asks back where a message is ambiguous or lacks a slot, and understands the answer.

    What is asked waits in `store` until the answer comes, at most `patience` seconds; then the next message is one of
    its own. A slot is asked for at most `attempts` times. `phrases` are what the bot says of its own accord, by
    language code, where that is not what is shipped for 32 languages. Safe to use from many threads. Raises
    `InputError` for a number or a code that cannot be.

    Messages are never turned down: one that is no text, or without words, makes a falsy `Turn`.
    """

    def __init__(
        self,
        matcher: Matcher,
        *,
        store: Store | None = None,
        patience: float = 300.0,
        attempts: int = 2,
        phrases: Mapping[str, Phrases] | None = None,
    ) -> None:
        if attempts < 1 or not patience > 0:
            raise InputError(f"attempts must be 1 or more and patience above 0; they are {attempts} and {patience}")
        self.matcher = matcher
        self._store = MemoryStore() if store is None else store
        self._patience = patience
        self._options = DialogueOptions(
            attempts, {checked_language_code(code): said for code, said in (phrases or {}).items()}
        )

    def take(
        self,
        message: str | None,
        conversation: str,
        *,
        chosen: str | None = None,
        language: str | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        turn: MutableMapping[str, Any] | None = None,
    ) -> Turn:
        """What to do about a user's message.

        `conversation` tells this user in this place from all others. `chosen` is the `id` of a button that was pressed,
        and then counts more than the message. `language` (BCP-47, whatever its case) is what the channel knows of the
        user; the language that a message is in goes first. `context` and `now` are as in `Matcher.match`. `turn` is
        where the channel keeps what belongs to this message: a message is taken once, and found there again.
        """
        if turn is not None and _KEY in turn:
            known: Turn = turn[_KEY]
            return known
        text = message if isinstance(message, str) else ""
        spoken = language_code(str(language)) if language else None
        if chosen is None and not text.strip():
            found = Turn(text)
        else:
            user_input = UserInput(text, None if chosen is None else str(chosen), spoken, context, now)
            went = next_turn(self.matcher, self._options, user_input, self._asked(conversation))
            self._ask(conversation, went.pending)
            found = went.turn
        if turn is not None:
            turn[_KEY] = found
        return found

    async def atake(
        self,
        message: str | None,
        conversation: str,
        *,
        chosen: str | None = None,
        language: str | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        turn: MutableMapping[str, Any] | None = None,
    ) -> Turn:
        """As `take`, in a worker thread, so that the caller's event loop goes on."""
        import asyncio  # by whoever calls this, long ago; a command line need not wait for it

        if turn is not None and _KEY in turn:
            known: Turn = turn[_KEY]
            return known
        return await asyncio.to_thread(
            self.take, message, conversation,
            chosen=chosen, language=language, context=context, now=now, turn=turn,
        )  # fmt: skip

    def forget(self, conversation: str) -> None:
        """Wait for no answer any more, as when the user leaves or the bot takes another course."""
        self._asked(conversation)

    @staticmethod
    def is_choice(payload: object) -> bool:
        """Whether what a button sends is the id of a choice."""
        return isinstance(payload, str) and payload.startswith(PREFIX)

    def _asked(self, conversation: str) -> Pending | None:
        try:
            return of_text(self._store.pop(conversation))
        except Exception:  # noqa: BLE001 - whatever it is, a bot without memory is better than none
            _log.exception("what was asked cannot be read from the store")
            return None

    def _ask(self, conversation: str, pending: Pending | None) -> None:
        if pending is None:
            return
        try:
            self._store.put(conversation, to_text(pending), self._patience)
        except Exception:  # noqa: BLE001 - whatever it is, a bot without memory is better than none
            _log.exception("what was asked cannot be kept in the store")
