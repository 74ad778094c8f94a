"""`Dialogue`: take a message of a conversation, return a `Turn`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping
from datetime import datetime
from functools import partial
from typing import Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.core.types import checked_language_code
from intentmatch.dialogue.lenient_store import LenientStore
from intentmatch.dialogue.pending import PREFIX, from_text, to_text
from intentmatch.dialogue.phrases import Phrases
from intentmatch.dialogue.stores import MemoryStore, Store
from intentmatch.dialogue.turn_builder import DialogueOptions, UserInput
from intentmatch.dialogue.turn_logic import next_turn
from intentmatch.dialogue.turns import Turn
from intentmatch.dialogue.variants import Variants
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses, checked_hypotheses
from intentmatch.matching.snapshot import Snapshot
from intentmatch.text.normalize import language_code

_KEY = "intentmatch"


class Dialogue:
    """Asks the user if a message is ambiguous or lacks a slot, and understands the answer.

    A question waits in `store` for at most `patience` seconds; after that, the next message is a new request. The bot
    asks for a slot at most `attempts` times. `phrases` replaces the built-in phrases, which exist in 32 languages; its
    keys are language codes. Of several responses of an intent, a conversation gets one after the other, never the same
    one twice in a row; their order follows from `seed` and the conversation. A dialogue is safe to use from
    many threads.

    No text raises an error: a message that is not text, or has no words, gives a falsy `Turn`.

    Raises `InputError` if `attempts`, `patience` or a language code is invalid.

    `seed` was added in 0.3.0.
    """

    def __init__(
        self,
        matcher: Matcher | Snapshot,
        *,
        store: Store | None = None,
        patience: float = 300.0,
        attempts: int = 2,
        phrases: Mapping[str, Phrases] | None = None,
        seed: int = 0,
    ) -> None:
        check_argument("matcher", matcher, Matcher | Snapshot)
        check_argument("store", store, Store | None)
        check_argument("patience", patience, float)
        check_argument("attempts", attempts, int)
        check_argument("phrases", phrases, Mapping[str, Phrases] | None)
        check_argument("seed", seed, int)
        if attempts < 1 or not patience > 0:
            raise InputError(f"attempts must be 1 or more, and patience above 0 seconds; got {attempts} and {patience}")
        self.matcher = matcher
        store = MemoryStore() if store is None else store
        self._questions = LenientStore(store, "the open question")
        self._patience = patience
        self._variants = Variants(store, seed)
        self._options = DialogueOptions(
            attempts, {checked_language_code(code): own for code, own in (phrases or {}).items()}
        )

    def take(
        self,
        message: str | Hypotheses | None,
        conversation: str,
        *,
        chosen: str | None = None,
        language: str | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        turn: MutableMapping[str, Any] | None = None,
    ) -> Turn:
        """Return the turn for a user's message.

        `conversation` identifies this user in this channel. `chosen` is the `id` of the button that the user pressed;
        it takes precedence over the message. `language` is the user's BCP-47 code from the channel, in any case; the
        language of the message takes precedence. `context` and `now` are those of `Matcher.match`. `turn` is a mapping
        in which the channel keeps data about this message: a second call with it returns the same turn. Anything but
        text, such as a picture, is an empty message.

        A message from speech may be a list of hypotheses, as in `Matcher.match`. The turn is about the heaviest one
        that answers the open question, otherwise about the one that `match` chooses. If an intent matches, hypotheses
        that answer the question must have a quarter of the weight. Raises `InputError` for an invalid list.
        """
        check_argument("turn", turn, MutableMapping | None)
        if turn is not None and _KEY in turn:
            # Several routes of a framework may ask about one message, whose open question can be
            # taken from the store once only.
            cached: Turn = turn[_KEY]
            return cached
        hypotheses = None
        text = message if isinstance(message, str) else ""
        if isinstance(message, list | tuple) and message and isinstance(message[0], list | tuple):
            hypotheses = checked_hypotheses(message)
            # The first one with words: a list of silences alone is an empty message.
            text = next((said for said, _ in hypotheses if said.strip()), "")
        user_language = language_code(str(language)) if language else None
        if chosen is None and not text.strip():
            found = Turn(text)
        else:
            user_input = UserInput(
                text, None if chosen is None else str(chosen), user_language, context, now, hypotheses
            )
            choose = partial(self._variants.choose, conversation)
            # Taken out at once: of two messages that arrive together, one is the answer.
            question = self._questions.pop(conversation, from_text)
            result = next_turn(self.matcher, self._options, user_input, question, choose)
            if result.pending is not None:
                self._questions.put(conversation, to_text(result.pending), self._patience)
            found = result.turn
        if turn is not None:
            turn[_KEY] = found
        return found

    async def atake(
        self,
        message: str | Hypotheses | None,
        conversation: str,
        *,
        chosen: str | None = None,
        language: str | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        turn: MutableMapping[str, Any] | None = None,
    ) -> Turn:
        """Run `take` in a worker thread, without blocking the event loop."""
        import asyncio  # loaded already in an async program; not needed on the command line

        return await asyncio.to_thread(
            self.take, message, conversation,
            chosen=chosen, language=language, context=context, now=now, turn=turn,
        )  # fmt: skip

    def forget(self, conversation: str) -> None:
        """Drop the open question of a conversation, for example when the user leaves."""
        self._questions.pop(conversation, from_text)

    @staticmethod
    def is_choice(payload: object) -> bool:
        """Whether the payload of a button is the id of a choice."""
        return isinstance(payload, str) and payload.startswith(PREFIX)
