"""Run a command in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys


def in_a_terminal(*words: str, typed: bytes = b"") -> tuple[int, bytes]:
    """Run `intentmatch WORDS` in a terminal of 120 columns; return the exit code and everything it wrote.

    `typed` is the keyboard input.
    """
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "intentmatch", *words],
        stdin=follower, stdout=follower, stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(follower)
    os.write(leader, typed)
    shown = b""
    try:
        while chunk := os.read(leader, 65536):
            shown += chunk
    except OSError:  # Linux: the other end was closed
        pass
    process.wait()
    os.close(leader)
    return process.returncode, shown
