"""Create and remove the bots of a database. A removed bot keeps its rows under another name, and can be restored.

Calls and errors are those of `Bots`, the bots of a folder. Each change is one transaction with its audit entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import psycopg

from intentmatch.authoring.audit import AuditEntry
from intentmatch.authoring.bots import (
    BotExistsError,
    CreatedBot,
    LastBotError,
    RemovedBot,
    UnloadableBot,
    refuse_unusable,
)
from intentmatch.authoring.database_workspace import DatabaseWorkspace, audit_entry, revision_of
from intentmatch.authoring.revisions import digest_of
from intentmatch.core.errors import ChangedMeanwhileError, UnknownNameError
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.storage.postgres import audit_rows, removed
from intentmatch.storage.postgres.address import Address, checked_bot
from intentmatch.storage.postgres.database import Connection, Database
from intentmatch.storage.postgres.registries import RegistryStore, StoredRevision

_ALL = "*"
"""In place of a bot's name: the audit log of who created, removed and restored bots."""


class DatabaseBots:
    """The bots of one database, for any number of threads, processes and machines."""

    def __init__(
        self, address: Address, limits: Callable[[Address], ReadLimits], unloadable: UnloadableBot | None = None
    ) -> None:
        """`limits` returns what may be read for a bot; `unloadable` is as for `Bots`."""
        self._address, self._limits, self._unloadable = address, limits, unloadable
        self._database = Database(address)

    def create(self, name: str, files: Mapping[str, str], *, author: str, note: str = "") -> CreatedBot:
        """Create a bot from the texts of its files. Raises as `Bots.create`, and `DatabaseError`."""
        checked_bot(name)
        root, store = Path(name), self._store(name)
        # Asked before the plan, which takes longer, and decided by the write below.
        with self._database.rows(name) as connection:
            _refuse_taken(store.exists_in(connection), name)
        changes = plan(root, [ReplaceFile(root / file, text) for file, text in files.items()],
                       limits=self._limits(self._address.of(name)), held={})  # fmt: skip
        refuse_unusable(name, changes, self._unloadable)
        note = note.strip() or f"Create the bot {name}"
        contents = {change.path.relative_to(root).as_posix(): (change.new or "").encode() for change in changes.files}
        with self._database.rows(name) as connection:
            try:
                stored = store.write_in(connection, contents, author=author, note=note, expected=None)
            except ChangedMeanwhileError as error:
                raise BotExistsError(str(error)) from error
            _note(connection, author, note, stored, name)
        return CreatedBot(name, stored.digest, revision_of(stored), changes.problems)

    def remove(self, name: str, *, author: str, expected: str, note: str = "") -> RemovedBot:
        """Remove a bot if its files still have the digest `expected`. Raises as `Bots.remove`, and `DatabaseError`."""
        found = self._store(name).bots()
        if name not in found:
            raise UnknownNameError("bot", name, found)
        before = digest_of(self._workspace(name).prepare_removal(expected))
        gone, note = RemovedBot.now(name), note.strip() or f"Remove the bot {name}"
        with self._database.rows(name) as connection:
            # Of two that remove the last two bots at once, the second waits here and sees that one is left.
            connection.execute("SELECT FROM intentmatch.bots ORDER BY bot FOR UPDATE")
            if self._store(name).bots_in(connection) == [name]:
                raise LastBotError(f"{name} is the last bot, and a server needs one: create another one first")
            # The condition was checked before the lock.
            if self._store(name).newest_in(connection).digest != before:
                raise ChangedMeanwhileError(f"the bot {name!r} was changed meanwhile; nothing was removed")
            # In the log of all bots alone: that of the bot goes with its rows.
            audit_rows.note_in(connection, _ALL, author=author, what=note, digest="", revision=None)
            removed.rename(connection, name, gone.id)
        return gone

    def removed(self) -> list[RemovedBot]:
        """Return the bots that can be restored, the newest first. Raises `DatabaseError`."""
        with self._database.rows() as connection:
            found = [RemovedBot.from_id(identity) for identity in removed.removed(connection)]
        return sorted((bot for bot in found if bot), key=lambda bot: (bot.time, bot.id), reverse=True)

    def restore(self, identity: str, *, author: str, note: str = "") -> CreatedBot:
        """Bring a removed bot back. Raises as `Bots.restore`, and `DatabaseError`."""
        bots = {bot.id: bot for bot in self.removed()}
        if identity not in bots:
            raise UnknownNameError("removed bot", identity, list(bots))
        name = bots[identity].name
        store, note = self._store(name), note.strip() or f"Restore the bot {name}"
        with self._database.rows(name) as connection:
            _refuse_taken(store.exists_in(connection), name)
            try:
                if not removed.rename(connection, identity, name):
                    raise ChangedMeanwhileError(f"{identity} was restored meanwhile")
            # Somebody has created a bot of this name since it was looked up.
            except psycopg.errors.UniqueViolation:
                _refuse_taken(True, name)
            stored = store.repeat_in(connection, author=author, note=note)
            _note(connection, author, note, stored, name)
        return CreatedBot(name, stored.digest, revision_of(stored))

    def audit(self, most: int = 100) -> list[AuditEntry]:
        """Return who created, removed and restored bots, the newest entries first."""
        return [audit_entry(one) for one in audit_rows.entries(self._database, most, bot=_ALL)]

    def _workspace(self, name: str) -> DatabaseWorkspace:
        address = self._address.of(name)
        return DatabaseWorkspace(address, self._limits(address))

    def _store(self, name: str) -> RegistryStore:
        return RegistryStore(self._database, name)


def _refuse_taken(taken: bool, name: str) -> None:
    if taken:
        raise BotExistsError(f"there is a bot {name!r} already; nothing was written")


def _note(connection: Connection, author: str, note: str, stored: StoredRevision, name: str) -> None:
    """Note an arrival in the audit log of the bot, and in that of all bots."""
    for bot in (name, _ALL):
        audit_rows.note_in(connection, bot, author=author, what=note, digest=stored.digest, revision=str(stored.number))
