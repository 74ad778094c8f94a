"""Replace several files, all or none, whatever moment the process or the machine stops at.

1. Lock the folders of the files.
2. Write the new content of each file beside the file.
3. Write a journal: from here on the change happens.
4. Rename each new content to its file, then remove the journal and the locks.

Whoever next locks one of the folders finds the lock of a dead owner. With a journal `recover` completes step 4, without
one it removes what step 2 wrote. Paths are relative to the folder of the lock or journal, which may be moved meanwhile.

A journal is believed for a folder only if the lock in that folder names the journal, so that a journal cannot write
where its author could not.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from intentmatch.core.errors import ChangedMeanwhileError
from intentmatch.storage import file_lock
from intentmatch.storage.atomic import fill, make_folder, real_path, sync_folder, write_file
from intentmatch.storage.file_lock import FolderLock
from intentmatch.storage.unwritable import with_advice

_log = logging.getLogger(__name__)

JOURNAL = ".intentmatch.journal"
# Readers wait this long for a change that is being written, in seconds.
_PATIENCE = 1.0
# Content beside a YAML file: `.bot.yaml.new` of a transaction, `.bot.yaml.0123abcd` of `write_file`.
_TEMPORARY = re.compile(rf"\..+\.ya?ml\.(new|[0-9a-f]{{8}})|\.{re.escape(JOURNAL)}\.[0-9a-f]{{8}}")


class _FileStep(NamedTuple):
    """The change of one file, with the SHA-256 of its old and its new content; None where there is no file."""

    target: Path
    old: str | None
    new: str | None

    @property
    def aside(self) -> Path:
        """The file that holds the new content until it replaces the target."""
        return self.target.with_name(f".{self.target.name}.new")


def swap_files(new: Mapping[Path, bytes | None], check: Callable[[], None]) -> None:
    """Replace several files, all or none; None removes a file.

    `check` runs last, before the first replacement; it may raise to cancel. The folders of the files are locked. Raises
    `ChangedMeanwhileError` if somebody else holds such a lock, and `OSError` if a file cannot be written; nothing is
    changed then.
    """
    contents = {real_path(path): content for path, content in new.items()}
    with _locked({target.parent for target in contents}) as locks:
        journal = locks[0].folder / JOURNAL
        for lock in locks:
            lock.write(journal=_from(lock.folder, journal), folder=str(lock.folder))
        # Under the locks: what it has seen cannot change before the files are replaced.
        check()
        held = {target: _content(target) for target in contents}
        steps = [_FileStep(target, _digest(held[target]), _digest(content)) for target, content in contents.items()]
        try:
            _prepare(steps, contents, journal)
            _complete(steps)
            journal.unlink()
        except OSError:
            _undo(steps, held, journal)
            raise
        finally:
            if not journal.exists():
                for step in steps:
                    step.aside.unlink(missing_ok=True)


def recover(folders: Iterable[Path]) -> None:
    """Complete or remove what an interrupted change left in these folders; wait up to a second for a running one.

    Does nothing in the usual case, where no folder has a lock. A folder that cannot be written is left as it is, with a
    warning.
    """
    for folder in folders:
        if not (folder / file_lock.NAME).exists():
            continue
        end = time.monotonic() + _PATIENCE
        try:
            while (lock := FolderLock.acquire(folder)) is None and time.monotonic() < end:
                # Nothing is replaced before the journal: what is read now is the state before the edit, and whole.
                if not (folder / JOURNAL).exists():
                    break
                time.sleep(0.01)
            if lock is not None:
                _recover_and_release([lock])
        except OSError as error:
            _log.warning("an edit of %s was interrupted and cannot be completed: %s", folder, with_advice(error))


def refuse_locked(folder: Path) -> None:
    """Raise `ChangedMeanwhileError` if somebody is changing files of this folder."""
    if not (folder / file_lock.NAME).exists():
        return
    try:
        lock = FolderLock.acquire(folder)
    except OSError:  # a folder that cannot be written is not being written
        return
    if lock is None:
        raise _in_use(folder)
    _recover_and_release([lock])


@contextmanager
def _locked(folders: Iterable[Path]) -> Iterator[list[FolderLock]]:
    """Hold the locks of all folders, after interrupted changes were completed. The locks stay if a journal does."""
    locks: list[FolderLock] = []
    try:
        # In one order, so that of two edits of the same folders one goes on.
        for folder in sorted(folders):
            make_folder(folder)
            lock = FolderLock.acquire(folder)
            if lock is None:
                raise _in_use(folder)
            locks.append(lock)
        _recover(locks)
        yield locks
    finally:
        keep = bool(locks) and (locks[0].folder / JOURNAL).exists()
        if not keep:
            _sweep(locks)
        for lock in reversed(locks):
            lock.release(keep=keep)


def _prepare(steps: Sequence[_FileStep], contents: Mapping[Path, bytes | None], journal: Path) -> None:
    """Write the new contents beside their files, then the journal, from which on the change happens."""
    for step in steps:
        content = contents[step.target]
        if content is not None:
            step.aside.unlink(missing_ok=True)
            fill(step.aside, content, step.target)
    # The journal must not reach the disk before the names of these files and of the locks do.
    for folder in {step.target.parent for step in steps}:
        sync_folder(folder)
    rows = [[_from(journal.parent, step.target), step.old, step.new] for step in steps]
    write_file(journal, json.dumps(rows).encode())


def _complete(steps: Sequence[_FileStep]) -> None:
    """Do what remains of a change. A file that was changed by hand after an interruption stays as it is."""
    for step in steps:
        found = _digest(_content(step.target))
        # Renamed before the interruption; somebody may have changed the file since.
        if found == step.new or not (step.new is None or step.aside.exists()):
            step.aside.unlink(missing_ok=True)
        elif found != step.old:
            rest = _interrupted(step.target)
            _log.warning("%s was changed after an edit of it was interrupted: the edit is in %s", step.target, rest)
            if step.new is not None:
                step.aside.replace(rest)
        elif step.new is None:
            step.target.unlink(missing_ok=True)
        else:
            step.aside.replace(step.target)
    for folder in {step.target.parent for step in steps}:
        sync_folder(folder)


def _undo(steps: Sequence[_FileStep], held: Mapping[Path, bytes | None], journal: Path) -> None:
    """Change back what was changed before an error, by the same means. If that fails too, the journal stays."""
    back = [_FileStep(s.target, s.new, s.old) for s in steps if _digest(_content(s.target)) == s.new != s.old]
    with suppress(OSError):
        if back:
            _prepare(back, held, journal)
            _complete(back)
        journal.unlink(missing_ok=True)


def _recover_and_release(locks: Sequence[FolderLock]) -> None:
    try:
        _recover(locks)
    finally:
        for lock in locks:
            lock.release(keep=_journal_of(lock) is not None)


def _recover(locks: Sequence[FolderLock]) -> None:
    """Complete the changes whose owners died while they held one of these locks, and remove what others left."""
    for lock in locks:
        journal = _journal_of(lock)
        if journal is None:
            _keep_moved(lock)
            continue
        steps = _read_journal(journal)
        more = [
            FolderLock.acquire(folder)
            for folder in sorted({step.target.parent for step in steps} - {lock.folder for lock in locks})
            if (folder / file_lock.NAME).exists()
        ]
        owned = [one for one in (*locks, *more) if one is not None]
        try:
            if None in more:
                raise _in_use(lock.folder)
            # See above: a journal alone may not change the files of a folder.
            believed = {one.folder for one in owned if _journal_of(one) == journal}
            _complete([step for step in steps if step.target.parent in believed])
            for step in steps:
                if step.target.parent not in believed:
                    what = "an interrupted edit did not reach %s, whose folder was moved or removed: repeat it there"
                    _log.warning(what, step.target)
            journal.unlink(missing_ok=True)
            _sweep(owned)
        finally:
            for one in more:
                if one is not None:
                    one.release(keep=journal.exists())
    _sweep(locks)


def _journal_of(lock: FolderLock) -> Path | None:
    """Return the journal that the last owner of a lock left behind."""
    named = lock.note.get("journal")
    journal = real_path(lock.folder / named) if isinstance(named, str) else None
    return journal if journal is not None and journal.name == JOURNAL and journal.is_file() else None


def _keep_moved(lock: FolderLock) -> None:
    """Keep the new content of files whose folder was moved away from the journal of their change."""
    if lock.note.get("folder", str(lock.folder)) == str(lock.folder) or lock.note.get("journal") == JOURNAL:
        return  # no file was replaced before the interruption
    for aside in lock.folder.glob(".*.new"):
        target = aside.with_name(aside.name[1:-4])
        if _content(aside) != _content(target):
            rest = _interrupted(target)
            what = "an edit was interrupted and %s moved since: compare %s with its edited form, %s, and keep one"
            _log.warning(what, lock.folder, target.name, rest)
            aside.replace(rest)


def _interrupted(target: Path) -> Path:
    """Return where the new content of a file is kept if nobody can tell whether it should replace the file."""
    return target.with_name(f"{target.name}.interrupted")


def _from(folder: Path, path: Path) -> str:
    """Return a path as seen from a folder."""
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # on another drive of Windows
        return str(path)


def _read_journal(journal: Path) -> list[_FileStep]:
    """Return the steps of a journal; none if it is no journal, whose writing is atomic."""
    try:
        rows = json.loads(journal.read_bytes())
        return [_FileStep(Path(os.path.normpath(journal.parent / target)), old, new) for target, old, new in rows]
    except (ValueError, TypeError):
        _log.warning("%s is no journal of an edit and is removed", journal)
        return []


def _sweep(locks: Iterable[FolderLock]) -> None:
    """Remove temporary files that dead processes left in locked folders."""
    for lock in locks:
        with suppress(OSError):
            for entry in list(os.scandir(lock.folder)):
                if _TEMPORARY.fullmatch(entry.name):
                    Path(entry.path).unlink(missing_ok=True)


def _in_use(folder: Path) -> ChangedMeanwhileError:
    by = file_lock.owner(folder) or "someone else"
    return ChangedMeanwhileError(f"{folder} is being edited by {by}; nothing was written. Try again")


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
