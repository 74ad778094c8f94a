"""Files put in place whole or not at all: written aside first, then swapped in."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from intentmatch.core.errors import ChangedMeanwhileError


def write_file(path: Path, content: bytes) -> None:
    """Put `content` at `path`; of several writers at once the last one wins. Raises `OSError`.

    A link is followed, and what was there passes on its mode.
    """
    target = _target(path)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _fill(aside, content, target)
        aside.replace(target)
    finally:
        # Where all went well there is none any more.
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def swap_files(new: Mapping[Path, bytes], check: Callable[[], None]) -> None:
    """Put each content at its path, all of them or none, if `check` raises nothing at the last moment.

    What is written aside bears the name of a lock, so that of two who do this to one file one is refused: with
    `ChangedMeanwhileError`. Raises `OSError` where a file cannot be written; those before it are put back.
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
            # From here on, what bears this name is somebody else's.
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
    """An empty folder to be filled, which takes the place of `target` at the end; if anything raises, it does not."""
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
    """Raise `ChangedMeanwhileError` where somebody is about to swap this file."""
    lock = _aside(_target(path))
    if lock.exists():
        raise _in_use(path, lock)


def _target(path: Path) -> Path:
    # Unlike `Path.resolve`, this raises nothing where links go round in a circle: opening the file will.
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
        f"{path} is being edited by someone else; nothing was written. Try again. Should nobody be at it, an edit was "
        f"cut off: remove {lock}"
    )


def _fill(aside: Path, content: bytes, target: Path) -> None:
    """Write a file that is not there yet, with the mode of the target."""
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
