"""A disk that loses power, or that fails: records what a program writes, and gives what a crash may leave of it.

The model is the one of POSIX, with the most hostile answer where it leaves a choice. The content of a file is on the
disk once the file is synced; before that it is empty. Names of a folder are on the disk once the folder is synced;
before that the disk has any number of the first changes since, in each folder independently of the others.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class _File:
    """A file, or a folder (`durable` is then None)."""

    def __init__(self, durable: bytes | None) -> None:
        self.durable = durable


class _Names(NamedTuple):
    """Changes of names in one folder that happen at once; None removes a name."""

    folder: Path
    changes: dict[str, _File | None]


class _Data(NamedTuple):
    """A synced file."""

    file: _File
    content: bytes


class _Synced(NamedTuple):
    """A synced folder."""

    folder: Path


class FaultyDisk:
    """Records the changes below `root` from now on. With `fails_at`, the change of that number raises "disk full"."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int | None = None) -> None:
        self.root = root
        self.calls = 0
        self._fails_at = fails_at
        self._now: dict[Path, _File] = {}
        for path in sorted(root.rglob("*")):
            self._now[path] = _File(path.read_bytes() if path.is_file() else None)
        self._start = {path: (file, file.durable) for path, file in self._now.items()}
        self._events: list[_Names | _Data | _Synced] = []
        for owner, name, kept in (
            (Path, "replace", self._replace),
            (Path, "unlink", self._unlink),
            (Path, "mkdir", self._mkdir),
            (Path, "open", self._open_path),
            (os, "open", self._open),
            (os, "fsync", self._fsync),
            (os, "write", self._write),
        ):
            monkeypatch.setattr(owner, name, self._wrapped(kept, getattr(owner, name)))

    def crashes(self) -> Iterator[tuple[bool, dict[Path, bytes | None]]]:
        """Yield what a crash may leave: whether it was after the last change, and the files, None for a folder."""
        seen = set()
        for length in range(len(self._events) + 1):
            for state in self._states(self._events[:length]):
                key = (length == len(self._events), tuple(sorted((str(k), v) for k, v in state.items())))
                if key not in seen:
                    seen.add(key)
                    yield length == len(self._events), state

    def restore(self, state: dict[Path, bytes | None]) -> None:
        """Make the files below `root` those of a state."""
        for path in self.root.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for path, content in sorted(state.items()):
            if content is None:
                path.mkdir()
            else:
                path.write_bytes(content)

    def _states(self, events: list[_Names | _Data | _Synced]) -> Iterator[dict[Path, bytes | None]]:
        contents = dict(self._start.values())
        pending: dict[Path, list[_Names]] = {}
        synced: list[_Names] = []
        for event in events:
            if isinstance(event, _Data):
                contents[event.file] = event.content
            elif isinstance(event, _Names):
                pending.setdefault(event.folder, []).append(event)
            else:
                synced += pending.pop(event.folder, [])
        for kept in self._choices(pending):
            entries = {path: file for path, (file, _) in self._start.items()}
            for names in (*synced, *kept):
                for name, file in names.changes.items():
                    if file is None:
                        entries.pop(names.folder / name, None)
                    else:
                        entries[names.folder / name] = file
            there = {self.root}
            state: dict[Path, bytes | None] = {}
            for path in sorted(entries):
                if path.parent in there:
                    file = entries[path]
                    is_folder = file in contents and contents[file] is None
                    state[path] = None if is_folder else contents.get(file) or b""
                    there |= {path} if is_folder else set()
            yield state

    @staticmethod
    def _choices(pending: dict[Path, list[_Names]]) -> Iterator[list[_Names]]:
        """Yield which unsynced changes the disk has: each number in one folder, with all or none of the others."""
        folders = list(pending)
        yield []
        for folder in folders:
            for count in range(len(pending[folder]) + 1):
                for others in (False, True):
                    rest = [one for other in folders if other != folder and others for one in pending[other]]
                    yield [*rest, *pending[folder][:count]]

    def _wrapped(self, kept: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            return kept(original, *arguments, **options)

        return call

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self._fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    def _inside(self, path: Path) -> bool:
        return self.root in path.parents

    def _name(self, path: Path, file: _File | None) -> None:
        if file is None:
            self._now.pop(path, None)
        else:
            self._now[path] = file
        self._events.append(_Names(path.parent, {path.name: file}))

    def _replace(self, original: Callable[..., Any], source: Path, target: Any) -> Any:
        target = Path(target)
        if not self._inside(source):
            return original(source, target)
        self._count()
        done = original(source, target)
        file = self._now.pop(source)
        self._now[target] = file
        assert source.parent == target.parent, "a rename between folders is two changes"
        self._events.append(_Names(target.parent, {source.name: None, target.name: file}))
        return done

    def _unlink(self, original: Callable[..., Any], path: Path, missing_ok: bool = False) -> None:
        there = self._inside(path) and (path.is_symlink() or path.exists())
        original(path, missing_ok=missing_ok)  # frees space, and never needs any
        if there:
            self._name(path, None)

    def _mkdir(self, original: Callable[..., Any], path: Path, *arguments: Any, **options: Any) -> None:
        if not self._inside(path) or path.exists():
            original(path, *arguments, **options)
            return
        self._count()
        missing = [one for one in (path, *path.parents) if self._inside(one) and not one.exists()]
        original(path, *arguments, **options)
        for one in reversed(missing):
            if one not in self._now:
                file = _File(None)
                self._start.setdefault(Path(f"/{id(file)}"), (file, None))
                self._name(one, file)

    def _open_path(self, original: Callable[..., Any], path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if not self._inside(path) or not set(mode) & set("wxa"):
            return original(path, mode, *rest, **options)
        self._count()
        new = not path.exists()
        opened = original(path, mode, *rest, **options)
        if new:
            self._name(path, _File(b""))
        return opened

    def _open(self, original: Callable[..., Any], path: Any, flags: int, *rest: Any, **options: Any) -> int:
        file = Path(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else Path()
        if not self._inside(file) or not flags & os.O_CREAT:
            return int(original(path, flags, *rest, **options))
        self._count()
        new = not file.exists()
        descriptor = int(original(path, flags, *rest, **options))
        if new:
            self._name(file, _File(b""))
        return descriptor

    def _write(self, original: Callable[..., Any], descriptor: int, data: bytes) -> Any:
        if self._inside(self._path(descriptor)):
            self._count()
        return original(descriptor, data)

    def _fsync(self, original: Callable[..., Any], descriptor: int) -> None:
        path = self._path(descriptor)
        if path == self.root or self._inside(path):
            self._count()
            if path.is_dir():
                self._events.append(_Synced(path))
            elif path in self._now:
                self._events.append(_Data(self._now[path], path.read_bytes()))
        original(descriptor)

    @staticmethod
    def _path(descriptor: int) -> Path:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 - `Path` is recorded
