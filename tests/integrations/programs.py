"""Programs that a test talks to: the webhook, and bots that run as processes of their own."""

from __future__ import annotations

import queue
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 60.0


class Program:
    """A running program and its output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def say(self, line: str) -> None:
        """Type a line."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def says(self, pattern: str) -> str:
        """Wait for the next line that matches a pattern and return it; fail with the lines before if none comes."""
        seen = []
        try:
            while not re.search(pattern, line := self._lines.get(timeout=_SECONDS)):
                seen.append(line)
        except queue.Empty:
            raise AssertionError(f"{pattern!r} is not among {seen}") from None
        return line

    def end(self) -> None:
        """Stop the program and read the rest of its output."""
        self._process.terminate()
        self._reader.join()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)


@contextmanager
def running(*command: str | Path, **options: object) -> Iterator[Program]:
    """Run a program inside a `with` block; `options` are those of `Popen`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **pipes, **options) as process:
        program = Program(process)
        try:
            yield program
        finally:
            program.end()


@contextmanager
def serving(intents: Path, *words: str) -> Iterator[str]:
    """Run `intentmatch serve` inside a `with` block; gives its URL."""
    port = free_port()
    command = (sys.executable, "-m", "intentmatch", "serve", intents, "--port", str(port), *words)
    with running(*command) as program:
        program.says("Uvicorn running")
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    """A port that no program listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
