"""Where a bot leaves what it did not understand, without waiting for it and without being the worse for it."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from intentmatch.core.errors import InputError
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import Settings, parse
from intentmatch.core.types import checked_language_code
from intentmatch.inbox.store import Entry, Handled, Missed, Store
from intentmatch.matching.pipeline import MAX_CHARACTERS
from intentmatch.runtime.block_sizes import INBOX_ENTRIES
from intentmatch.text.normalize import fold

_log = logging.getLogger(__name__)

# A match that is wrong more often than one time in four is one to look at, as it is one to ask the reranker about; of
# scores nobody knows how often, so those near the cut are.
_SURE = 0.75
_NEAR = 0.05
# Messages that may wait to be written; a disk that is slower than users type is not ours to wait for.
_MOST_WAITING = 10_000


class Inbox:
    """Keeps messages that were out of scope, ambiguous or low in confidence, and what users said to put them right.

    Writing happens in a thread of its own. What goes wrong with it is logged, once; no answer waits for it, or fails.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, mode: str = "redacted", messages: int = 10_000, days: int = 90
    ) -> None:
        """The bounds and the mode are those of the settings; raises `SettingsError` for what they cannot be."""
        keep = parse("inbox_keep", {"messages": messages, "days": days})
        self._store = Store(Path(path), parse("inbox_mode", mode), **keep)
        self._failing = False
        self._begin()

    @classmethod
    def from_settings(cls, settings: Settings) -> Inbox | None:
        """The inbox that the settings ask for; None where it is off."""
        if settings.inbox == "off":
            return None
        return cls(settings.inbox, mode=settings.inbox_mode, **settings.inbox_keep)

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    def record(self, result: MatchResult) -> None:
        """Keep the message if it was not understood. Returns at once."""
        if is_missed(result):
            nearest = tuple(candidate.intent for candidate in result.rivals or result.candidates[:1])
            self._put(Entry(result.message, time.time(), result.language, result.verdict, nearest, result.confidence))

    def correct(self, text: str, intent: str | None, language: str | None = None) -> None:
        """Keep what a user said that a message means: an intent, or none. Returns at once.

        Raises `InputError` for a message without words and a `language` that is no code.
        """
        if not isinstance(text, str):
            raise InputError(f"a message must be text, not {type(text).__name__}")
        if not fold(text):
            raise InputError("a message that is corrected needs words")
        if language is not None:
            language = checked_language_code(language)
        self._put(Entry(text, time.time(), language, corrected=True, intent=intent))

    def messages(self) -> list[Missed]:
        """What nobody has handled yet, the oldest first. Raises `InputError` for no inbox and for a damaged one."""
        self.flush()
        return self._store.open_messages(time.time())

    def handle(self, messages: Iterable[Missed], how: Handled) -> None:
        """Take messages out for good. Raises `InputError` where that cannot be."""
        self._store.handle([message.id for message in messages], how)

    def flush(self, seconds: float = 30.0) -> bool:
        """Wait until all that was left here is written or given up; whether that is so."""
        try:
            return not wait([self._writer.submit(self._write)], seconds).not_done
        except RuntimeError:  # Python is ending
            return False

    def _begin(self) -> None:
        self._waiting: deque[Entry] = deque()
        # Its thread begins with the first message, ends with this object, and finishes what it has when Python ends.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="intentmatch-inbox")
        self._process = os.getpid()

    def _put(self, entry: Entry) -> None:
        if self._process != os.getpid():  # after a fork the thread is the other's
            self._begin()
        if len(self._waiting) >= _MOST_WAITING:
            self._complain("they come faster than they can be written")
            return
        self._waiting.append(entry._replace(text=entry.text[:MAX_CHARACTERS]))
        try:
            self._writer.submit(self._write)
        except RuntimeError as error:  # Python is ending
            self._complain(error)

    def _write(self) -> None:
        """Write what waits, many in one go."""
        try:
            while entries := [self._waiting.popleft() for _ in range(min(len(self._waiting), INBOX_ENTRIES))]:
                self._store.write(entries, time.time())
                self._failing = False
        except Exception as error:  # noqa: BLE001 - whatever it is, no answer shall be the worse for it
            self._complain(error)

    def _complain(self, why: object) -> None:
        """Say what is wrong, the first time."""
        if not self._failing:
            self._failing = True
            _log.warning("messages are not kept in %s: %s", self.path, why)


def is_missed(result: MatchResult) -> bool:
    """Whether a message was not understood, or not surely."""
    if result.verdict != "matched":
        return bool(fold(result.message))
    if result.confidence is not None:
        return result.confidence < _SURE
    return result.trace.threshold is not None and result.score - result.trace.threshold < _NEAR
