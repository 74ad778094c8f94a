"""Several worker processes as one server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from intentmatch.server.process.workers import SECONDS_OF_SILENCE, Patience

PATIENCE = 60.0
GOOD = "intents:\n  greet:\n    utterances: [hello, hi there]\n"
ADMIN = {"x-api-key": "the-admin-key"}

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are told apart on POSIX only"),
]


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.05)


class Server:
    """A running `intentmatch serve`, with its log."""

    def __init__(self, home: Path, workers: int = 1) -> None:
        self.workers = workers
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.log_file = home / "log.txt"
        command = [sys.executable, "-m", "intentmatch", "serve", str(home / "intents"), "--port", str(self.port)]
        command += ["--workers", str(workers)]
        environment = {
            **os.environ,
            "INTENTMATCH_CACHE": str(home / "cache"),
            "INTENTMATCH_ADMIN_KEYS": ADMIN["x-api-key"],
        }
        environment.pop("PROMETHEUS_MULTIPROC_DIR", None)
        with self.log_file.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)

    def __enter__(self) -> Server:
        until(lambda: self.log.count("Application startup complete") == self.workers or self.process.poll() is not None)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def ask(self, path: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
        """Call over a new connection, so that any worker may answer."""
        data = None if body is None else json.dumps(body).encode()
        call = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"content-type": "application/json", **(headers or {})}
        )
        try:
            with urllib.request.urlopen(call, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot that a test may edit."""
    (tmp_path / "intents").mkdir()
    (tmp_path / "intents" / "bot.yaml").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_workers_reload_and_count_together(folder: Path) -> None:
    """One call or one SIGHUP reaches all workers; SIGTERM stops all."""
    file = folder / "intents" / "bot.yaml"
    with Server(folder, workers=2) as server:
        for _ in range(20):
            assert server.ask("/match", {"text": "hello"})[0] == 200
        assert verdicts(server) == {"greet": 20.0}

        file.write_text(GOOD + "  thanks:\n    utterances: [thank you]\n", encoding="utf-8")
        assert server.ask("/reload", {}, ADMIN)[0] == 200
        until(lambda: server.log.count("reloaded: 2 intents") == 2)
        assert {json.loads(server.ask("/match", {"text": "thank you"})[1])["intent"] for _ in range(10)} == {"thanks"}

        file.write_text("intents: 3", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.log.count("reload failed") == 2)
        assert {json.loads(server.ask("/readyz")[1])["status"] for _ in range(10)} == {"stale"}

        file.write_text(GOOD, encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.log.count("reloaded: 1 intents") == 2)
    assert server.log.count("Application shutdown complete") == 2
    assert "Traceback" not in server.log


def verdicts(server: Server) -> dict[str, float]:
    families = text_string_to_metric_families(server.ask("/metrics")[1])
    samples = [sample for family in families for sample in family.samples]
    return {s.labels["intent"]: s.value for s in samples if s.name == "intentmatch_verdicts_total"}


def test_dead_worker_is_replaced(folder: Path) -> None:
    with Server(folder, workers=2) as server:
        pids = [
            int(line.rpartition("[")[2].partition("]")[0])
            for line in server.log.splitlines()
            if "server process" in line
        ]
        os.kill(pids[0], signal.SIGKILL)
        until(lambda: server.log.count("Application startup complete") == 3)
        assert {server.ask("/match", {"text": "hello"})[0] for _ in range(10)} == {200}


def test_invalid_files_at_the_start_are_reported_once(folder: Path) -> None:
    (folder / "intents" / "bot.yaml").write_text("intents:\n  greet: {}\n", encoding="utf-8")
    with Server(folder, workers=2) as server:
        assert server.process.wait(PATIENCE) == 2
    assert server.log.count("error [no-utterances]") == 1


def test_sighup_reloads_a_single_process_too(folder: Path) -> None:
    with Server(folder) as server:
        (folder / "intents" / "more.yaml").write_text("intents: {thanks: {utterances: [ta]}}", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "reloaded: 2 intents" in server.log)
        assert json.loads(server.ask("/match", {"text": "ta"})[1])["intent"] == "thanks"


def test_silent_worker_is_given_time_and_an_ended_one_is_not() -> None:
    now, answers, runs = 100.0, False, True
    worker = SimpleNamespace(process=SimpleNamespace(is_alive=lambda: runs), ping=lambda timeout: answers)
    is_alive = Patience(worker, clock=lambda: now)  # type: ignore[arg-type]
    assert is_alive(timeout=5)
    now += SECONDS_OF_SILENCE - 1
    assert is_alive(timeout=5)
    answers = True
    assert is_alive(timeout=5)
    answers = False
    now += SECONDS_OF_SILENCE - 1
    assert is_alive(timeout=5)
    now += 1
    assert not is_alive(timeout=5)
    answers, runs = True, False
    assert not is_alive(timeout=5)
