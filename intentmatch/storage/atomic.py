"""Atomic file writes: content is written to a temporary file, which then replaces the target."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# No write takes that long.
_SECONDS_OF_A_WRITE = 3600.0


def write_file(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically. If several writers race, the last one wins. Raises `OSError`.

    Symbolic links are followed. The mode of an existing file is kept.
    """
    target = real_path(path)
    aside = _beside(target)
    make_folder(target.parent)
    try:
        fill(aside, content, target)
        aside.replace(target)
        sync_folder(target.parent)
    finally:
        # After success the temporary file no longer exists.
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def write_report(path: Path, content: bytes) -> None:
    """Write a file that a user names: atomically, unless the path is a pipe, a device or a link. Raises `OSError`.

    Its folder is not made.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()) or not path.parent.is_dir():
        path.write_bytes(content)
    else:
        write_file(path, content)


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `target` when the block ends, or is removed if the block raises."""
    aside, old = _beside(target), _beside(target)
    if target.exists():  # otherwise one of them may be all that there is
        remove_strays(target.parent, target.name)
    make_folder(aside)
    try:
        yield aside
        _sync_tree(aside)
        if target.exists():
            # No system renames a folder over one that has files.
            target.replace(old)
        try:
            aside.replace(target)
        except OSError:
            # The old folder comes back: something must always be there.
            old.replace(target)
            raise
        sync_folder(target.parent)
    finally:
        for rest in (aside, old):
            shutil.rmtree(rest, ignore_errors=True)


def _beside(target: Path) -> Path:
    """Return a temporary name beside a target. It never looks like a date, which people put behind their copies."""
    while (digits := secrets.token_hex(4)).isdecimal():
        pass
    return target.with_name(f".{target.name}.{digits}")


def remove_strays(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left beside their files or folders: temporary ones unchanged for an hour.

    `name` restricts this to the temporary ones of one file or folder. Without it, the folder must be ours alone.
    """
    temporary = re.compile(rf"\.{'.+' if name is None else re.escape(name)}\.[0-9a-f]{{8}}")
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if temporary.fullmatch(entry.name) and not entry.name[-8:].isdecimal():
                _remove_old(Path(entry.path))


def _remove_old(path: Path) -> None:
    """Remove a file or folder in which nothing has changed for an hour: its writer does not run any more."""
    with suppress(OSError):
        parts = [path, *path.rglob("*")]
        if time.time() - max(part.lstat().st_mtime for part in parts) < _SECONDS_OF_A_WRITE:
            return
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def real_path(path: Path) -> Path:
    """Return the file that a path means, with symbolic links followed."""
    # Unlike `Path.resolve`, `realpath` does not raise for circular links; opening the file will.
    return Path(os.path.realpath(path))


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names of a folder's files, so that a power failure undoes no rename."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows cannot do this, and needs it less
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, and wait until the disk has them. Raises `OSError`."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        sync_folder(one.parent)


def _sync_tree(folder: Path) -> None:
    """Wait until the disk has all files of a folder, before the folder replaces another one."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
        elif path.is_file():
            # For writing, without which Windows syncs no file.
            with path.open("rb+") as file:
                os.fsync(file.fileno())


def fill(aside: Path, content: bytes, target: Path) -> None:
    """Write a new file with the mode of the target, to the disk. Raises `FileExistsError` if the file exists."""
    # Never through a link that somebody else has put there.
    out = aside.open("xb")
    try:
        with out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if target.exists():
            shutil.copymode(target, aside)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
