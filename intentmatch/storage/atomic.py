"""Atomic file writes: content is written to a temporary file, which then replaces the target."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from intentmatch.core.errors import ChangedMeanwhileError


def write_file(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically. If several writers race, the last one wins. Raises `OSError`.

    Symbolic links are followed. The mode of an existing file is kept.
    """
    target = _target(path)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _fill(aside, content, target)
        aside.replace(target)
    finally:
        # After success the temporary file no longer exists.
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def swap_files(new: Mapping[Path, bytes], check: Callable[[], None]) -> None:
    """Replace several files, all or none. `check` runs last, before the first replacement; it may raise to cancel.

    The temporary files also serve as locks. Raises `ChangedMeanwhileError` if another process is swapping one of the
    files, and `OSError` if a file cannot be written. Files that were replaced before an error are restored.
    """
    targets = {_target(path): path for path in new}
    asides: dict[Path, Path] = {}
    swapped: dict[Path, bytes | None] = {}
    try:
        for target, path in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            _lock(target, path, new[path])
            asides[target] = _aside(target)
        check()
        for target, aside in list(asides.items()):
            swapped[target] = target.read_bytes() if target.exists() else None
            aside.replace(target)
            # The lock is released; a file of this name now belongs to another process.
            del asides[target]
    except BaseException:
        for target in swapped.keys() - asides.keys():
            _put_back(target, swapped[target])
        raise
    finally:
        for aside in asides.values():
            with suppress(OSError):
                aside.unlink(missing_ok=True)


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `target` when the block ends, or is removed if the block raises."""
    aside, old = (target.with_name(f".{target.name}.{secrets.token_hex(4)}") for _ in range(2))
    aside.mkdir(parents=True)
    try:
        yield aside
        if target.exists():
            target.replace(old)
        try:
            aside.replace(target)
        except OSError:
            old.replace(target)
            raise
    finally:
        for rest in (aside, old):
            shutil.rmtree(rest, ignore_errors=True)


def refuse_locked(path: Path) -> None:
    """Raise `ChangedMeanwhileError` if another process is swapping this file."""
    lock = _aside(_target(path))
    if lock.exists():
        raise _in_use(path, lock)


def _target(path: Path) -> Path:
    # Unlike `Path.resolve`, `realpath` does not raise for circular links; opening the file will.
    return Path(os.path.realpath(path))


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.lock")


def _lock(target: Path, path: Path, content: bytes) -> None:
    try:
        _fill(_aside(target), content, target)
    except FileExistsError:
        raise _in_use(path, _aside(target)) from None


def _in_use(path: Path, lock: Path) -> ChangedMeanwhileError:
    return ChangedMeanwhileError(
        f"{path} is being edited by someone else; nothing was written. Try again. If nobody is editing it, an edit was "
        f"interrupted: remove {lock}"
    )


def _fill(aside: Path, content: bytes, target: Path) -> None:
    """Write a new file with the mode of the target. Raises `FileExistsError` if the file exists."""
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


def _put_back(target: Path, content: bytes | None) -> None:
    with suppress(OSError):
        if content is None:
            target.unlink(missing_ok=True)
        else:
            write_file(target, content)
