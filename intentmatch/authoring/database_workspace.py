"""The files of a bot in PostgreSQL: an edit, its revision and its entry in the audit log are one transaction.

Calls and errors are those of a `Workspace`, so that authors notice no difference.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timezone
from pathlib import Path

from intentmatch.authoring.audit import AuditEntry
from intentmatch.authoring.revision_scores import FOLDER as EVALUATIONS
from intentmatch.authoring.revision_scores import ScoreFolder
from intentmatch.authoring.revisions import Files, History, Revision, digest_of
from intentmatch.authoring.summary import summary
from intentmatch.authoring.workspace import Unloadable, Workspace, Written
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import Problem, RegistryError, UnknownNameError
from intentmatch.core.types import Registry
from intentmatch.matching.replica import held
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.plan import Changes, plan
from intentmatch.registry.reading.reader import examine
from intentmatch.storage.postgres import audit_rows
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.registries import RegistryStore, StoredRevision
from intentmatch.storage.user_cache import user_cache_folder


class DatabaseHistory:
    """The revisions of a bot, which the database keeps whoever writes them."""

    outside = True
    begun = True

    def __init__(self, store: RegistryStore, folder: Path) -> None:
        self._store = store
        self.folder = folder
        """Where files of this machine lie, such as evaluations."""

    def begin(self, files: Files) -> None:
        """Do nothing: every write is a revision."""

    def revisions(self, most: int) -> list[Revision]:
        """Return the newest revisions, the newest first. Raises `DatabaseError`."""
        return [revision_of(one) for one in self._store.revisions(most)]

    def files(self, revision: str) -> Files:
        """Return the files of a revision. Raises `UnknownNameError` if there is no such revision."""
        return self._store.read(_number(revision))[1]

    def before(self, revision: str) -> Files:
        """Return the files of the revision before this one; empty for the first."""
        parent = self._store.read(_number(revision))[0].parent
        return {} if parent is None else self._store.read(parent)[1]

    def prepare(self, before: Files) -> None:
        """Do nothing: no other program can change the files."""

    def record(self, before: Files, after: Files, author: str, note: str) -> Revision:
        """Write files as a revision. Raises `ChangedMeanwhileError` if `before` is not the newest any more."""
        return revision_of(self._store.write(after, author=author, note=note, expected=digest_of(before)))


class DatabaseWorkspace(Workspace):
    """The files of one bot, for any number of threads, processes and machines."""

    def __init__(
        self, address: Address, limits: ReadLimits | None = None, unloadable: Unloadable | None = None
    ) -> None:
        """Without `limits`, those of the environment hold. Nothing is read yet. `unloadable` is as for others."""
        self.address = address
        self.path = self.base = Path(address.bot)
        self._limits, self._unloadable = limits or ReadLimits.from_settings(address), unloadable
        self._lock = threading.Lock()
        self._database = Database(address)
        self._store = RegistryStore(self._database)
        # Bots of two databases may have one name.
        digest = hashlib.sha256(str(address).encode()).hexdigest()[:16]
        folder = (user_cache_folder() or Path(tempfile.mkdtemp(prefix="intentmatch-"))) / f"bot-{digest}"
        self.history: History = DatabaseHistory(self._store, folder)
        self.scores = ScoreFolder(folder / EVALUATIONS)
        # Other threads read meanwhile, and see the newest revision.
        self._reading = threading.local()

    def files(self) -> Files:
        """Return the content of every file of the newest revision. Raises `DatabaseError`."""
        present: Files | None = getattr(self._reading, "files", None)
        return self._store.read()[1] if present is None else present

    def digest(self) -> str:
        """Return the digest of the newest revision without reading its files. Raises `DatabaseError`."""
        return self._store.newest().digest

    def examine(self, texts: Mapping[str, bytes | None] | None = None) -> tuple[Registry, list[Problem]]:
        """Return what the files say, one utterance per line, and all problems; `texts` is as for a folder."""
        overrides = {self.place(name): content for name, content in (texts or {}).items()}
        stored = held(self.path, self.files())
        return examine(self.path, expand=False, overrides=overrides, limits=self._limits, held=stored)

    def plan(self, edits: Sequence[Edit]) -> Changes:
        """Work out edits without writing. Raises as `registry.editing.plan.plan`."""
        changes = plan(self.path, edits, limits=self._limits, held=held(self.path, self.files()))
        return self._tried(changes)

    def note(self, author: str, what: str) -> None:
        """Note in the audit log what an author did beside the files. Raises `DatabaseError`."""
        digest = self.digest()
        with self._database.rows() as connection:
            audit_rows.note_in(connection, self._database.bot, author=author, what=what, digest=digest, revision=None)

    def erase_from_audit(self, erasure: Erasure) -> int:
        """Replace words of messages in the audit log. Raises `InputError` if the role may not change the log."""
        return audit_rows.erase(self._database, erasure)

    def audit(self, most: int = 100) -> list[AuditEntry]:
        """Return the newest entries of the audit log, the newest first."""
        return [audit_entry(one) for one in audit_rows.entries(self._database, most)]

    def settle(self) -> None:
        """Return at once: a write is one transaction, so that nobody sees new files without their revision."""

    def examine_revision(self, files: Files) -> tuple[Registry, list[Problem]]:
        """Return what the files of a revision say, with all problems."""
        return examine(self.path, limits=self._limits, held=held(self.path, files))

    def _write(self, changes: Changes, author: str, note: str) -> Written:
        before = self.named(changes.read)
        if changes.errors:
            raise RegistryError(changes.errors)
        if not changes.files:
            return Written(changes, digest_of(before), None)
        note = note.strip() or summary(changes.edits)
        after = self.named(changes.contents)
        stored = self._store.write_noted(after, author=author, note=note, expected=digest_of(before))
        return Written(changes, stored.digest, revision_of(stored))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let the block see the files of one moment. What another machine writes meanwhile refuses the write."""
        with self._lock:
            self._reading.files = self._store.read()[1]
            try:
                yield
            finally:
                self._reading.files = None


def revision_of(stored: StoredRevision) -> Revision:
    """Return a revision as all stores of files describe it."""
    return Revision(str(stored.number), stored.author, stored.time.astimezone(timezone.utc), stored.note)


def _number(identity: str) -> int:
    # PostgreSQL's numbers have at most 19 digits, and `isdigit` alone takes the digits of all scripts.
    if not (identity.isascii() and identity.isdigit() and len(identity) < 18):
        raise UnknownNameError("revision", identity, None, "Revisions of a bot in PostgreSQL are numbers.")
    return int(identity)


def audit_entry(row: audit_rows.AuditRow) -> AuditEntry:
    """Return an entry as all audit logs describe it."""
    time = row.time.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    return AuditEntry(time, row.author, row.what, row.digest, row.revision)
