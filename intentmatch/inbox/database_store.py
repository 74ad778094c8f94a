"""The messages of an inbox in PostgreSQL, which all replicas of a bot write to. The rules are those of `store`."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence

from intentmatch.core.errors import InputError
from intentmatch.inbox.store import (
    SECONDS_BETWEEN,
    SECONDS_IN_A_DAY,
    SHARE_AT_A_TIME,
    Entry,
    Handled,
    Missed,
    missed_of,
    row_of,
)
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Connection, Database

_SEEN = """
INSERT INTO intentmatch.messages AS kept
    (bot, key, text, language, verdict, intents, confidence, count, first, last)
VALUES (%(bot)s, %(key)s, %(text)s, %(language)s, %(verdict)s, %(intents)s, %(confidence)s, %(seen)s, %(time)s,
    %(time)s)
ON CONFLICT (bot, key) DO UPDATE SET count = kept.count + excluded.count, last = greatest(kept.last, excluded.last),
    language = coalesce(excluded.language, kept.language), verdict = coalesce(excluded.verdict, kept.verdict),
    intents = coalesce(excluded.intents, kept.intents), confidence = coalesce(excluded.confidence, kept.confidence)
RETURNING id
"""
# A correction reopens a handled message.
_CORRECTED = """
INSERT INTO intentmatch.corrections AS kept (bot, message, intent, count) VALUES (%(bot)s, %(id)s, %(intent)s, 1)
ON CONFLICT (message, intent) DO UPDATE SET count = kept.count + 1
"""
_REOPENED = """
UPDATE intentmatch.messages SET handled = NULL, text = %(text)s WHERE id = %(id)s AND handled IS NOT NULL
"""
_TOO_OLD = """
DELETE FROM intentmatch.messages WHERE id IN
    (SELECT id FROM intentmatch.messages WHERE bot = %s AND last < %s ORDER BY last, id LIMIT %s)
"""
_TOO_MANY = """
DELETE FROM intentmatch.messages WHERE id IN
    (SELECT id FROM intentmatch.messages WHERE bot = %s ORDER BY last DESC, id DESC OFFSET %s)
"""


class DatabaseStore:
    """The messages of one bot."""

    def __init__(self, address: Address, mode: str, messages: int, days: int) -> None:
        self._database = Database(address)
        self.mode = mode
        self._most, self._seconds = messages, days * SECONDS_IN_A_DAY

    @property
    def path(self) -> Address:
        """The bot."""
        return self._database.address

    def write(self, entries: Sequence[Entry], now: float) -> None:
        """Write all entries or none, and delete messages beyond the limits, as `Store.write` does.

        Raises InputError for an inbox of another mode, and `DatabaseError`.
        """
        bot = self._database.bot
        with self._database.rows() as connection:
            salt = self._salt(connection)
            rows = [(row_of(entry, self.mode, salt), entry.corrected) for entry in entries]
            kept = [({**row, "bot": bot}, corrected) for row, corrected in rows if row is not None]
            # In one order, so that two replicas never wait for each other.
            for row, corrected in sorted(kept, key=lambda pair: pair[0]["key"]):
                row |= {name: _storable(row[name]) for name in ("text", "intent", "intents")}
                (row["id"],) = connection.execute(_SEEN, row).fetchone() or (0,)
                if corrected:
                    connection.execute(_CORRECTED, row)
                    connection.execute(_REOPENED, row)
            self._delete_old(connection, now)
            connection.execute(_TOO_MANY, [bot, self._most])

    def open_messages(self, now: float) -> list[Missed]:
        """Return unhandled messages within the age limit, oldest first. Raises `DatabaseError`."""
        bot = self._database.bot
        with self._database.rows() as connection:
            rows = connection.execute(
                "SELECT id, text, language, verdict, intents, confidence, count, first, last FROM intentmatch.messages "
                "WHERE bot = %s AND handled IS NULL AND last >= %s ORDER BY id",
                [bot, now - self._seconds],
            ).fetchall()
            corrections: dict[int, dict[str | None, int]] = {}
            found = connection.execute(
                "SELECT message, intent, count FROM intentmatch.corrections WHERE bot = %s ORDER BY message, intent",
                [bot],
            )
            for message, intent, count in found.fetchall():
                corrections.setdefault(message, {})[intent or None] = count
        return [missed_of(row, corrections.get(row[0], {})) for row in rows]

    def handle(self, messages: Iterable[int], how: Handled) -> None:
        """Mark messages as handled: delete their text, and ignore the messages if they are received again."""
        some, bot = sorted(messages), self._database.bot
        with self._database.rows() as connection:
            connection.execute(
                "UPDATE intentmatch.messages SET handled = %s, text = NULL WHERE bot = %s AND id = ANY(%s)",
                [how, bot, some],
            )
            connection.execute("DELETE FROM intentmatch.corrections WHERE bot = %s AND message = ANY(%s)", [bot, some])

    def _salt(self, connection: Connection) -> bytes:
        """Return the salt of the inbox; make the inbox if there is none."""
        bot = self._database.bot
        connection.execute(
            "INSERT INTO intentmatch.inboxes (bot, mode, salt) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [bot, self.mode, secrets.token_bytes(16)],
        )
        row = connection.execute("SELECT mode, salt FROM intentmatch.inboxes WHERE bot = %s", [bot]).fetchone()
        mode, salt = row or (None, b"")
        if mode != self.mode:
            raise InputError(f"the inbox of {self.path} has the mode {mode}, not {self.mode}: set `inbox_mode` to it")
        return bytes(salt)

    def _delete_old(self, connection: Connection, now: float) -> None:
        """Delete messages beyond the age limit, oldest first, as `Store` does."""
        bot = self._database.bot
        # One replica at a time.
        row = connection.execute(
            "SELECT deleted_at FROM intentmatch.inboxes WHERE bot = %s FOR UPDATE SKIP LOCKED", [bot]
        ).fetchone()
        if row is None:
            return
        last = -math.inf if row[0] is None else float(row[0])
        if last <= now < last + SECONDS_BETWEEN:
            return
        if last <= now:
            counted = connection.execute("SELECT count(*) FROM intentmatch.messages WHERE bot = %s", [bot])
            (messages,) = counted.fetchone() or (0,)
            most = max(1, int(messages * SHARE_AT_A_TIME))
            if not connection.execute(_TOO_OLD, [bot, now - self._seconds, most]).rowcount:
                return
        connection.execute("UPDATE intentmatch.inboxes SET deleted_at = %s WHERE bot = %s", [now, bot])


def _storable(text: str | None) -> str | None:
    """Replace the one character that a text in PostgreSQL cannot hold."""
    return None if text is None else text.replace("\0", "\ufffd")
