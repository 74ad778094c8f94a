"""Connections to one database: opened when needed, kept, and replaced when the server was restarted."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias
from weakref import WeakValueDictionary, finalize

from intentmatch.core.errors import DatabaseError, InputError, MissingExtraError
from intentmatch.storage.postgres import schema
from intentmatch.storage.postgres.address import Address, address_of

try:
    import psycopg
except ModuleNotFoundError as error:
    raise MissingExtraError("A registry in PostgreSQL", "postgres") from error

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

# Connections that wait for their next use; more are closed.
_MOST_IDLE = 4
# A server that has just kept a caller waiting in vain is left alone for so long, and then asked by one caller first:
# otherwise many calls, each of which waits, would take all threads of a process.
_SECONDS_AWAY = 1.0
_LONG_WAIT = 1.0
# Set for one transaction, so that a pooler may hand the connection to others. Names without a schema are those of
# PostgreSQL, whatever another role has made in a schema of the search path.
_BEGIN = (
    "SELECT pg_catalog.set_config('app.bot', %s, true), "
    "pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"
)
# Defaults where the address says nothing: a server that has vanished is noticed within seconds.
_OPTIONS = {
    "application_name": "intentmatch",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
}


class _NoAnswerError(psycopg.OperationalError):
    """A statement took longer than it may. The connection is closed: its answer may still come."""


class _BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements can be given a limit in time.

    A pooler whose database has stopped accepts statements and answers none, some of them for two minutes.
    """

    most_seconds: float | None = None
    """How long a statement may take; None for any time."""

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Do as psycopg, up to the limit. Every statement goes through this method."""
        if self.most_seconds is None:
            return super().wait(gen, *arguments, **options)
        try:
            return super().wait(_until(time.monotonic() + self.most_seconds, gen), *arguments, **options)
        except _NoAnswerError:
            self.close()
            raise


def _until(end: float, work: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Go on with the steps of a statement, which psycopg resumes some times a second, until `end`."""
    try:
        step = next(work)
        while True:
            found = yield step
            if not found and time.monotonic() > end:
                raise _NoAnswerError("the server does not answer")
            step = work.send(found)
    except StopIteration as done:
        return done.value


class _Idle:
    """Connections to one database that wait for their next use, for all bots of a process."""

    def __init__(self) -> None:
        self._waiting: list[_BoundedConnection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._away_in: int | None = None
        """The process that has waited in vain for the server; None while the server answers."""
        self._next_try = 0.0
        # Not `__del__`, which the garbage collector may call after that of the connections.
        finalize(self, _close_all, self._waiting, self._process)

    def may_ask(self) -> bool:
        """Whether to ask the server: not while another caller finds out if it answers again."""
        with self._lock:
            if self._away_in != os.getpid():
                return True
            if time.monotonic() < self._next_try:
                return False
            self._next_try = math.inf
            return True

    def note(self, *, answers: bool) -> None:
        """Note whether the server answers, after `may_ask`."""
        with self._lock:
            self._away_in = None if answers else os.getpid()
            self._next_try = time.monotonic() + _SECONDS_AWAY

    def take(self) -> _BoundedConnection | None:
        """Return a connection that nobody uses, or None."""
        with self._lock:
            if self._process != os.getpid():
                # The parent's connections are its own: neither used nor closed here.
                self._process = os.getpid()
                self._waiting.clear()
                finalize(self, _close_all, self._waiting, self._process)
            return self._waiting.pop() if self._waiting else None

    def give_back(self, connection: _BoundedConnection) -> None:
        """Keep a connection for its next use, unless there are enough."""
        with self._lock:
            if not connection.closed and self._process == os.getpid() and len(self._waiting) < _MOST_IDLE:
                self._waiting.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what waits."""
        while (connection := self.take()) is not None:
            connection.close()


def _close_all(waiting: list[_BoundedConnection], process: int) -> None:
    for connection in waiting if process == os.getpid() else ():
        connection.close()


_idle: WeakValueDictionary[tuple[str, int], _Idle] = WeakValueDictionary()
_idle_lock = threading.Lock()


class Database:
    """One database, for any number of threads. A process that is forked off opens connections of its own."""

    def __init__(self, address: str | Address, *, seconds: int = 5, bounded: bool = False) -> None:
        """`seconds` is how long to wait for a server that does not answer, at least 2.

        A pooler counts as a server: a transaction must get a connection of its database in this time. `bounded`
        limits every statement, and not the first alone.

        Raises `InputError` for an invalid address. Nothing is connected yet.
        """
        self.address = address_of(address)
        self._seconds, self._bounded = seconds, bounded
        self._options = {**_OPTIONS, "connect_timeout": str(seconds), "tcp_user_timeout": str(3000 * seconds)}
        with _idle_lock:
            self._idle = _idle.setdefault((self.address.url, seconds), _Idle())
        self._checked = False

    @property
    def bot(self) -> str:
        """The bot that the address names."""
        return self.address.bot

    @contextmanager
    def transaction(self, bot: str | None = None, *, checked: bool = False) -> Iterator[Connection]:
        """Yield a connection in one transaction, which sees the rows of `bot`: of the address's without a name.

        The search path has no schema but PostgreSQL's own: SQL names its schemas.
        With `checked`, the schema must have the version of this release. An exception in the block undoes everything.
        Raises `DatabaseError` if the database cannot be reached or used; its text holds no password.
        """
        with self._explained():
            connection = self._take(self.bot if bot is None else bot)
            try:
                # Once: a look at the version in every transaction would cost a round trip.
                if checked and not self._checked:
                    schema.check(connection)
                    self._checked = True
                yield connection
                connection.commit()
            except BaseException:
                # Also after an interruption: the next caller gets the connection and must not find a transaction open.
                with suppress(psycopg.Error):
                    connection.rollback()
                raise
            finally:
                self._idle.give_back(connection)

    def rows(self, bot: str | None = None) -> Any:
        """Return `transaction` with a checked schema: what all tables are read and written with."""
        return self.transaction(bot, checked=True)

    def connect(self) -> Connection:
        """Open a connection that the caller closes. Its statements fail after `seconds`. Raises `DatabaseError`."""
        with self._explained():
            return self._connect()

    def close(self) -> None:
        """Close the connections that are not in use. More are opened when needed."""
        self._idle.close()

    def explain(self, error: Exception) -> str:
        """Return why the database cannot be used, in one line and without secrets."""
        diagnosis = getattr(error, "diag", None)
        text = str((diagnosis and diagnosis.message_primary) or error).strip() or type(error).__name__
        for secret in self.address.secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.DataError as error:
            if error.sqlstate is None:  # of psycopg: a text with the character 0, which PostgreSQL cannot hold
                raise InputError(f"the database cannot keep a text: {self.explain(error)}") from None
            raise DatabaseError(f"{self.address}: {self.explain(error)}") from None
        except psycopg.Error as error:
            # The cause is left out: a traceback would show it, and psycopg may quote the address.
            raise DatabaseError(f"{self.address}: {self.explain(error)}") from None
        except DatabaseError as error:
            shown = str(self.address)
            raise (error if str(error).startswith(shown) else DatabaseError(f"{shown}: {error}")) from None

    def _take(self, bot: str) -> _BoundedConnection:
        if not self._idle.may_ask():
            raise psycopg.OperationalError("the server does not answer")
        began, answers = time.monotonic(), True
        try:
            return self._begin(bot)
        except psycopg.OperationalError:
            answers = time.monotonic() < began + _LONG_WAIT
            raise
        finally:
            self._idle.note(answers=answers)

    def _begin(self, bot: str) -> _BoundedConnection:
        while True:
            connection = self._idle.take()
            reused = connection is not None
            connection = connection or self._connect()
            connection.most_seconds = self._seconds
            try:
                connection.execute(_BEGIN, [bot])
            except psycopg.Error as error:
                connection.close()
                # A connection that was kept may be from before a restart of the server: the next
                # one is tried, a new one at last.
                if not reused or isinstance(error, _NoAnswerError):
                    raise
                continue
            if not self._bounded:
                connection.most_seconds = None
            return connection

    def _connect(self) -> _BoundedConnection:
        known = psycopg.conninfo.conninfo_to_dict(self.address.url)
        options: dict[str, Any] = {name: value for name, value in self._options.items() if name not in known}
        # Behind a pooler, the next transaction may get another connection, which does not know a prepared statement.
        # PgBouncer keeps track of them from 1.21 on, and only if its `max_prepared_statements` allows that.
        connection = _BoundedConnection.connect(self.address.url, prepare_threshold=None, **options)
        connection.most_seconds = self._seconds
        return connection


def storable(text: str) -> str:
    """Replace what a text in PostgreSQL cannot hold: the character 0, and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
