"""A lock of a folder that its owner's death releases: an advisory lock of the operating system on a hidden file.

Neither a crash nor a restart of the machine leaves a lock behind: the kernel gives it back, so that no process id has
to be judged, which would mislead between containers that share a folder. The file says who holds the lock, for people.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError
from intentmatch.storage.unwritable import unwritable

NAME = ".intentmatch.lock"
# Each miss takes another owner that has come and gone in between.
_ATTEMPTS = 20
_SECONDS_BETWEEN_LOOKS = 0.02
# Windows forbids others to read locked bytes, so a byte behind the content is locked.
_LOCKED_BYTE = 1 << 30


class FolderLock:
    """The lock of one folder, held from `acquire` to `release`.

    `note` is the content of the lock's file: mapping of plain JSON values, `{}` without one.
    """

    def __init__(self, folder: Path, descriptor: int, note: Mapping[str, Any]) -> None:
        self.folder = folder
        self.note = note
        """What the last owner wrote, which is not empty if that owner died while it held the lock."""
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, folder: Path) -> FolderLock | None:
        """Lock a folder, without waiting; return None if another process or thread holds the lock. Raises `OSError`."""
        file = folder / NAME
        for _ in range(_ATTEMPTS):
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _lock(descriptor):
                    os.close(descriptor)
                    return None
                # The previous owner may have removed the file after it was opened here: then the lock is worth nothing.
                if _is_same(descriptor, file):
                    return cls(folder, descriptor, _read(descriptor))
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
        return None

    def write(self, **note: Any) -> None:
        """Replace the note, with this process and machine, and wait until the disk has it."""
        import socket  # not needed by those who only read

        content = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), **note}).encode()
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.truncate(self._descriptor, 0)
        os.write(self._descriptor, content)
        os.fsync(self._descriptor)

    def release(self, *, keep: bool = False) -> None:
        """Unlock the folder and remove the file, unless it should `keep` its note for the next owner."""
        file = self.folder / NAME
        if keep:
            os.close(self._descriptor)
        elif sys.platform == "win32":  # Windows removes no open file, and none that the next owner has opened
            os.close(self._descriptor)
            with suppress(OSError):
                file.unlink(missing_ok=True)
        else:
            with suppress(OSError):
                # Before the lock is given back: afterwards, this could remove the file that the next owner has locked.
                file.unlink(missing_ok=True)
            os.close(self._descriptor)


def owner(folder: Path) -> str | None:
    """Return who holds or last held the lock of a folder, as `process 12 on host`; None if nobody says so."""
    try:
        note = json.loads((folder / NAME).read_bytes())
        return f"process {int(note['pid'])} on {note['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def locked(folder: Path, gives_up: Callable[[], bool]) -> Iterator[bool]:
    """Give whether the block has the lock of a folder, which is made: it waits for its turn until it `gives_up`.

    Raises `InputError` if nobody can write there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while (lock := FolderLock.acquire(folder)) is None and not gives_up():
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    except OSError as error:
        raise InputError(unwritable(folder, error)) from error
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def _read(descriptor: int) -> Mapping[str, Any]:
    try:
        found = json.loads(os.read(descriptor, 1 << 20) or b"{}")
    except ValueError:  # the owner died while it wrote
        return {}
    return found if isinstance(found, dict) else {}


def _is_same(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
