"""More idle connections than the server has file descriptors: it goes on answering, and its log stays short."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

PATIENCE = 60.0
FILES = 256
"""Limit of open files of the server."""
MOST_BYTES = 20_000
"""Of the log."""
MOST_LOAD = 0.5
"""Seconds of processor time per second while connections wait."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def until_healthy(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_healthy(port):
        assert time.monotonic() < deadline, "the server does not answer"
        time.sleep(0.1)


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("most", [100_000, 64], ids=["no descriptors left", "limit reached"])
@pytest.mark.rounds(600, 1300)
def test_idle_connections_do_not_stop_the_server(tmp_path: Path, rounds: int, most: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < rounds + FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(rounds + FILES, hard), hard))
    (tmp_path / "bot.yaml").write_text("intents:\n  greet:\n    utterances: [hello]\n", encoding="utf-8")
    port, log = free_port(), tmp_path / "log.txt"
    command = [sys.executable, "-m", "intentmatch", "serve", str(tmp_path / "bot.yaml"), "--port", str(port)]
    command += ["--body-seconds", "4", "--max-connections", str(most), "--max-connections-per-address", str(most)]
    limit = (FILES, FILES)
    with log.open("wb") as written, ExitStack() as stack:
        server = subprocess.Popen(
            command,
            stdout=written,
            stderr=written,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit),  # noqa: PLW1509
        )
        stack.callback(server.wait, PATIENCE)
        stack.callback(server.terminate)
        until_healthy(port)
        before, start = processor_seconds(server.pid), time.monotonic()
        for _ in range(rounds):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        time.sleep(3.0)
        load = (processor_seconds(server.pid) - before) / (time.monotonic() - start)
        until_healthy(port)
        assert server.poll() is None
    text = log.read_text(encoding="utf-8")
    assert len(text) < MOST_BYTES
    assert "Traceback" not in text
    assert " more refused" in text or "no free file descriptors" in text
    assert load < MOST_LOAD
