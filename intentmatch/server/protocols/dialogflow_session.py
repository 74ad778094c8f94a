"""Sessions of Dialogflow: active contexts with their lifespans, and the slot that was asked for.

A session is kept in the store of conversations for 20 minutes after its last message, as Dialogflow keeps contexts. If
the store fails, the bot goes on without the session.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.rare_lines import RareLines
from intentmatch.core.types import Intent, Registry
from intentmatch.dialogue import MemoryStore, Store
from intentmatch.dialogue.pending import WhichValue, from_text, to_text

SECONDS = 1200.0
"""Seconds after the last message for which a session is kept."""

_PREFIX = "dialogflow "
# Raised whenever the text of a session changes: processes of two releases share a store during an update.
_VERSION = 1
# So many sessions as the memory of a process holds (100,000) stay below half a gigabyte.
_MOST_CONTEXTS, _MOST_CHARS = 50, 5_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DialogflowContext:
    """An active context."""

    lifespan: int
    """The number of further messages for which it is active."""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class DialogflowSession:
    """What the server remembers between two messages. Names of contexts are in lower case, as in Dialogflow."""

    contexts: dict[str, DialogflowContext] = field(default_factory=dict)
    pending: WhichValue | None = None
    """The question for a slot that the user has not answered yet."""
    fallbacks: int = 0
    """How many messages no intent fitted."""
    stored: bool = field(default=False, compare=False)
    """Whether the store has it."""

    def activate(self, name: str, lifespan: int, parameters: Mapping[str, Any] | None = None) -> None:
        """Set a context for so many messages; it ends with 0 or less."""
        name = name.lower()
        # Setting a context anew keeps the parameters that the new ones do not name, as Dialogflow does.
        known = self.contexts.pop(name, None)
        if lifespan > 0 and len(self.contexts) < _MOST_CONTEXTS:
            self.contexts[name] = DialogflowContext(
                lifespan, {**(known.parameters if known else {}), **(parameters or {})}
            )

    def tags(self, registry: Registry) -> list[str]:
        """Return the active contexts as the tags of `when`, in the case that the author wrote."""
        # Dialogflow ignores case in names of contexts, `when` does not.
        written = {tag.lower(): tag for intent in registry for tag in intent.when}
        return [written.get(name, name) for name in self.contexts]

    def answered(self, intent: Intent | None, parameters: Mapping[str, Any]) -> None:
        """Go on by one message: lifespans shrink by one, then the contexts of the matched intent are set."""
        metadata = intent.metadata if intent else {}
        if metadata.get("reset_contexts") is True:
            self.contexts.clear()
        for name, context in list(self.contexts.items()):
            # Before the intent sets its own, which begin with their whole lifespan.
            self.activate(name, context.lifespan - 1, context.parameters)
        for name, lifespan in output_contexts(metadata).items():
            self.activate(name, lifespan, parameters)

    def written(self, path: str) -> list[dict[str, Any]]:
        """Return the active contexts as Dialogflow does; `path` is that of the session."""
        return [
            {
                "name": f"{path}/contexts/{name}",
                "lifespanCount": context.lifespan,
                **({"parameters": dict(context.parameters)} if context.parameters else {}),
            }
            for name, context in self.contexts.items()
        ]


def output_contexts(metadata: Mapping[str, Any]) -> dict[str, int]:
    """Return the lifespans in `metadata: {output_contexts: {NAME: LIFESPAN}}`; what is no whole number is skipped."""
    named = metadata.get("output_contexts")
    found = named.items() if isinstance(named, Mapping) else ()
    return {str(name): count for name, count in found if isinstance(count, int) and not isinstance(count, bool)}


def fallback_text(texts: Mapping[str, Sequence[str]], codes: Collection[str], number: int) -> str:
    """Return a text of the setting `fallback`, in the first of these languages that has one; "" if there is none."""
    chosen = next((texts[code] for code in (*codes, "default", "en", *texts) if texts.get(code)), ())
    # In turn, so that a user who is not understood twice does not read the same sentence twice.
    return chosen[number % len(chosen)] if chosen else ""


class DialogflowSessions:
    """Sessions by path, in a store that other processes may share."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines = RareLines()

    async def read(self, path: str) -> DialogflowSession:
        """Return the session of a path, a new one if there is none."""
        try:
            text = await self._call(self._peek, _PREFIX + path)
        except Exception as error:  # noqa: BLE001 - a store may raise anything
            self._tell("read a session from", error)
            return DialogflowSession()
        return _parsed(text)

    async def write(self, path: str, session: DialogflowSession) -> None:
        """Keep the session of a path, unless there is nothing to keep."""
        # Most messages have no session: they cost the store nothing.
        if session == DialogflowSession() and not session.stored:
            return
        text = json.dumps(
            {
                "version": _VERSION,
                "contexts": {name: [each.lifespan, dict(each.parameters)] for name, each in session.contexts.items()},
                "pending": None if session.pending is None else to_text(session.pending),
                "fallbacks": session.fallbacks,
            }
        )
        if len(text) > _MOST_CHARS:
            _log.warning("a session is not kept: it has more than %d characters", _MOST_CHARS)
            return
        try:
            await self._call(self._store.put, _PREFIX + path, text, SECONDS)
        except Exception as error:  # noqa: BLE001 - a store may raise anything
            self._tell("keep a session in", error)

    def _tell(self, failed: str, error: Exception) -> None:
        if self._lines.due(failed):
            expected = isinstance(error, IntentMatchError)
            _log.error("cannot %s the store: %s", failed, error, exc_info=None if expected else error)

    def _peek(self, key: str) -> str | None:
        """Return the text of a session and keep it: another request of the session may come at the same time."""
        text = self._store.pop(key)
        if text is not None:
            self._store.put(key, text, SECONDS)
        return text

    async def _call(self, function: Any, *arguments: Any) -> Any:
        # The memory of this process answers at once; another store may wait for a network.
        if isinstance(self._store, MemoryStore):
            return function(*arguments)
        return await asyncio.to_thread(function, *arguments)


def _parsed(text: str | None) -> DialogflowSession:
    """Read what `DialogflowSessions.write` wrote; a new session if it is from another release or invalid."""
    try:
        values = json.loads(text or "null")
        if values["version"] != _VERSION:
            return DialogflowSession()
        contexts = {
            str(name): DialogflowContext(int(lifespan), dict(parameters))
            for name, (lifespan, parameters) in values["contexts"].items()
        }
        pending = from_text(values["pending"])
        asked = pending if isinstance(pending, WhichValue) else None
        return DialogflowSession(contexts, asked, int(values["fallbacks"]), stored=True)
    except (ValueError, TypeError, KeyError, AttributeError):
        return DialogflowSession()
