"""News of revisions and keys: by LISTEN/NOTIFY, and by polling where a pooler between drops notifications.

One thread listens for all bots of a process that are in one database. While the database is away, it tries again and
says since when.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

import psycopg

from intentmatch.core.errors import DatabaseError
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Connection, Database

_log = logging.getLogger(__name__)

CHANNEL = "intentmatch"
KEYS = "*keys"
"""In place of a bot's name: news of keys. No bot has this name."""

# A poll is one look-up of a few rows. Twice a second, so that replicas agree within a second without notifications.
POLL_SECONDS = 0.5
# A server that takes longer is away: `/readyz` says so after this time.
_SECONDS_TO_ANSWER = 3
_SECONDS_AT_EXIT = 1.0


class Subscription:
    """News of one bot. Made by `Notices.subscribe`."""

    def __init__(self, notices: Notices, bot: str) -> None:
        self.bot = bot
        self._notices = notices
        self._news = threading.Event()

    @property
    def away_since(self) -> float | None:
        """When the database was lost, in seconds since the epoch; None while it answers."""
        return self._notices.away_since

    def wait(self, seconds: float) -> bool:
        """Wait for news, at most so long; whether there are any. Asking takes them."""
        if not self._news.wait(seconds):
            return False  # what is told from now on is for the next call
        self._news.clear()
        return True

    def tell(self) -> None:
        """Have the next `wait` return at once."""
        self._news.set()

    def close(self) -> None:
        """End the subscription. Doing it twice does no harm."""
        self._notices.remove(self)


class Notices:
    """Listens to one database while somebody subscribes."""

    _shared: ClassVar[dict[tuple[int, str], Notices]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, address: Address) -> None:
        self._database = Database(address, seconds=_SECONDS_TO_ANSWER, bounded=True)
        self._subscriptions: list[Subscription] = []
        self._known: dict[str, int] = {}
        self._stopped = threading.Event()
        self._listening: Connection | None = None
        self.away_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="intentmatch-notices", daemon=True)

    @classmethod
    def subscribe(cls, address: Address, bot: str) -> Subscription:
        """Return the news of a bot, or of `KEYS`, from the one thread of this process and this database."""
        with cls._lock:
            place = os.getpid(), address.url
            notices = cls._shared.get(place)
            if notices is None:
                notices = cls._shared[place] = cls(address)
                notices._thread.start()
            subscription = Subscription(notices, bot)
            notices._subscriptions = [*notices._subscriptions, subscription]
            return subscription

    def remove(self, subscription: Subscription) -> None:
        """End a subscription, and the thread with the last one."""
        with self._lock:
            self._subscriptions = [one for one in self._subscriptions if one is not subscription]
            if self._subscriptions:
                return
            for place in [place for place, one in self._shared.items() if one is self]:
                del self._shared[place]
        self._stopped.set()
        # A thread cannot wait for itself.
        if threading.current_thread() is not self._thread:
            self._thread.join(POLL_SECONDS + _SECONDS_AT_EXIT)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (DatabaseError, psycopg.Error) as error:
                if self.away_since is None:
                    self.away_since = time.time()
                    reason = error if isinstance(error, DatabaseError) else self._database.explain(error)
                    _log.warning("the database is away, and the last revision goes on answering: %s", reason)
                self._close()
                self._stopped.wait(POLL_SECONDS)
        self._close()
        self._database.close()

    def _listen(self) -> None:
        """Listen and poll until the end or until the database is lost."""
        if self._listening is None:
            self._listening = self._database.connect()
            self._listening.autocommit = True
            self._listening.execute(f"LISTEN {CHANNEL}")
        # After LISTEN: what is written in between comes as a notification.
        self._poll()
        if self.away_since is not None:
            _log.warning("the database is back after %.0f s", time.time() - self.away_since)
            self.away_since = None
            # Notifications of the time between are lost.
            self._tell_all()
        for notice in self._listening.notifies(timeout=POLL_SECONDS, stop_after=1):
            kind, _, bot = notice.payload.partition(":")
            self._tell(KEYS if kind == "keys" else bot)

    def _poll(self) -> None:
        """Look which bots have another newest revision than at the last look."""
        bots = {one.bot for one in self._subscriptions}
        found = self._revisions(bots - {KEYS})
        for bot, number in found.items():
            if self._known.get(bot) != number:
                self._tell(bot)
        self._known = dict(found)

    def _revisions(self, bots: set[str]) -> Mapping[str, int]:
        query = "SELECT bot, revision FROM intentmatch.bots WHERE bot = ANY(%s)"
        with self._database.rows() as connection:
            found: dict[str, int] = dict(connection.execute(query, [sorted(bots)]).fetchall())
            # Under row-level security, one bot is visible at a time.
            for bot in sorted(bots - found.keys()):
                connection.execute("SELECT set_config('app.bot', %s, true)", [bot])
                found |= dict(connection.execute(query, [[bot]]).fetchall())
        return found

    def _tell(self, bot: str) -> None:
        for one in self._subscriptions:
            if one.bot == bot:
                one.tell()

    def _tell_all(self) -> None:
        for one in self._subscriptions:
            one.tell()

    def _close(self) -> None:
        listening, self._listening = self._listening, None
        if listening is not None:
            with suppress(psycopg.Error):
                listening.close()
