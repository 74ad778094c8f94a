"""The files of one registry: plan edits, write them with a revision to come back to, and restore a revision."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from intentmatch.authoring.audit import NAME as AUDIT_NAME
from intentmatch.authoring.audit import AuditEntry, AuditLog
from intentmatch.authoring.folder_history import NAME, FolderHistory
from intentmatch.authoring.git_history import GitHistory
from intentmatch.authoring.revision_scores import FOLDER as EVALUATIONS
from intentmatch.authoring.revision_scores import ScoreFolder
from intentmatch.authoring.revisions import FileDiff, Files, History, Revision, diffs, digest_of
from intentmatch.authoring.summary import summary
from intentmatch.authoring.time_limit import after
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import (
    ChangedMeanwhileError,
    InputError,
    IntentMatchError,
    Problem,
    RegistryError,
    UnknownNameError,
)
from intentmatch.core.types import Registry
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.plan import Changes, plan
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile
from intentmatch.registry.reading.reader import Remembered, examine, is_yaml, yaml_files
from intentmatch.storage.file_lock import locked

ANY = "*"
"""In place of a digest: whatever the files hold."""

Making = Callable[[Files], Sequence[Edit]]
"""Makes edits for the files as they are. May raise `InputError`."""

Unloadable = Callable[[Registry], Problem | None]
"""Returns why a registry with other settings could not be loaded; None if it could."""

_SECONDS_FOR_THE_LOCK = 10.0
_LOOKED_BACK = 50
_MOST_SEARCHED = 10_000


class StaleRevisionError(ChangedMeanwhileError):
    """The files have changed since the author read them. Nothing was written."""

    def __init__(self, digest: str, theirs: str | None, yours: str | None, reason: str | None) -> None:
        super().__init__("the files have changed since the revision that the edit was made for; nothing was written")
        self.digest = digest
        """Digest of the present files."""
        self.theirs = theirs
        """Diff from the author's revision to the present files; None if that revision is not kept."""
        self.yours = yours
        """Diff of the author's edit applied to the present files; None if it does not fit any more."""
        self.reason = reason
        """Why it does not fit."""


@dataclass(frozen=True, slots=True)
class Written:
    """A change that was written."""

    changes: Changes
    digest: str
    """Digest of the files afterwards."""
    revision: Revision | None
    """None if the edits changed nothing, or if the revision could not be kept."""
    warnings: tuple[str, ...] = ()


class Workspace:
    """The YAML files of one registry, for any number of threads and processes."""

    def __init__(
        self, path: str | os.PathLike[str], limits: ReadLimits | None = None, unloadable: Unloadable | None = None
    ) -> None:
        """`limits` are those of `read_registry`. Raises `InputError` for an artefact.

        `unloadable` returns why a registry with other settings could not be loaded: such edits are not written.
        """
        self.path = Path(path)
        if not is_yaml(self.path):
            raise InputError(f"{self.path} is an artefact: edit the YAML that it was built from, and build it again")
        self.base = self.path.parent if self.path.suffix.lower() in (".yaml", ".yml") else self.path
        """The folder that file names start from."""
        self._limits, self._unloadable = limits, unloadable
        self._remembered: Remembered = {}
        self._lock = threading.Lock()
        # Several single files of one folder are several registries, each with a history of its own.
        hidden = self.base / NAME if self.base == self.path else self.base / f".{self.path.name}{NAME}"
        self.history: History = GitHistory.of(self.path) or FolderHistory(hidden)
        """The revisions. Commands that edit keep some only once it has begun."""
        self.scores = ScoreFolder(self.history.folder / EVALUATIONS)
        """The evaluations of the revisions."""
        self._audit = AuditLog(self.history.folder / AUDIT_NAME)

    def files(self) -> Files:
        """Return the content of every file, by its name from the folder. Raises `InputError` if one is unreadable."""
        # Which files there are stands in the files (`include:`). Only those that have changed are parsed again. A copy,
        # because other threads read too.
        remembered = dict(self._remembered)
        try:
            listed = yaml_files(self.path, self._limits, remembered=remembered)
            self._remembered = remembered
            return {self.name_of(file): file.read_bytes() for file in listed}
        except OSError as error:
            raise InputError(f"{error.filename} cannot be read: {error.strerror or error}") from error

    def digest(self) -> str:
        """Return the digest of the files as they are now, which `write` expects. Raises as `files`."""
        return digest_of(self.files())

    def examine(self, texts: Mapping[str, bytes | None] | None = None) -> tuple[Registry, list[Problem]]:
        """Return what the files say, one utterance per line, and all problems. Never raises for invalid content.

        `texts` gives the content of files by name in place of what is on disk; None means that there is none.
        """
        overrides = {self.place(name): content for name, content in (texts or {}).items()}
        remembered = dict(self._remembered)
        return examine(self.path, expand=False, overrides=overrides, remembered=remembered, limits=self._limits)

    def examine_revision(self, files: Files) -> tuple[Registry, list[Problem]]:
        """Return what the files of a revision say, with all problems: none of the present files counts."""
        # None for each present file: a revision may lack one.
        held: dict[Path, bytes | None] = dict.fromkeys(yaml_files(self.path, self._limits))
        held |= {self.place(name): content for name, content in files.items()}
        return examine(self.path, overrides=held, limits=self._limits)

    def place(self, name: str) -> Path:
        """Return the path of a file by its name."""
        return self.base / name

    def plan(self, edits: Sequence[Edit]) -> Changes:
        """Work out edits without writing. Raises as `registry.editing.plan.plan`."""
        return self._tried(plan(self.path, edits, limits=self._limits))

    def _tried(self, changes: Changes) -> Changes:
        """Return changes with the problem that their settings cannot be loaded, if the edits bring that."""
        # Trying takes an encoder and a training, so only settings that change are tried.
        if self._unloadable is None or changes.errors or changes.before.settings == changes.registry.settings:
            return changes
        found = self._unloadable(changes.registry)
        if found is None:
            return changes
        return replace(changes, problems=(*changes.problems, found), brought=(*changes.brought, found))

    def write(self, edits: Sequence[Edit] | Making, *, author: str, note: str, expected: str) -> Written:
        """Write edits if the files still have the digest `expected`, and keep a revision.

        Without a `note`, the revision says in a few words what the edits are. `Making` is called while nobody else
        writes.

        Raises `StaleRevisionError` if they do not, `ChangedMeanwhileError` if somebody else is writing, `RegistryError`
        if the edits bring errors, and `InputError` if an edit is impossible or the files cannot be written.
        """
        with self._writing():
            made = edits(self.files()) if callable(edits) else edits
            # While nobody else writes, so that what was compared is what is changed.
            self._refuse_stale(made, expected)
            return self._write(self.plan(made), author, note)

    def write_planned(self, changes: Changes, *, author: str, note: str) -> Written:
        """Write changes that were planned before, such as those that a person has confirmed, and keep a revision.

        Raises `ChangedMeanwhileError` if a file has changed since they were planned; otherwise raises as `write`.
        """
        with self._writing():
            return self._write(changes, author, note)

    def begin_history(self) -> None:
        """Keep revisions of what commands edit from now on. Raises `InputError` if none can be kept."""
        with self._writing():
            self.history.begin(self.files())

    def revisions(self, most: int = 100) -> list[Revision]:
        """Return the newest revisions, the newest first."""
        return self.history.revisions(most)

    def settle(self) -> None:
        """Wait until nobody writes, for some seconds at most.

        A writer changes the files first and keeps the revision then: after this, what the files say has its revision.
        """
        if not self.history.folder.is_dir():
            return  # nobody has ever written
        with suppress(InputError, ChangedMeanwhileError), self._writing():  # InputError: nobody can write here
            pass

    def revision(self, identity: str) -> tuple[Revision, list[FileDiff]]:
        """Return a revision and what it changed; the beginning of a commit's id is enough.

        Raises `UnknownNameError` if it does not exist.
        """
        files = self.history.files(identity)
        kept = self.history.revisions(_MOST_SEARCHED)
        # Exact first: with numbers, 1 is the beginning of 12.
        found = [one for one in kept if one.id == identity] or [one for one in kept if one.id.startswith(identity)]
        if not found:
            raise UnknownNameError("revision", identity, None)
        return found[0], diffs(self.history.before(identity), files)

    def restoring(self, identity: str) -> list[Edit]:
        """Return the edits that bring a revision back. Raises `UnknownNameError`."""
        wanted = self.history.files(identity)
        if not wanted:
            raise InputError(f"the revision {identity} has no files of this registry")
        return self.replacing(wanted)

    def replacing(self, wanted: Files) -> list[Edit]:
        """Return the edits that make these files of the present ones."""
        present = self.files()
        edits: list[Edit] = [RemoveFile(self.place(name)) for name in sorted(present.keys() - wanted.keys())]
        for name, content in sorted(wanted.items()):
            if content != present.get(name):
                edits.append(ReplaceFile(self.place(name), content.decode("utf-8", "replace")))
        return edits

    def prepare_removal(self, expected: str) -> Files:
        """Keep the files as they are before the registry is removed as a whole, and return them. Raises as `write`."""
        with self._writing():
            self._refuse_stale([], expected)
            files = self.files()
            self.history.prepare(files)
            return files

    def record_arrival(self, author: str, note: str) -> Revision:
        """Keep a revision of a registry that came as a whole, such as a new one. Raises `InputError` if it cannot."""
        with self._writing():
            files = self.files()
            revision = self.history.record({}, files, author, note)
            self._audit.note(author, note, digest_of(files), revision.id)
            return revision

    def record_departure(self, before: Files, author: str, note: str) -> Revision | None:
        """Keep a revision without any files; None if the history lies in the folder that was removed.

        Raises `InputError` if it cannot be kept.
        """
        return self.history.record(before, {}, author, note) if self.history.outside else None

    def note(self, author: str, what: str) -> None:
        """Note in the audit log what an author did beside the files, such as ignoring messages. Raises `InputError`."""
        with self._writing():
            self._audit.note(author, what, digest_of(self.files()), None)

    def erase_from_audit(self, erasure: Erasure) -> int:
        """Replace words of messages in the audit log; return how many entries have changed. Raises `InputError`."""
        with self._writing():
            return self._audit.erase(erasure)

    def audit(self, most: int = 100) -> list[AuditEntry]:
        """Return the newest entries of the audit log, the newest first."""
        return self._audit.entries(most)

    def _write(self, changes: Changes, author: str, note: str) -> Written:
        note = note.strip() or summary(changes.edits)
        before = self.named(changes.read)
        if changes.errors:
            raise RegistryError(changes.errors)
        if not changes.files:
            return Written(changes, digest_of(before), None)
        # Both before the first byte is written: what can be neither noted nor undone is not done.
        self._audit.prepare()
        self.history.prepare(before)
        changes.write()
        present = self.named(changes.contents)
        warnings, revision = [], None
        try:
            revision = self.history.record(before, present, author, note)
        # The files are written. An error would make the author write them again.
        except IntentMatchError as error:
            warnings.append(f"The files are written, but no revision is kept: {error}")
        digest = digest_of(present)
        try:
            self._audit.note(author, note, digest, None if revision is None else revision.id)
        except InputError as error:
            warnings.append(f"The files are written, but {error}")
        return Written(changes, digest, revision, tuple(warnings))

    def _refuse_stale(self, edits: Sequence[Edit], expected: str) -> None:
        present = self.files()
        if expected in (ANY, digest := digest_of(present)):
            return
        # The state that the author saw, if it is kept, shows both sides of the conflict.
        theirs = next((kept for kept in self._kept() if digest_of(kept) == expected), None)
        shown = None if theirs is None else "".join(one.diff for one in diffs(theirs, present))
        try:
            yours, reason = self.plan(edits).diff, None
        except InputError as error:
            yours, reason = None, str(error)
        raise StaleRevisionError(digest, shown, yours, reason)

    def _kept(self) -> Iterator[Files]:
        for revision in self.history.revisions(_LOOKED_BACK):
            try:
                yield self.history.files(revision.id)
            except InputError:
                continue

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let one thread of one process write at a time. Raises `ChangedMeanwhileError` if others take too long."""
        with self._lock, locked(self.history.folder, after(_SECONDS_FOR_THE_LOCK)) as mine:
            if not mine:
                raise ChangedMeanwhileError(f"{self.path} is being edited by another process; nothing was written")
            yield

    def name_of(self, file: Path) -> str:
        """Return the name of a file from the folder."""
        return os.path.relpath(file, self.base).replace(os.sep, "/")

    def named(self, files: Mapping[Path, bytes]) -> Files:
        """Return contents by the names of their files, such as `Changes.read`."""
        return {self.name_of(file): content for file, content in files.items()}
