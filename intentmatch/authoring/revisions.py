"""Revisions of a registry's files, and the interface of what keeps them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

Files = Mapping[str, bytes]
"""Content of each file by its path from the folder of the registry, with `/` between folders."""

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of the files that can be restored."""

    id: str
    author: str | None
    """Who wrote it; None if the files were changed by another program."""
    time: datetime
    note: str


class History(Protocol):
    """Keeps revisions."""

    @property
    def folder(self) -> Path:
        """Where private files of the history lie, such as the audit log. It may not exist yet."""

    @property
    def outside(self) -> bool:
        """Whether the history lies outside of the registry's folder, and stays when that is removed."""

    @property
    def begun(self) -> bool:
        """Whether an edit has been kept, or `begin` was called: then commands that edit keep revisions too."""

    def begin(self, files: Files) -> None:
        """Begin the history with the present files, if it has not begun. Raises `InputError` if it cannot be kept."""

    def revisions(self, most: int) -> list[Revision]:
        """Return the newest revisions, the newest first. Raises `InputError` if they cannot be read."""

    def files(self, revision: str) -> Files:
        """Return the files of a revision. Raises `UnknownNameError` if there is no such revision."""

    def before(self, revision: str) -> Files:
        """Return the files of the revision before this one; empty for the first that is kept."""

    def prepare(self, before: Files) -> None:
        """Keep the files as they are before an edit, if another program has changed them since the newest revision.

        Raises `InputError` if no revision can be kept now.
        """

    def record(self, before: Files, after: Files, author: str, note: str) -> Revision:
        """Keep the files that an edit has written. Raises `InputError` if the revision cannot be kept."""


def digest_of(files: Files) -> str:
    """Return the digest of the content of all files: 16 hexadecimal digits that change with every byte."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{len(name.encode())}:{name}:".encode())
        whole.update(hashlib.sha256(files[name]).digest())
    return whole.hexdigest()[:_DIGITS]
