"""Digests of a registry's files, to detect changes of content rather than of dates.

Editors, `git` and deployments may write files while they are read. `steadily` reads again until the files did not
change during a read, so that the result never mixes two states.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.settings import resolve
from intentmatch.registry.reading.reader import included, is_yaml, own_files
from intentmatch.storage.regular_files import read_regular

Content = Mapping[str, str]
"""Digest of each file by path; `EMPTY` for an empty or unreadable file."""

EMPTY = ""

_Read = TypeVar("_Read")

_ATTEMPTS = 5


def content(path: str | os.PathLike[str]) -> Content:
    """Return the current digests of the files at a path: YAML files with their includes, or an artefact."""
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
        raw = _file_bytes(file)
        found[str(file)] = hashlib.sha256(raw).hexdigest() if raw else EMPTY
        # Parsing takes ten times as long as searching for the word.
        for name in _included(file, raw) if b"include" in raw else ():
            waiting += own_files(file.parent / name)
    return found


def steadily(path: str | os.PathLike[str], read: Callable[[], _Read]) -> tuple[_Read, Content]:
    """Return the result of `read` with the digests of the files; repeat `read` if the files changed during it.

    Raises the errors of `read`, and `InputError` if the files change during every attempt.
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
    raise InputError(f"the files of {path} kept changing while they were read; try again when nothing writes to them")


def _file_bytes(file: Path) -> bytes:
    try:
        return read_regular(file, resolve().max_file_bytes)
    except (OSError, ValueError):
        return b""


@lru_cache(maxsize=256)
def _included(file: Path, raw: bytes) -> list[str]:
    return included(file, raw)


def _identity(file: Path) -> str:
    """Identify an artefact by its file status: it may be large, and is always replaced as a whole."""
    try:
        state = file.stat()
    except OSError:
        return EMPTY
    return f"{state.st_dev}-{state.st_ino}-{state.st_size}-{state.st_mtime_ns}" if state.st_size else EMPTY
