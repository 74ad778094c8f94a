"""Revisions in a hidden folder beside the files: one JSON file per revision, and each content once, by its digest."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from intentmatch.authoring.revisions import Files, Revision
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.storage.atomic import remove_strays, write_file
from intentmatch.storage.unwritable import unwritable

NAME = ".intentmatch-history"
MOST_REVISIONS = 200
"""Revisions that are kept; the oldest are removed."""

_log = logging.getLogger(__name__)

_FILE = re.compile(r"([1-9]\d{0,8})\.json")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONTENTS = "contents"


class FolderHistory:
    """The revisions in one folder. Only one process may write at a time."""

    def __init__(self, folder: Path, most: int = MOST_REVISIONS) -> None:
        self._folder = folder
        self._most = most

    @property
    def folder(self) -> Path:
        """Where private files of the history lie."""
        return self._folder

    @property
    def outside(self) -> bool:
        """The folder goes with the files."""
        return False

    @property
    def begun(self) -> bool:
        """Whether any revision is kept."""
        return bool(self._numbers())

    def begin(self, files: Files) -> None:
        """Keep the first revision, so that commands keep revisions from now on."""
        if not self.begun:
            self.prepare(files)

    def revisions(self, most: int) -> list[Revision]:
        """Return the newest revisions, the newest first. A damaged one is left out, with a warning in the log."""
        found: list[Revision] = []
        for number in self._numbers()[::-1]:
            if len(found) == most:
                break
            try:
                found.append(_revision(number, self._manifest(number)))
            # One damaged file must not hide all other revisions.
            except (OSError, ValueError, KeyError, TypeError) as error:
                _log.warning("the revision %s is damaged and left out: %s", self._path(number), error)
        return found

    def files(self, revision: str) -> Files:
        """Return the files of a revision. Raises `UnknownNameError` or, for a damaged one, `InputError`."""
        numbers = self._numbers()
        if revision not in map(str, numbers):
            raise UnknownNameError("revision", revision, [str(number) for number in numbers])
        try:
            digests = self._manifest(int(revision))["files"]
            return {str(name): self._content(str(digest)) for name, digest in digests.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"the revision {revision} is damaged: {error}") from error

    def before(self, revision: str) -> Files:
        """Return the files of the revision before this one; empty for the first that is kept."""
        older = [number for number in self._numbers() if number < int(revision)]
        return self.files(str(older[-1])) if older else {}

    def prepare(self, before: Files) -> None:
        """Keep the files as they are before an edit. Raises `InputError` if the folder cannot be written."""
        try:
            (self._folder / _CONTENTS).mkdir(parents=True, exist_ok=True)
            newest = self.revisions(1)
            # Otherwise the diff of the next edit would show what others have changed as its author's work.
            if not newest or self._digests(before) != self._manifest(int(newest[0].id)).get("files"):
                self._write(before, None, "Changed by another program" if newest else "Before the first edit")
            # Tried now: after the edit it would be too late to refuse it.
            write_file(self._folder / "writable", b"")
            (self._folder / "writable").unlink(missing_ok=True)
        except OSError as error:
            raise InputError(unwritable(self._folder, error)) from error

    def record(self, before: Files, after: Files, author: str, note: str) -> Revision:
        """Keep the files that were written."""
        try:
            revision = self._write(after, author, note)
            self._remove_oldest()
            for folder in (self._folder, self._folder / _CONTENTS):
                remove_strays(folder)
        except OSError as error:
            raise InputError(f"the revision cannot be kept in {self._folder}: {error.strerror or error}") from error
        return revision

    def _write(self, files: Files, author: str | None, note: str) -> Revision:
        digests = self._digests(files)
        for name, digest in digests.items():
            # The contents before the manifest: a revision that is listed has all its files.
            if not (target := self._folder / _CONTENTS / digest).exists():
                write_file(target, files[name])
        numbers = self._numbers()
        number = numbers[-1] + 1 if numbers else 1
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        manifest = {"author": author, "time": now, "note": note, "files": digests}
        write_file(self._path(number), json.dumps(manifest, ensure_ascii=False).encode())
        return _revision(number, manifest)

    def _remove_oldest(self) -> None:
        numbers = self._numbers()
        if len(numbers) <= self._most:
            return
        # The manifests before the contents, for the same reason as in `_write`.
        for number in numbers[: -self._most]:
            self._path(number).unlink(missing_ok=True)
        kept = {digest for number in numbers[-self._most :] for digest in self._manifest(number)["files"].values()}
        for content in (self._folder / _CONTENTS).iterdir():
            if _DIGEST.fullmatch(content.name) and content.name not in kept:
                content.unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        """The numbers of the revisions, the oldest first."""
        if not self._folder.is_dir():
            return []
        found = (_FILE.fullmatch(file.name) for file in self._folder.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"

    def _manifest(self, number: int) -> dict[str, Any]:
        manifest = json.loads(self._path(number).read_bytes())
        if not isinstance(manifest, dict):
            raise TypeError("it is no JSON object")
        return manifest

    def _digests(self, files: Files) -> dict[str, str]:
        return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}

    def _content(self, digest: str) -> bytes:
        # A manifest that somebody has written could name a path.
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no digest")
        content = (self._folder / _CONTENTS / digest).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"the content {digest[:8]} has changed")
        return content


def _revision(number: int, manifest: dict[str, Any]) -> Revision:
    author = manifest["author"]
    time = datetime.fromisoformat(manifest["time"])
    return Revision(str(number), None if author is None else str(author), time, str(manifest["note"]))
