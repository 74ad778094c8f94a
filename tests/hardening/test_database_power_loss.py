"""Power that fails while an inbox is written: no acknowledged message is lost, and no batch is there in part."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from traced_disk import TracedDisk

from intentmatch.core.errors import InputError
from intentmatch.inbox.file_store import FileStore
from intentmatch.inbox.store import Entry

SEED = 21
BATCHES = 14
MOST = 25
"""Messages that are kept, so that later batches delete the messages of earlier ones."""
PROGRAM = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_database_power_loss import BATCHES, step
for number in range(BATCHES):
    step(Path(sys.argv[1]), number)
    os.write(1, b"done")
"""


def store_at(path: Path) -> FileStore:
    return FileStore(path, "plain", MOST, 30, 0)


def step(path: Path, number: int) -> None:
    """Write a batch of messages, corrections among them; each fifth time mark a message as handled instead."""
    store = store_at(path)
    if number % 5 == 4:
        store.handle([store.open_messages(1e9)[0].id], "ignored")
        return
    entries = [
        Entry(f"message {number} of {one} " + "and so on " * 60, 1e9 + number, corrected=one == 2, intent="order")
        for one in range(4)
    ]
    store.write(entries, 1e9 + number)


def texts(path: Path) -> list[tuple[str | None, int]]:
    return [(message.text, len(message.corrections)) for message in store_at(path).open_messages(1e9 + BATCHES)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[str | None, int]]]:
    """The messages after each number of batches."""
    path, found = tmp_path_factory.mktemp("expected") / "inbox.sqlite", []
    for number in range(BATCHES):
        step(path, number)
        found.append(texts(path))
    return [[], *found]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> TracedDisk:
    if (
        shutil.which("strace") is None
        or subprocess.run(["strace", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs `strace`, and the right to trace a process")
    folder, log = tmp_path_factory.mktemp("traced"), tmp_path_factory.mktemp("log") / "calls"
    command = [sys.executable, "-c", PROGRAM, str(folder / "inbox.sqlite"), str(Path(__file__).parent)]
    return TracedDisk(command, folder, log)


@pytest.mark.rounds(1, 50)
def test_power_loss_keeps_what_was_acknowledged(
    disk: TracedDisk, expected: list[list[tuple[str | None, int]]], tmp_path: Path, rounds: int
) -> None:
    count, last, rolled_back = 0, 0, 0
    for acknowledged, files in disk.failures(random.Random(SEED), rounds):
        folder = tmp_path / str(count)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        path = folder / "inbox.sqlite"
        rolled_back += len(files) == 2
        try:
            found = texts(path)
        except InputError:  # no inbox yet
            assert acknowledged == 0
            found = []
        assert found in expected[acknowledged : acknowledged + 2], f"{acknowledged} batches were acknowledged"
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()
        count, last = count + 1, acknowledged
        shutil.rmtree(folder)
    assert last == BATCHES
    assert rolled_back > BATCHES
