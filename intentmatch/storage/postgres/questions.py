"""Open questions of conversations in PostgreSQL: a `dialogue.Store` for bots of several processes."""

from __future__ import annotations

from intentmatch.core.erasure import Erasure
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Database

# An answer waits for the store, so that it is given up quickly.
_SECONDS = 2
# Conversations that nobody goes on with leave texts behind: one write in so many removes those that have expired.
_WRITES_BETWEEN = 100


class QuestionStore:
    """Keeps one short text per conversation of a bot for a limited time."""

    def __init__(self, address: str | Address) -> None:
        """Raises `InputError` for an invalid address."""
        self._database = Database(address, seconds=_SECONDS, bounded=True)
        self._writes = 0

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for this many seconds; it replaces the previous text of the conversation.

        Raises `DatabaseError`.
        """
        with self._database.rows() as connection:
            connection.execute(
                "INSERT INTO intentmatch.questions (bot, conversation, text, expires) "
                "VALUES (%s, %s, %s, now() + make_interval(secs => %s)) "
                "ON CONFLICT (bot, conversation) DO UPDATE SET text = excluded.text, expires = excluded.expires",
                [self._database.bot, _key(conversation), text, seconds],
            )
            if self._writes % _WRITES_BETWEEN == 0:
                connection.execute(
                    "DELETE FROM intentmatch.questions WHERE bot = %s AND expires < now()", [self._database.bot]
                )
            self._writes += 1

    def pop(self, conversation: str) -> str | None:
        """Remove and return the text of a conversation atomically; None if there is none or it has expired.

        Raises `DatabaseError`.
        """
        with self._database.rows() as connection:
            row = connection.execute(
                "DELETE FROM intentmatch.questions WHERE bot = %s AND conversation = %s "
                "RETURNING CASE WHEN expires > now() THEN text END",
                [self._database.bot, _key(conversation)],
            ).fetchone()
        return None if row is None else row[0]

    def erase(self, erasure: Erasure, of: tuple[str, ...] = ("",)) -> int:
        """Remove the texts that quote messages, and expired ones; return how many quoted some.

        `of` are the beginnings of the names of the conversations that are meant, by default all. Raises
        `DatabaseError`.
        """
        with self._database.rows() as connection:
            connection.execute(
                "DELETE FROM intentmatch.questions WHERE bot = %s AND expires < now()", [self._database.bot]
            )
            rows = connection.execute(
                "SELECT conversation, text FROM intentmatch.questions WHERE bot = %s", [self._database.bot]
            ).fetchall()
            kept = [(bytes(key), text) for key, text in rows if bytes(key).startswith(tuple(map(_key, of)))]
            gone = [key for key, text in kept if erasure.quoted_in_json(text)]
            connection.execute(
                "DELETE FROM intentmatch.questions WHERE bot = %s AND conversation = ANY(%s)",
                [self._database.bot, gone],
            )
        return len(gone)


def _key(conversation: str) -> bytes:
    # Names that users choose may contain lone surrogates and zeros, which a text cannot.
    return conversation.encode("utf-8", "surrogatepass")
