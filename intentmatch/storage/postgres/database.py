"""Connections to one database: opened when needed, kept, and replaced when the server was restarted."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias
from weakref import WeakValueDictionary, finalize

from intentmatch.core.errors import DatabaseError, MissingExtraError
from intentmatch.storage.postgres import migrating
from intentmatch.storage.postgres.address import Address, address_of

try:
    import psycopg
except ModuleNotFoundError as error:
    raise MissingExtraError("A registry in PostgreSQL", "postgres") from error

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

# Connections that wait for their next use; more are closed.
_MOST_IDLE = 4
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


class _Idle:
    """Connections to one database that wait for their next use, for all bots of a process."""

    def __init__(self) -> None:
        self._waiting: list[Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        # Not `__del__`, which the garbage collector may call after that of the connections.
        finalize(self, _close_all, self._waiting, self._process)

    def take(self) -> Connection | None:
        """Return a connection that nobody uses, or None."""
        with self._lock:
            if self._process != os.getpid():
                # The parent's connections are its own: neither used nor closed here.
                self._process = os.getpid()
                self._waiting.clear()
                finalize(self, _close_all, self._waiting, self._process)
            return self._waiting.pop() if self._waiting else None

    def give_back(self, connection: Connection) -> None:
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


def _close_all(waiting: list[Connection], process: int) -> None:
    for connection in waiting if process == os.getpid() else ():
        connection.close()


_idle: WeakValueDictionary[tuple[str, int], _Idle] = WeakValueDictionary()
_idle_lock = threading.Lock()


class Database:
    """One database, for any number of threads. A process that is forked off opens connections of its own."""

    def __init__(self, address: str | Address, *, seconds: int = 5) -> None:
        """`seconds` is how long to wait for a server that does not answer, at least 2.

        Raises `InputError` for an invalid address. Nothing is connected yet.
        """
        self.address = address_of(address)
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
                if checked and not self._checked:
                    migrating.check(connection)
                    self._checked = True
                yield connection
                connection.commit()
            except BaseException:
                with suppress(psycopg.Error):
                    connection.rollback()
                raise
            finally:
                self._idle.give_back(connection)

    def rows(self, bot: str | None = None) -> Any:
        """Return `transaction` with a checked schema: what all tables are read and written with."""
        return self.transaction(bot, checked=True)

    def connect(self) -> Connection:
        """Open a connection that the caller closes. Raises `DatabaseError`."""
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
        except psycopg.Error as error:
            # The cause is left out: a traceback would show it, and psycopg may quote the address.
            raise DatabaseError(f"{self.address}: {self.explain(error)}") from None
        except DatabaseError as error:
            shown = str(self.address)
            raise (error if str(error).startswith(shown) else DatabaseError(f"{shown}: {error}")) from None

    def _take(self, bot: str) -> Connection:
        while True:
            connection = self._idle.take()
            reused = connection is not None
            connection = connection or self._connect()
            try:
                connection.execute(_BEGIN, [bot])
            except psycopg.Error:
                connection.close()
                if not reused:
                    raise
                continue
            return connection

    def _connect(self) -> Connection:
        known = psycopg.conninfo.conninfo_to_dict(self.address.url)
        options: dict[str, Any] = {name: value for name, value in self._options.items() if name not in known}
        # Behind a pooler, the next transaction may get another connection, which does not know a prepared statement.
        # PgBouncer keeps track of them from 1.21 on, and only if its `max_prepared_statements` allows that.
        return psycopg.connect(self.address.url, prepare_threshold=None, **options)
