"""Several workers, clients without a pause, an edit a second: each answer is one of a published revision, and right."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from intentmatch import read_registry
from intentmatch.storage.atomic import write_file

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

PATIENCE = 240.0
CLIENTS = 3
MESSAGES = {"where is my order": "order", "I want my money back": "refund", "goodbye for now": "leave"}
MOST_MEGABYTES, MOST_THREADS, MOST_FILES = 120, 24, 24
"""Growth of all workers together after the first third, whatever the time; the pools of threads fill up on demand."""


def revision(number: int) -> bytes:
    """Return a registry whose every answer names its revision."""
    lines = [
        f"  {intent}:\n    response: revision {number} {intent}\n    utterances: [{message}, {message} {number}]"
        for message, intent in MESSAGES.items()
    ]
    return "\n".join(["intents:", *lines, ""]).encode()


def descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int(
                    (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1]
                )
                parents.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def taken(pid: int) -> tuple[float, int, int]:
    """Return megabytes, threads and open files of a process and its descendants."""
    megabytes, threads, files = 0.0, 0, 0
    for one in descendants(pid):
        with suppress(OSError):
            megabytes += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
            threads += len(list(Path(f"/proc/{one}/task").iterdir()))
            files += len(list(Path(f"/proc/{one}/fd").iterdir()))
    return megabytes, threads, files


@contextmanager
def served(folder: Path, log: Path) -> Iterator[tuple[int, int]]:
    """Serve with two workers; yield the port and the process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "intentmatch", "serve", str(folder), "--port", str(port), "--watch"]
    with log.open("wb") as written:
        server = subprocess.Popen([*command, "--workers", "2"], stdout=written, stderr=written)
    try:
        yield port, server.pid
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(PATIENCE)


def call(port: int, method: str, path: str, body: Any = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)
    finally:
        connection.close()


class Client(threading.Thread):
    """Sends batches until told to stop; keeps what is wrong, and the fingerprints it saw."""

    def __init__(self, port: int, stop: threading.Event, written: list[int]) -> None:
        super().__init__()
        self.port, self.stop, self.written = port, stop, written
        self.batches, self.wrong, self.fingerprints = 0, [], set()

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                results = call(self.port, "POST", "/match/batch", {"texts": list(MESSAGES)})["results"]
                newest = self.written[-1]
                self.fingerprints.add(call(self.port, "GET", "/intents")["fingerprint"])
            except Exception as error:  # noqa: BLE001 - the test fails on any error
                self.wrong.append(repr(error))
                continue
            self.batches += 1
            answers = {(result["intent"], (result["response"] or "").partition(" ")[2]) for result in results}
            revisions = {int(said.split()[0]) for _, said in answers}
            expected = {(intent, f"{number} {intent}") for number in revisions for intent in MESSAGES.values()}
            if len(revisions) != 1 or answers != expected or not 0 <= min(revisions) <= newest:
                self.wrong.append(repr(results))


@pytest.mark.rounds(5, 900)
def test_each_answer_belongs_to_one_published_revision(tmp_path: Path, rounds: int) -> None:
    """For so many seconds; in the end both workers have the last revision."""
    file, log = tmp_path / "intents" / "bot.yaml", tmp_path / "log.txt"
    write_file(file, revision(0))
    published = {read_registry(file.parent).fingerprint}
    stop, written = threading.Event(), [0]
    with served(file.parent, log) as (port, pid):
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError, AssertionError, http.client.HTTPException):
                call(port, "GET", "/readyz")
                break
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.1)
        clients = [Client(port, stop, written) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        early = (0.0, 0, 0)
        try:
            for number in range(1, rounds + 1):
                written.append(number)
                write_file(file, revision(number))
                published.add(read_registry(file.parent).fingerprint)
                time.sleep(1.0)
                if number == max(1, rounds // 3):
                    early = taken(pid)
        finally:
            stop.set()
            for client in clients:
                client.join(PATIENCE)
        late = taken(pid)
        last = read_registry(file.parent).fingerprint
        seen: list[str] = []
        deadline = time.monotonic() + PATIENCE
        while seen[-20:] != [last] * 20:
            assert time.monotonic() < deadline, "a worker stays behind"
            seen.append(call(port, "GET", "/intents")["fingerprint"])

    assert [wrong for client in clients for wrong in client.wrong] == []
    assert all(client.batches for client in clients)
    assert set().union(*(client.fingerprints for client in clients)) <= published
    grown = [after - before for before, after in zip(early, late, strict=True)]
    assert grown[0] < MOST_MEGABYTES
    assert grown[1] <= MOST_THREADS
    assert grown[2] <= MOST_FILES
    assert "Traceback" not in log.read_text(encoding="utf-8")
