"""The lock of a folder: exclusive between threads and processes, and released by the owner's death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from intentmatch.storage.file_lock import NAME, FolderLock, owner

HOLD = """
import sys, time
from pathlib import Path
from intentmatch.storage.file_lock import FolderLock
lock = FolderLock.acquire(Path(sys.argv[1]))
lock.write(journal="somewhere")
print("held", flush=True)
time.sleep(60)
"""


def test_second_lock_is_refused_until_the_first_is_released(tmp_path: Path) -> None:
    first = FolderLock.acquire(tmp_path)
    assert first is not None
    assert FolderLock.acquire(tmp_path) is None

    first.release()

    second = FolderLock.acquire(tmp_path)
    assert second is not None
    second.release()
    assert not list(tmp_path.iterdir())


def test_note_tells_the_next_owner_what_the_last_one_left(tmp_path: Path) -> None:
    first = FolderLock.acquire(tmp_path)
    assert first is not None
    assert first.note == {}
    first.write(journal="here")
    first.release(keep=True)

    second = FolderLock.acquire(tmp_path)
    assert second is not None
    assert second.note["journal"] == "here"
    assert owner(tmp_path) == f"process {os.getpid()} on {second.note['host']}"
    second.release()
    assert owner(tmp_path) is None


def test_dead_owner_holds_no_lock(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert FolderLock.acquire(tmp_path) is None
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.wait()

    lock = FolderLock.acquire(tmp_path)
    assert lock is not None
    assert lock.note["pid"] == process.pid
    lock.release()


def test_damaged_note_counts_as_none(tmp_path: Path) -> None:
    for damaged in (b"\xff", b"[1]", b"{"):
        (tmp_path / NAME).write_bytes(damaged)
        lock = FolderLock.acquire(tmp_path)
        assert lock is not None
        assert lock.note == {}
        lock.release(keep=True)
        assert owner(tmp_path) is None
