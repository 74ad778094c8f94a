"""Keys in PostgreSQL: read at the start, and again as soon as one is made or revoked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from intentmatch.core.errors import DatabaseError
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.keys import KeyStore, StoredKey
from intentmatch.storage.postgres.notices import KEYS, Notices

_log = logging.getLogger(__name__)

# Without notifications, as behind some poolers, a key is refused this long after it was revoked.
_SECONDS_BETWEEN_LOOKS = 1.0


class DatabaseKeys:
    """Hands the valid keys of a bot, or of every bot of a database, to `use`: once now, and whenever they change.

    While the database is away, the last keys stay valid.
    """

    def __init__(self, address: Address, use: Callable[[Sequence[StoredKey]], None], *, every_bot: bool) -> None:
        """Raises `DatabaseError` if the keys cannot be read now."""
        self._store, self._use, self._every_bot = KeyStore(Database(address)), use, every_bot
        self._address = address
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        # In the constructor, so that an address without a database stops the start in place of refusing every caller.
        self._look()

    def start(self) -> None:
        """Follow changes in a thread, until `stop`."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, name="intentmatch-keys", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        self._use([key for key in self._store.all(every_bot=self._every_bot) if key.revoked is None])

    def _run(self) -> None:
        news = Notices.subscribe(self._address, KEYS)
        try:
            while not self._stopped.is_set():
                try:
                    self._look()
                except DatabaseError as error:
                    # A warning would come once a second. The bots are in the same database, and report its loss once.
                    _log.debug("the keys cannot be read now: %s", error)
                news.wait(_SECONDS_BETWEEN_LOOKS)
        finally:
            news.close()
