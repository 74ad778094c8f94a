"""What the files of a registry hold, as a value: a change of it can be told from a change of their dates.

Files are read one after the other while editors, `git` and deployments write them. `steadily` makes sure that what was
read is one state of theirs and not half of each of two.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.registry.reading.reader import included, is_yaml, own_files

Content = Mapping[str, str]
"""Path of each file to a digest of what it holds: `EMPTY` for nothing, or for what cannot be read."""

EMPTY = ""

_Read = TypeVar("_Read")

_ATTEMPTS = 5


def content(path: str | os.PathLike[str]) -> Content:
    """What the files at a path hold now: the YAML that is read from there, or an artefact."""
    if not is_yaml(path):
        return {str(path): _identity(Path(path))}
    found: dict[str, str] = {}
    seen: set[str] = set()
    waiting = own_files(path)
    while waiting:
        file = waiting.pop()
        if (known := os.path.realpath(file)) in seen:
            continue
        seen.add(known)
        held = _held(file)
        found[str(file)] = hashlib.sha256(held).hexdigest() if held else EMPTY
        # Looking for the word spares reading the YAML, which takes ten times as long.
        for name in _included(file, held) if b"include" in held else ():
            waiting += own_files(file.parent / name)
    return found


def steadily(path: str | os.PathLike[str], read: Callable[[], _Read]) -> tuple[_Read, Content]:
    """What `read` makes of the files at a path, and what they held; read again where they changed meanwhile.

    Raises what `read` does, and `InputError` for files that never hold still.
    """
    for _ in range(_ATTEMPTS):
        before = content(path)
        try:
            found = read()
        except IntentMatchError:
            if content(path) == before:
                raise
            continue
        if content(path) == before:
            return found, before
    raise InputError(f"the files of {path} change while they are read; try again when nothing is writing them")


def _held(file: Path) -> bytes:
    try:
        # What stands in a pipe can be read once only, and not by us.
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""


@lru_cache(maxsize=256)
def _included(file: Path, held: bytes) -> list[str]:
    return included(file, held)


def _identity(file: Path) -> str:
    """Of an artefact, which may be large and is always replaced whole."""
    try:
        state = file.stat()
    except OSError:
        return EMPTY
    return f"{state.st_dev}-{state.st_ino}-{state.st_size}-{state.st_mtime_ns}" if state.st_size else EMPTY
