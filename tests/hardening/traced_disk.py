"""The writes of another process, read from the output of `strace`, and what a power failure may leave of them.

The model is the one of POSIX: a write is on the disk once its file is synced. Before that the disk has any of the
512-byte sectors that were written. A name is on the disk once its folder is synced; before that the disk has any number
of the first changes of names.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

SECTOR = 512
_CALLS = "openat,pwrite64,write,ftruncate,fsync,fdatasync,unlink"
_LINE = re.compile(r"(?:\d+ +)?(?P<call>\w+)\((?P<rest>.*)\) += (?P<result>-?\d+)(?:<(?P<path>[^>]*)>)?")
_DESCRIPTOR = re.compile(r"\d+<(?P<path>[^>]*)>(?:, )?(?P<rest>.*)")
_STRING = re.compile(r'"(?P<text>(?:\\x[0-9a-f]{2})*)"(?:, )?(?P<rest>.*)')


class _File:
    """Content on the disk, and the writes since the last sync: an offset with bytes, or a length with None."""

    def __init__(self) -> None:
        self.durable = b""
        self.pending: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        self.durable = _written(self.durable, self.pending)
        self.pending = []

    def after_a_failure(self, chosen: random.Random) -> bytes:
        """Return the content with none, all or some of the sectors that were written since the last sync."""
        share = chosen.choice((0.0, 0.5, 1.0))
        sectors: list[tuple[int, bytes | None]] = []
        for offset, data in self.pending:
            if data is None:
                sectors.append((offset, None))
            else:
                sectors += [(offset + start, data[start : start + SECTOR]) for start in range(0, len(data), SECTOR)]
        return _written(self.durable, [sector for sector in sectors if chosen.random() < share])


class _Disk:
    """The files of a folder as calls change them."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._names: dict[str, _File] = {}
        self._changes: list[tuple[str, _File | None]] = []
        """Changes of names since the folder was synced."""
        self._live: dict[str, _File] = {}
        self.acknowledged = 0

    def apply(self, call: str, arguments: str, opened: str | None) -> None:
        """Do what a successful call did; `opened` is the path of a descriptor that it returned."""
        if call == "openat":
            if "O_CREAT" in arguments:
                self._create(_text(opened or ""))
        elif call == "unlink":
            self._unlink(_string(arguments)[0].decode())
        else:
            found = _DESCRIPTOR.match(arguments)
            assert found is not None, arguments
            path = _text(found["path"])
            if call == "write":
                self.acknowledged += arguments.startswith("1<")
            elif path == self._folder:
                _rename(self._names, self._changes)
                self._changes = []
            elif path in self._live:
                self._change(self._live[path], call, found["rest"])

    def after_a_failure(self, chosen: random.Random) -> dict[str, bytes]:
        """Return the files that the disk may have if the power fails now, by their names."""
        there = dict(self._names)
        _rename(there, self._changes[: chosen.randint(0, len(self._changes))])
        return {Path(path).name: file.after_a_failure(chosen) for path, file in there.items()}

    def _create(self, path: str) -> None:
        if path.startswith(f"{self._folder}/") and path not in self._live:
            self._live[path] = _File()
            self._changes.append((path, self._live[path]))

    def _unlink(self, path: str) -> None:
        if self._live.pop(path, None) is not None:
            self._changes.append((path, None))

    @staticmethod
    def _change(file: _File, call: str, rest: str) -> None:
        if call in {"fsync", "fdatasync"}:
            file.sync()
        elif call == "ftruncate":
            file.pending.append((int(rest), None))
        else:
            content, after = _string(rest)
            file.pending.append((int(after.split(", ")[1]), content))


class TracedDisk:
    """Runs a command and replays what it wrote in a folder. Raises `OSError` if the command fails."""

    def __init__(self, command: Sequence[str], folder: Path, log: Path) -> None:
        options = ["-f", "-y", "-xx", "-s", "1000000", "-e", f"trace={_CALLS}", "-e", "signal=none", "-o", str(log)]
        done = subprocess.run(["strace", *options, *command], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise OSError(f"the traced program failed: {done.stderr[-1000:]}")
        self._folder = str(folder)
        # strace escapes what the program says, and not the path of the program itself.
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        self._calls = [match for line in lines if (match := _LINE.match(line))]

    def failures(self, chosen: random.Random, each: int) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Yield, `each` times after each call, how many acknowledgements came before, and the files of the folder.

        The program acknowledges with a write to its standard output.
        """
        disk = _Disk(self._folder)
        for match in self._calls:
            if int(match["result"]) >= 0:
                disk.apply(match["call"], match["rest"], match["path"])
                for _ in range(each):
                    yield disk.acknowledged, disk.after_a_failure(chosen)


def _rename(names: dict[str, _File], changes: Sequence[tuple[str, _File | None]]) -> None:
    for path, file in changes:
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file


def _string(arguments: str) -> tuple[bytes, str]:
    """Return the string that arguments begin with, and what follows it."""
    found = _STRING.match(arguments)
    assert found is not None, arguments
    return bytes.fromhex(found["text"].replace("\\x", "")), found["rest"]


def _written(content: bytes, writes: Sequence[tuple[int, bytes | None]]) -> bytes:
    made = bytearray(content)
    for offset, data in writes:
        if data is None:
            made = made[:offset].ljust(offset, b"\0")
        else:
            made = made.ljust(offset, b"\0")
            made[offset : offset + len(data)] = data
    return bytes(made)


def _text(escaped: str) -> str:
    return bytes.fromhex(escaped.replace("\\x", "")).decode() if escaped.startswith("\\x") else escaped
