"""Programs that a test talks to: the webhook, and bots that are not written in Python."""

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

PATIENCE = 60.0


class Program:
    """One that runs, and what it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def say(self, line: str) -> None:
        """Type a line."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def says(self, pattern: str) -> str:
        """The next line that it prints with this in it. What comes before is shown where it does not come."""
        seen = []
        try:
            while not re.search(pattern, line := self._lines.get(timeout=PATIENCE)):
                seen.append(line)
        except queue.Empty:
            raise AssertionError(f"{pattern!r} is not among {seen}") from None
        return line

    def end(self) -> None:
        """Stop it, and hear what it still has to say."""
        self._process.terminate()
        self._listener.join()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)


@contextmanager
def running(*command: str | Path, **options: object) -> Iterator[Program]:
    """A program, for as long as it is needed; `options` are those of `Popen`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **pipes, **options) as process:
        program = Program(process)
        try:
            yield program
        finally:
            program.end()


@contextmanager
def serving(intents: Path, *words: str) -> Iterator[str]:
    """The URL of `intentmatch serve`."""
    port = free_port()
    command = (sys.executable, "-m", "intentmatch", "serve", intents, "--port", str(port), *words)
    with running(*command) as program:
        program.says("Uvicorn running")
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
