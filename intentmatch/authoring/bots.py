"""Create and remove the bots of a folder of bots. What is removed moves aside, and can be restored."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from intentmatch.artefact.store import SUFFIX
from intentmatch.authoring.audit import NAME as AUDIT_NAME
from intentmatch.authoring.audit import AuditEntry, AuditLog
from intentmatch.authoring.folder_history import NAME as HISTORY
from intentmatch.authoring.git_history import GitHistory
from intentmatch.authoring.revisions import Revision, digest_of
from intentmatch.authoring.time_limit import after
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.bot_names import HOW_TO_NAME, VALID_NAME
from intentmatch.core.errors import ChangedMeanwhileError, InputError, Problem, RegistryError, UnknownNameError
from intentmatch.core.types import Registry
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.plan import Changes, plan
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.registry.reading.reader import is_yaml
from intentmatch.storage.atomic import fill, sync_folder
from intentmatch.storage.file_lock import locked
from intentmatch.storage.unwritable import unwritable

REMOVED = ".intentmatch-removed"
"""Folder of the removed bots, beside the bots."""

_NEW = ".intentmatch-new"
_SECONDS_FOR_THE_LOCK = 10.0
_IDENTITY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,99})@(?P<time>\d{8}T\d{6}Z)-[0-9a-f]{4}")
_TIME = "%Y%m%dT%H%M%SZ"


class BotExistsError(ChangedMeanwhileError):
    """There is a bot of this name already. Nothing was written."""


class LastBotError(InputError):
    """The last bot of a folder is not removed: a server cannot start without one."""


@dataclass(frozen=True, slots=True)
class CreatedBot:
    """A bot that was created or restored."""

    name: str
    digest: str | None
    """Digest of its files; None for an artefact."""
    revision: Revision | None
    """Its first revision, or that of the restored files; None if none is kept."""
    problems: tuple[Problem, ...] = ()
    """Warnings about its files."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedBot:
    """A bot that moved aside."""

    id: str
    name: str
    time: datetime
    warnings: tuple[str, ...] = ()

    @classmethod
    def now(cls, name: str) -> RemovedBot:
        """Return a bot that is removed now, with an id of its own."""
        now = datetime.now(timezone.utc).replace(microsecond=0)
        return cls(f"{name}@{now.strftime(_TIME)}-{secrets.token_hex(2)}", name, now)

    @classmethod
    def from_id(cls, identity: str) -> RemovedBot | None:
        """Return the bot that an id names; None if it is no id."""
        match = _IDENTITY.fullmatch(identity)
        time = match and datetime.strptime(match["time"], _TIME).replace(tzinfo=timezone.utc)
        return None if match is None or time is None else cls(identity, match["name"], time)


UnloadableBot = Callable[[str, Registry], Problem | None]
"""Returns why a new bot of this name could not be loaded; None if it could."""


def refuse_unusable(name: str, changes: Changes, unloadable: UnloadableBot | None) -> None:
    """Raise `RegistryError` for the files of a new bot that have errors or cannot be loaded."""
    errors = [problem for problem in changes.problems if problem.severity == "error"]
    if not errors and unloadable is not None and (found := unloadable(name, changes.registry)) is not None:
        errors = [found]
    if errors:
        raise RegistryError(errors)


class Bots:
    """The bots of one folder, for any number of threads and processes."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        found: Callable[[], Mapping[str, Path]],
        limits: Callable[[Path], ReadLimits],
        unloadable: UnloadableBot | None = None,
    ) -> None:
        """`found` returns the path of each bot of the folder by its name, and `limits` what may be read for one.

        `unloadable` returns why a new bot could not be loaded: such a bot is not created.
        """
        self._limits, self._unloadable = limits, unloadable
        self._folder = Path(folder)
        self._found = found
        git = GitHistory.of(self._folder)
        self._private = self._folder / HISTORY if git is None else git.folder
        self._audit = AuditLog(self._private / AUDIT_NAME)

    def create(self, name: str, files: Mapping[str, str], *, author: str, note: str = "") -> CreatedBot:
        """Create a bot from the texts of its files, by their names from its folder, and keep its first revision.

        Raises `BotExistsError` if the name is taken, `RegistryError` if the files have errors, and `InputError` if the
        name or a file cannot be used.
        """
        if not VALID_NAME.fullmatch(name):
            raise InputError(f"{name!r} is not a valid name for a bot: {HOW_TO_NAME}")
        target = self._folder / name
        with self._writing():
            self._refuse_taken(name)
            changes = plan(target, [ReplaceFile(target / file, text) for file, text in files.items()],
                           limits=self._limits(target))  # fmt: skip
            refuse_unusable(name, changes, self._unloadable)
            # Before anything is written: what cannot be noted is not done.
            self._audit.prepare()
            self._place(target, changes)
            note = note.strip() or f"Create the bot {name}"
            return self._arrived(name, target, author, note, changes.problems)

    def remove(self, name: str, *, author: str, expected: str, note: str = "") -> RemovedBot:
        """Move a bot aside if its files still have the digest `expected`; `ANY` takes them as they are.

        Raises `UnknownNameError` for an unknown bot, `StaleRevisionError` if its files have changed, `LastBotError`,
        and `InputError` if the bot cannot be moved.
        """
        with self._writing():
            found = self._found()
            if name not in found:
                raise UnknownNameError("bot", name, list(found))
            if len(found) == 1:
                raise LastBotError(f"{name} is the last bot, and a server needs one: create another one first")
            self._audit.prepare()
            path, note = found[name], note.strip() or f"Remove the bot {name}"
            workspace = Workspace(path, self._limits(path)) if is_yaml(path) else None
            before = {} if workspace is None else workspace.prepare_removal(expected)
            gone = RemovedBot.now(name)
            # One rename: others see the bot either here or there.
            self._move(path, self._aside(gone.id) / path.name)
            warnings, revision = [], None
            try:
                revision = None if workspace is None else workspace.record_departure(before, author, note)
            # The bot has moved, so this is a warning. An error would make the caller try again.
            except InputError as error:
                warnings.append(f"The bot is removed, but no revision is kept: {error}")
            warnings += self._note(author, note, "", revision)
            return replace(gone, warnings=tuple(warnings))

    def removed(self) -> list[RemovedBot]:
        """Return the bots that can be restored, the newest first."""
        folder = self._folder / REMOVED
        # Who was killed before the bot moved, or after it came back, leaves an empty folder.
        places = [] if not folder.is_dir() else [place for place in folder.iterdir() if _held(place) is not None]
        found = [RemovedBot.from_id(place.name) for place in places]
        return sorted((bot for bot in found if bot), key=lambda bot: (bot.time, bot.id), reverse=True)

    def restore(self, identity: str, *, author: str, note: str = "") -> CreatedBot:
        """Bring a removed bot back. Raises `UnknownNameError`, `BotExistsError` if its name is taken, `InputError`."""
        with self._writing():
            bots = {bot.id: bot for bot in self.removed()}
            if identity not in bots:
                raise UnknownNameError("removed bot", identity, list(bots))
            name, aside = bots[identity].name, self._folder / REMOVED / identity
            self._refuse_taken(name)
            self._audit.prepare()
            # Somebody may have emptied the folder since it was listed.
            if (held := _held(aside)) is None:
                raise UnknownNameError("removed bot", identity, list(bots))
            self._move(held, self._folder / held.name)
            aside.rmdir()
            note = note.strip() or f"Restore the bot {name}"
            return self._arrived(name, self._folder / held.name, author, note)

    def audit(self, most: int = 100) -> list[AuditEntry]:
        """Return who created, removed and restored bots, the newest entries first."""
        return self._audit.entries(most)

    def _refuse_taken(self, name: str) -> None:
        for place in (self._folder / name, self._folder / f"{name}{SUFFIX}"):
            # A dangling link has the name too.
            if os.path.lexists(place):
                raise BotExistsError(f"there is {place} already; nothing was written")

    def _place(self, target: Path, changes: Changes) -> None:
        """Write the files of a new bot aside, then give their folder its name in one step."""
        new = self._folder / _NEW
        try:
            shutil.rmtree(new, ignore_errors=True)  # of a process that was killed: nobody else writes now
            for change in changes.files:
                file = new / change.path.relative_to(target)
                file.parent.mkdir(parents=True, exist_ok=True)
                # Waits for the disk, so that the rename never names files without content.
                fill(file, (change.new or "").encode(), file)
            self._move(new, target)
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def _arrived(self, name: str, path: Path, author: str, note: str, problems: tuple[Problem, ...] = ()) -> CreatedBot:
        """Keep a revision of a bot that is new or back, and note it in the audit log."""
        if not is_yaml(path):
            return CreatedBot(name, None, None, problems, self._note(author, note, "", None))
        workspace, revision, warnings = Workspace(path, self._limits(path)), None, []
        try:
            revision = workspace.record_arrival(author, note)
        except InputError as error:
            warnings.append(f"The bot is written, but no revision is kept: {error}")
        digest = digest_of(workspace.files())
        warnings += self._note(author, note, digest, revision)
        return CreatedBot(name, digest, revision, problems, tuple(warnings))

    def _note(self, author: str, note: str, digest: str, revision: Revision | None) -> tuple[str, ...]:
        """Note a change in the audit log. Returns what went wrong: the change itself is made."""
        try:
            self._audit.note(author, note, digest, None if revision is None else revision.id)
        except InputError as error:
            return (f"The change is made, but {error}",)
        return ()

    def _aside(self, identity: str) -> Path:
        folder = self._folder / REMOVED
        try:
            folder.mkdir(exist_ok=True)
            # In a repository, what is removed should not look like something new.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            (folder / identity).mkdir()
        except OSError as error:
            raise _unwritable(folder, error) from error
        return folder / identity

    def _move(self, source: Path, target: Path) -> None:
        try:
            source.rename(target)
            # Both folders: after a crash the bot should be in one of them.
            sync_folder(target.parent)
            sync_folder(source.parent)
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let one thread of one process write at a time. Raises `ChangedMeanwhileError` if others take too long."""
        with locked(self._private, after(_SECONDS_FOR_THE_LOCK)) as mine:
            if not mine:
                raise ChangedMeanwhileError(f"the bots of {self._folder} are being changed by another process")
            yield


def _held(aside: Path) -> Path | None:
    """Return the removed bot of a folder; None if it has none."""
    # A hidden file is of the system or of an editor.
    visible = [] if not aside.is_dir() else [entry for entry in aside.iterdir() if not entry.name.startswith(".")]
    return visible[0] if visible else None


def _unwritable(folder: Path, error: OSError) -> InputError:
    found = InputError(unwritable(folder, error))
    found.__cause__ = error
    return found
