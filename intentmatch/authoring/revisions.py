"""Revisions of a registry's files, and the interface of what keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from intentmatch.registry.editing.plan import unified
from intentmatch.storage.contents import Files, digest_of

__all__ = ["FileDiff", "Files", "History", "Revision", "diffs", "digest_of", "restoring_note"]

_SHOWN_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of the files that can be restored."""

    id: str
    author: str | None
    """Who wrote it; None if the files were changed by another program."""
    time: datetime
    note: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """Difference of one file between two revisions."""

    name: str
    diff: str


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


def restoring_note(identity: str) -> str:
    """Return the note of a revision that restores another one, if its author writes none."""
    return f"Restore revision {identity[:_SHOWN_DIGITS]}"


def diffs(before: Files, after: Files) -> list[FileDiff]:
    """Return the difference of each file that two revisions do not have alike."""
    found = []
    for name in sorted({*before, *after}):
        old, new = (
            None if one is None else one.decode("utf-8", "replace") for one in (before.get(name), after.get(name))
        )
        if old != new:
            found.append(FileDiff(name, unified(old, new, name)))
    return found
