"""The messages of an inbox in PostgreSQL, which all replicas of a bot write to. The rules are those of `file_store`."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from intentmatch.core.erasure import Erasure, last_erased
from intentmatch.core.errors import InputError
from intentmatch.inbox.sample import COLUMNS, SECONDS_IN_A_DAY, Judged, SampledAnswer, sampled_answer
from intentmatch.inbox.store import SECONDS_BETWEEN_DELETIONS, SHARE_OF_A_DELETION, Entry, Handled, Missed
from intentmatch.inbox.stored_rows import CHARACTERS, drift_of, given_back, key_of, missed_of, renaming, row_of
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
# A text that is longer was written by another program.
_COLUMNS = COLUMNS.replace("text", f"left(text, {CHARACTERS})")
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
    (SELECT id FROM intentmatch.messages WHERE bot = %s AND (last < %s OR last > %s) ORDER BY last, id LIMIT %s)
"""
# An answer to a message that has been judged needs no further judgement.
_DRAWN = """
INSERT INTO intentmatch.sample
    (bot, key, text, language, verdict, intent, offered, confidence, probability, priority, chance, time, judged,
    expected)
VALUES (%(bot)s, %(key)s, %(text)s, %(language)s, %(verdict)s, %(intent)s, %(intents)s, %(confidence)s, %(probability)s,
    %(priority)s, %(chance)s, %(time)s,
    (SELECT judged FROM intentmatch.sample WHERE bot = %(bot)s AND key = %(key)s AND judged IS NOT NULL LIMIT 1),
    (SELECT expected FROM intentmatch.sample WHERE bot = %(bot)s AND key = %(key)s AND judged IS NOT NULL LIMIT 1))
"""
_GIVEN_BACK = """
UPDATE intentmatch.messages SET handled = NULL, text = %(text)s
WHERE bot = %(bot)s AND key = %(key)s AND handled = 'added'
"""
_RENAMED = (
    """
    UPDATE intentmatch.messages SET intents = replace(intents, %(old_in_list)s, %(new_in_list)s)
    WHERE bot = %(bot)s AND strpos(intents, %(old_in_list)s) > 0
    """,
    """
    INSERT INTO intentmatch.corrections AS kept (bot, message, intent, count)
    SELECT bot, message, %(new)s, count FROM intentmatch.corrections WHERE bot = %(bot)s AND intent = %(old)s
    ON CONFLICT (message, intent) DO UPDATE SET count = kept.count + excluded.count
    """,
    "DELETE FROM intentmatch.corrections WHERE bot = %(bot)s AND intent = %(old)s",
    """
    UPDATE intentmatch.sample SET offered = replace(offered, %(old_in_list)s, %(new_in_list)s),
        intent = CASE intent WHEN %(old)s THEN %(new)s ELSE intent END,
        expected = CASE expected WHEN %(old)s THEN %(new)s ELSE expected END
    WHERE bot = %(bot)s AND (intent = %(old)s OR expected = %(old)s OR strpos(offered, %(old_in_list)s) > 0)
    """,
)
_TOO_OLD_DRAWN = """
DELETE FROM intentmatch.sample WHERE id IN
    (SELECT id FROM intentmatch.sample WHERE bot = %s AND (time < %s OR time > %s) ORDER BY time, id LIMIT %s)
"""
_TOO_MANY_DRAWN = """
DELETE FROM intentmatch.sample WHERE id IN
    (SELECT id FROM intentmatch.sample WHERE bot = %s ORDER BY time > %s, time DESC, id DESC OFFSET %s)
"""
_JUDGED = """
UPDATE intentmatch.sample SET judged = %(judged)s, expected = %(expected)s WHERE bot = %(bot)s AND key =
    (SELECT key FROM intentmatch.sample WHERE bot = %(bot)s AND id = %(number)s)
"""
_DRIFT_CLAIMED = """
UPDATE intentmatch.inboxes SET drift_due = %(due)s
WHERE bot = %(bot)s AND (drift_due IS NULL OR drift_due NOT BETWEEN %(due)s AND %(due)s + %(day)s)
"""
_COUNT = "SELECT count(*) FROM intentmatch.messages WHERE bot = %s"
_COUNT_DRAWN = "SELECT count(*) FROM intentmatch.sample WHERE bot = %s"
_TOO_MANY = """
DELETE FROM intentmatch.messages WHERE id IN
    (SELECT id FROM intentmatch.messages WHERE bot = %s ORDER BY last > %s, last DESC, id DESC OFFSET %s)
"""


class DatabaseStore:
    """The messages of one bot."""

    def __init__(self, address: Address, mode: str, messages: int, days: int, answers: int) -> None:
        self._database = Database(address)
        self.mode = mode
        self._most, self._seconds, self._answers = messages, days * SECONDS_IN_A_DAY, answers

    @property
    def path(self) -> Address:
        """The bot."""
        return self._database.address

    def write(self, entries: Sequence[Entry], now: float) -> None:
        """Write all entries or none, and delete messages beyond the limits, as `FileStore.write` does.

        Raises InputError for an inbox of another mode, and `DatabaseError`.
        """
        bot = self._database.bot
        with self._database.rows() as connection:
            salt, mark = self._salt_and_mark(connection)
            erased = last_erased(mark, now)
            rows = [(row_of(entry, self.mode, salt), entry) for entry in entries if entry.time >= erased]
            kept = [({**row, "bot": bot}, entry) for row, entry in rows if row is not None]
            # In one order, so that two replicas never wait for each other.
            for row, entry in sorted(kept, key=lambda pair: pair[0]["key"]):
                row |= {name: _storable(row[name]) for name in ("text", "intent", "intents")}
                # Before the check below, since an answer may be drawn without being missed.
                if entry.drawn is not None:
                    connection.execute(_DRAWN, {**row, **entry.drawn._asdict()})
                if not entry.missed:
                    continue
                (row["id"],) = connection.execute(_SEEN, row).fetchone() or (0,)
                if entry.corrected:
                    connection.execute(_CORRECTED, row)
                    connection.execute(_REOPENED, row)
            self._delete_old(connection, now)
            ahead = now + SECONDS_BETWEEN_DELETIONS
            connection.execute(_TOO_MANY, [bot, ahead, self._most])
            connection.execute(_TOO_MANY_DRAWN, [bot, ahead, self._answers])

    def open_messages(self, now: float) -> list[Missed]:
        """Return unhandled messages within the age limit, oldest first. Raises `DatabaseError`."""
        bot = self._database.bot
        with self._database.rows() as connection:
            rows = connection.execute(
                f"SELECT id, left(text, {CHARACTERS}), language, verdict, intents, confidence, count, first, last "  # noqa: S608
                "FROM intentmatch.messages WHERE bot = %s AND handled IS NULL AND last >= %s "
                "ORDER BY id LIMIT %s".encode(),
                [bot, now - self._seconds, self._most],
            ).fetchall()
            corrections: dict[int, dict[str | None, int]] = {}
            found = connection.execute(
                "SELECT message, intent, count FROM intentmatch.corrections WHERE bot = %s ORDER BY message, intent",
                [bot],
            )
            for message, intent, count in found.fetchall():
                corrections.setdefault(message, {})[intent or None] = count
        with self._readable():
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
            connection.execute(
                "UPDATE intentmatch.sample SET text = NULL WHERE bot = %s AND key IN "
                "(SELECT key FROM intentmatch.messages WHERE bot = %s AND id = ANY(%s))",
                [bot, bot, some],
            )

    def reopen(self, texts: Iterable[str]) -> int:
        """Bring back messages with these texts that were added to an intent; return how many."""
        count = 0
        with self._database.rows() as connection:
            salt, _ = self._salt_and_mark(connection)
            for text in texts:
                row = {**given_back(text, self.mode, salt), "bot": self._database.bot}
                row["text"] = _storable(row["text"])
                count += max(connection.execute(_GIVEN_BACK, row).rowcount, 0)
        return count

    def rename_intent(self, old: str, new: str) -> None:
        """Write another name wherever a message, a correction, an answer or a judgement names an intent."""
        names = {name: _storable(text) for name, text in renaming(old, new).items()} | {"bot": self._database.bot}
        with self._database.rows() as connection:
            for statement in _RENAMED:
                connection.execute(statement.encode(), names)

    def erase(self, erasure: Erasure) -> tuple[int, int]:
        """Delete messages and the answers to them. PostgreSQL overwrites the rows after its next VACUUM."""
        bot = self._database.bot
        with self._database.rows() as connection:
            # Waits for replicas that write, and they wait for this: `_salt_and_mark` locks the row too.
            inbox = connection.execute(
                "SELECT salt, drift FROM intentmatch.inboxes WHERE bot = %s FOR UPDATE", [bot]
            ).fetchone()
            if inbox is None:
                return 0, 0
            # By its key too, since handled messages have lost their text.
            key = None if erasure.text is None else key_of(erasure.text, self.mode, bytes(inbox[0]))
            drift = None if drift_of(inbox[1]) is None else erasure.without_in_json(inbox[1])
            connection.execute(
                "UPDATE intentmatch.inboxes SET drift = %s, erased_at = %s WHERE bot = %s", [drift, time.time(), bot]
            )
            messages, answers = (self._erase_from(connection, table, erasure, key) for table in ("messages", "sample"))
        return messages, answers

    def _erase_from(self, connection: Connection, table: str, erasure: Erasure, key: bytes | None) -> int:
        bot = self._database.bot
        select = f"SELECT id, key, left(text, {CHARACTERS}) FROM intentmatch.{table} WHERE bot = %s"  # noqa: S608 - a name of ours
        # Compared here and not by SQL, which folds words in another way.
        rows = connection.execute(select.encode(), [bot]).fetchall()
        gone = [number for number, of, text in rows if bytes(of) == key or erasure.covers(text)]
        delete = f"DELETE FROM intentmatch.{table} WHERE bot = %s AND id = ANY(%s)"  # noqa: S608 - a name of ours
        return int(connection.execute(delete.encode(), [bot, gone]).rowcount)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raise `InputError` for rows that no server writes, as tenants can."""
        try:
            yield
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"the inbox of {self._database.bot} has a row that cannot be read: {error}") from error

    def sampled(self, now: float) -> list[SampledAnswer]:
        """Return the sample of all answers within the age limit, oldest first. Raises `DatabaseError`."""
        with self._database.rows() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM intentmatch.sample WHERE bot = %s AND time >= %s "  # noqa: S608 - constant
                "ORDER BY time, id LIMIT %s".encode(),
                [self._database.bot, now - self._seconds, self._answers],
            ).fetchall()
        with self._readable():
            return [sampled_answer(row) for row in rows]

    def judge(self, number: int, judged: Judged | None, expected: str | None) -> int:
        """Keep a judgement for all answers to the message of an answer, as `Store.judge` does."""
        values = {"bot": self._database.bot, "number": number, "judged": judged, "expected": expected}
        with self._database.rows() as connection:
            return int(connection.execute(_JUDGED, values).rowcount)

    def claim_drift(self, due: float) -> bool:
        """Whether the check for drift that was due is left to do; only one replica is told so."""
        with self._database.rows() as connection:
            return bool(
                connection.execute(
                    _DRIFT_CLAIMED, {"bot": self._database.bot, "due": due, "day": SECONDS_IN_A_DAY}
                ).rowcount
            )

    def put_drift(self, found: str, read: float) -> bool:
        """Keep what a check for drift has found; False if words were erased since it has read the sample."""
        bot = self._database.bot
        with self._database.rows() as connection:
            _, mark = self._salt_and_mark(connection)
            # What was read before has the erased words, perhaps in an example.
            if read <= last_erased(mark, time.time()):
                return False
            connection.execute("UPDATE intentmatch.inboxes SET drift = %s WHERE bot = %s", [_storable(found), bot])
            return True

    def drift(self) -> str | None:
        """Return what the last check for drift has found; None if there was none."""
        with self._database.rows() as connection:
            row = connection.execute(
                "SELECT drift FROM intentmatch.inboxes WHERE bot = %s", [self._database.bot]
            ).fetchone()
        return None if row is None else row[0]

    def _salt_and_mark(self, connection: Connection) -> tuple[bytes, float | None]:
        """Return the salt of the inbox and when words were erased last; make the inbox if there is none.

        Nobody erases words until the transaction ends.
        """
        bot = self._database.bot
        connection.execute(
            "INSERT INTO intentmatch.inboxes (bot, mode, salt) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [bot, self.mode, secrets.token_bytes(16)],
        )
        row = connection.execute(
            "SELECT mode, salt, erased_at FROM intentmatch.inboxes WHERE bot = %s FOR KEY SHARE", [bot]
        ).fetchone()
        mode, salt, mark = row or (None, b"", None)
        if mode != self.mode:
            raise InputError(f"the inbox of {self.path} has the mode {mode}, not {self.mode}: set `inbox_mode` to it")
        return bytes(salt), mark

    def _delete_old(self, connection: Connection, now: float) -> None:
        """Delete messages beyond the age limit, oldest first, as `Store` does."""
        bot = self._database.bot
        # One replica at a time.
        row = connection.execute(
            "SELECT deleted_at FROM intentmatch.inboxes WHERE bot = %s FOR NO KEY UPDATE SKIP LOCKED", [bot]
        ).fetchone()
        if row is None:
            return
        last = -math.inf if row[0] is None else float(row[0])
        if last <= now < last + SECONDS_BETWEEN_DELETIONS:
            return
        if last <= now:
            deleted = [
                connection.execute(
                    sql.encode(), [bot, now - self._seconds, now + self._seconds, self._at_a_time(connection, count)]
                ).rowcount
                for count, sql in ((_COUNT, _TOO_OLD), (_COUNT_DRAWN, _TOO_OLD_DRAWN))
            ]
            # With nothing too old, the hour does not begin: the first one that is goes at once.
            if not any(deleted):
                return
        connection.execute("UPDATE intentmatch.inboxes SET deleted_at = %s WHERE bot = %s", [now, bot])

    def _at_a_time(self, connection: Connection, count: str) -> int:
        """Return how many of the counted rows may be deleted at once for their age."""
        (rows,) = connection.execute(count.encode(), [self._database.bot]).fetchone() or (0,)
        return max(1, int(rows * SHARE_OF_A_DELETION))


def _storable(text: str | None) -> str | None:
    """Replace the one character that a text in PostgreSQL cannot hold."""
    return None if text is None else text.replace("\0", "\ufffd")
