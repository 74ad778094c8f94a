"""Digests of a registry's files, to detect changes of content rather than of dates.

Editors, `git` and deployments may write files while they are read. `steadily` reads again until the files did not
change during a read, so that the result never mixes two states.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.settings import resolve
from intentmatch.registry.reading.reader import included, is_yaml, own_files
from intentmatch.storage.regular_files import read_regular

Content = Mapping[str, str]
"""Digest of each file by path; `EMPTY` for an empty or unreadable file."""

EMPTY = ""

_Read = TypeVar("_Read")

_ATTEMPTS = 5
# A file that is younger may change again without a new date.
_SECONDS_UNTIL_SETTLED = 2.0


class Looked(NamedTuple):
    """What a look at a file found."""

    identity: str
    digest: str
    included: list[str]


def content(path: str | os.PathLike[str], remembered: dict[Path, Looked] | None = None) -> Content:
    """Return the current digests of the files at a path: YAML files with their includes, or an artefact.

    With `remembered`, which is filled, files are read again only if their status has changed, such as size or date.
    """
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
        looked = _looked(file, {} if remembered is None else remembered)
        found[str(file)] = looked.digest
        for name in looked.included:
            waiting += own_files(file.parent / name)
    return found


def _looked(file: Path, remembered: dict[Path, Looked]) -> Looked:
    before, changed = _state(file)
    if (known := remembered.get(file)) is not None and known.identity == before:
        return known
    raw = _file_bytes(file)
    # Parsing takes ten times as long as searching for the word.
    included = _included(file, raw) if b"include" in raw else []
    looked = Looked(before, hashlib.sha256(raw).hexdigest() if raw else EMPTY, included)
    # What was known is of an older state, even if the new one is not kept.
    remembered.pop(file, None)
    if _state(file)[0] == before and time.time() - changed > _SECONDS_UNTIL_SETTLED:
        remembered[file] = looked
    return looked


def _state(file: Path) -> tuple[str, float]:
    """Identify the content of a file, and return when it last changed. Programs that set its date cannot hide that."""
    try:
        state = file.stat()
    except OSError:
        return EMPTY, math.inf
    return f"{_identity_of(state)}-{state.st_ctime_ns}", max(state.st_mtime, state.st_ctime)


def steadily(path: str | os.PathLike[str], read: Callable[[], _Read]) -> tuple[_Read, Content]:
    """Return the result of `read` with the digests of the files; repeat `read` if the files changed during it.

    Raises the errors of `read`, and `InputError` if the files change during every attempt.
    """
    for _ in range(_ATTEMPTS):
        before = content(path)
        try:
            found = read()
        # Half of a write may be invalid YAML: the error counts only if the files held still.
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


# `steadily` looks at each file before and after it is read.
@lru_cache(maxsize=256)
def _included(file: Path, raw: bytes) -> list[str]:
    return included(file, raw)


def _identity(file: Path) -> str:
    """Identify a file by its status. An artefact may be large, and is always replaced as a whole."""
    try:
        state = file.stat()
    except OSError:
        return EMPTY
    return _identity_of(state) if state.st_size else EMPTY


def _identity_of(state: os.stat_result) -> str:
    return f"{state.st_dev}-{state.st_ino}-{state.st_size}-{state.st_mtime_ns}"
