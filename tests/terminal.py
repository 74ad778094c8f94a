"""A command as it looks in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys


def in_a_terminal(*words: str, typed: bytes = b"") -> tuple[int, bytes]:
    """The exit code of `intentmatch WORDS`, and all that it wrote to a terminal of 120 columns.

    `typed` is what stands ready to be read from the keyboard.
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
    except OSError:  # how Linux says that the other end was closed
        pass
    process.wait()
    os.close(leader)
    return process.returncode, shown
