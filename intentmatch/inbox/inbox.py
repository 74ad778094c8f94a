"""Record messages that were not understood, and a random sample of all answers.

A background thread writes, so that no answer is delayed or broken.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import Settings, parse
from intentmatch.core.types import checked_language_code
from intentmatch.inbox.file_store import FileStore
from intentmatch.inbox.sample import Judged, SampledAnswer, draw
from intentmatch.inbox.store import Entry, Handled, MessageStore, Missed
from intentmatch.inbox.stored_rows import drift_of
from intentmatch.reading.reader import MAX_CHARACTERS
from intentmatch.runtime.block_sizes import INBOX_ENTRIES
from intentmatch.storage.postgres.address import Address, address_of, is_address
from intentmatch.storage.unwritable import with_advice
from intentmatch.text.normalize import fold

_log = logging.getLogger(__name__)

# A match below this confidence is recorded: it is wrong more often than one time in four.
_SURE = 0.75
# Without a calibrated confidence, a match whose score is less than this above the threshold is recorded.
_NEAR = 0.05
IN_DATABASE = "database"
"""Value of the setting `inbox`: the database that the bot is in."""
NEEDS_DATABASE = "`inbox: database` needs a bot in PostgreSQL: name a file for the inbox of other bots"
# Messages that may wait to be written. More are dropped, so that a slow disk does not fill the memory.
_MOST_WAITING = 10_000


class Inbox:
    """Keeps messages that were out of scope, ambiguous or low in confidence, and the corrections of users.

    It also keeps a random sample of all answers, if it is asked to.

    A background thread writes. The first of several errors while writing is logged; no answer waits or fails.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Address,
        *,
        mode: str = "redacted",
        messages: int = 10_000,
        days: int = 90,
        sample: float | Mapping[str, float] = 0.0,
    ) -> None:
        """Open an inbox in a file or with a bot in PostgreSQL.

        `mode`, `messages` and `days` are as in the settings, and `sample` is as the setting `inbox_sample`.

        Raises SettingsError for an invalid value, and InputError for an invalid path.

        `sample` was added in 0.3.0.
        """
        check_argument("path", path, str | os.PathLike[str] | Address)
        keep = parse("inbox_keep", {"messages": messages, "days": days})
        mode = parse("inbox_mode", mode)
        sampling = parse("inbox_sample", sample)
        self._share, answers = float(sampling["share"]), int(sampling["messages"])
        self._store: MessageStore
        if isinstance(path, Address) or is_address(path):
            from intentmatch.inbox.database_store import DatabaseStore  # needs psycopg

            self._store = DatabaseStore(address_of(path), mode, **keep, answers=answers)
        else:
            self._store = FileStore(Path(path), mode, **keep, answers=answers)
        self._failing = False
        self._begin()

    @classmethod
    def from_settings(cls, settings: Settings, address: Address | None = None) -> Inbox | None:
        """Return the inbox of the settings; None if it is off.

        `address` is that of the bot, for `inbox: database`. Raises `InputError` if that is asked for without one.

        `address` was added in 0.3.0.
        """
        if settings.inbox == "off":
            return None
        place: str | Address = settings.inbox
        if place == IN_DATABASE:
            if address is None:
                raise InputError(NEEDS_DATABASE)
            place = address
        return cls(place, mode=settings.inbox_mode, **settings.inbox_keep, sample=settings.inbox_sample)

    @property
    def path(self) -> Path | Address:
        """The file of the inbox, or the bot in PostgreSQL."""
        return self._store.path

    @property
    def has_messages(self) -> bool:
        """Whether anything has been recorded yet, as far as that can be seen without opening the inbox.

        Added in 0.3.0.
        """
        # A process that is killed before the first message leaves an empty file.
        return not isinstance(self.path, Path) or (self.path.is_file() and self.path.stat().st_size > 0)

    def record(self, result: MatchResult) -> None:
        """Keep the message if it was not understood, or if it is drawn for the sample. Returns at once.

        A message that follows the turn before, such as "and tomorrow?", is not kept: its text alone
        does not say what it means.
        """
        if result.is_follow_up:
            return
        missed, drawn = is_missed(result), draw(result, self._share)
        if missed or drawn is not None:
            nearest = tuple(candidate.intent for candidate in result.rivals or result.candidates[:1])
            entry = Entry(result.message, time.time(), result.language, result.verdict, nearest, result.confidence)
            self._put(entry._replace(missed=missed, drawn=drawn))

    def correct(self, text: str, intent: str | None, language: str | None = None) -> None:
        """Keep a user's correction: the intent that a message means, or None for no intent. Returns at once.

        Raises InputError for a message without words, and for an invalid language code.
        """
        if not isinstance(text, str):
            raise InputError(f"a message must be text, not {type(text).__name__}")
        if not fold(text):
            raise InputError("a corrected message must contain words")
        if language is not None:
            language = checked_language_code(language)
        self._put(Entry(text, time.time(), language, corrected=True, intent=intent))

    def messages(self) -> list[Missed]:
        """Return the messages that are not handled yet, oldest first.

        Raises InputError if the file does not exist, is damaged, or is no inbox.
        """
        self.flush()
        return self._store.open_messages(time.time())

    def handle(self, messages: Iterable[Missed], how: Handled) -> None:
        """Remove messages for good. Raises InputError if the file cannot be used."""
        self._store.handle([message.id for message in messages], how)

    def reopen(self, texts: Iterable[str]) -> int:
        """Give back messages that were added to an intent whose lines have gone again; return how many.

        Their texts were deleted when they were handled, so they are those of the lines. Ignored messages stay away.
        Raises InputError if the file cannot be used. Added in 0.3.0.
        """
        self.flush()
        return self._store.reopen(texts)

    def rename_intent(self, old: str, new: str) -> None:
        """Write another name wherever a message, a correction or a sampled answer names an intent.

        Raises InputError if the file cannot be used. Added in 0.4.0.
        """
        self.flush()
        if self.has_messages:
            self._store.rename_intent(old, new)

    def erase(self, text: str | None = None, *, contains: str | None = None) -> int:
        """Erase a message, or all that contain some words, from the messages and from the sample; return how many.

        Handled messages and corrections are erased too, and the bytes of a file are overwritten. `text` is the message
        as it was sent. Case and punctuation make no difference. What other processes have not written yet of the
        messages until now is dropped.

        Raises InputError unless one of the two is given, and if the file cannot be used. Since version 0.3.0.

        Added in 0.3.0.
        """
        return sum(self.erase_all(Erasure(text, contains)))

    def erase_all(self, erasure: Erasure) -> tuple[int, int]:
        """Erase messages, as `erase`; return how many messages and how many answers of the sample there were.

        Added in 0.3.0.
        """
        self.flush()
        return self._store.erase(erasure)

    def sampled(self) -> list[SampledAnswer]:
        """Return the random sample of all answers within the age limit, oldest first.

        Raises InputError if the file does not exist, is damaged, or is no inbox.

        Added in 0.3.0.
        """
        self.flush()
        return self._store.sampled(time.time())

    def judge(self, answer: int, judged: Judged | None, expected: str | None = None) -> None:
        """Keep what a reviewer says about the message of a sampled answer, for all answers to this message.

        `judged` is "meant" with the `expected` intent (None: out of scope), "skipped", or None to take a judgement
        back.
        Raises InputError if the sample has no answer with this number, and if the file cannot be used.

        Added in 0.3.0.
        """
        if not self._store.judge(answer, judged, expected):
            raise InputError(f"the sample has no answer {answer}: it may have been deleted for its age")

    def claim_drift(self, due: float) -> bool:
        """Whether the check for drift that was due at this time is left to do.

        Of all processes that share the inbox, only the first is told so. Raises InputError if the file cannot be used.

        Added in 0.3.0.
        """
        return self._store.claim_drift(due)

    def put_drift(self, found: Mapping[str, Any], read: float) -> bool:
        """Keep what a check for drift has found, as JSON; False if words were erased since the sample was read.

        `read` is that time in seconds since the epoch. Raises InputError if the file cannot be used.

        Added in 0.3.0.
        """
        return self._store.put_drift(json.dumps(found, ensure_ascii=False), read)

    def drift(self) -> dict[str, Any] | None:
        """Return what the last check for drift has found; None if there was none. Raises InputError as `sampled`.

        Added in 0.3.0.
        """
        return drift_of(self._store.drift())

    def flush(self, seconds: float = 30.0) -> bool:
        """Wait until every recorded message is written or dropped; False if that takes longer than `seconds`."""
        try:
            return not wait([self._writer.submit(self._write)], seconds).not_done
        except RuntimeError:  # Python is ending
            return False

    def _begin(self) -> None:
        self._waiting: deque[Entry] = deque()
        # The thread starts with the first message, and ends with this object or after the last message at exit.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="intentmatch-inbox")
        self._process = os.getpid()

    def _put(self, entry: Entry) -> None:
        if self._process != os.getpid():  # a fork does not copy the thread
            self._begin()
        if len(self._waiting) >= _MOST_WAITING:
            self._warn("they arrive faster than they can be written")
            return
        # Cut before it waits, so that the queue has a bound in bytes too.
        self._waiting.append(entry._replace(text=entry.text[:MAX_CHARACTERS]))
        try:
            self._writer.submit(self._write)
        except RuntimeError as error:  # Python is ending
            self._warn(error)

    def _write(self) -> None:
        """Write the waiting messages in batches."""
        try:
            # A batch is one transaction, and the disk is waited for once.
            while entries := [self._waiting.popleft() for _ in range(min(len(self._waiting), INBOX_ENTRIES))]:
                self._store.write(entries, time.time())
                self._failing = False
        except Exception as error:  # noqa: BLE001 - an answer must not fail because of the inbox
            self._warn(with_advice(error))

    def _warn(self, reason: object) -> None:
        """Log the reason, once until writing works again."""
        if not self._failing:
            self._failing = True
            _log.warning("messages are not kept in %s: %s", self.path, reason)


def is_missed(result: MatchResult) -> bool:
    """Whether a message belongs in the inbox: out of scope, ambiguous, or matched with low confidence."""
    if result.is_follow_up:
        return False
    if result.verdict != "matched":
        # A message without words teaches nothing.
        return bool(fold(result.message))
    if result.confidence is not None:
        return result.confidence < _SURE
    return result.trace.threshold is not None and result.score - result.trace.threshold < _NEAR
