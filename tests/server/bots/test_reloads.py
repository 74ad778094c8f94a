"""Reloads that another process or a signal requests."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing import get_context
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch.server import create_app
from intentmatch.server.bots.reloads import ReloadCounter

PATIENCE = 60.0


def ask_often(reloads: ReloadCounter) -> None:
    for _ in range(200):
        reloads.request()


def test_concurrent_requests_of_processes_all_count() -> None:
    reloads = ReloadCounter(shared=True)
    processes = [get_context("spawn").Process(target=ask_often, args=(reloads,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE)
    assert reloads.requested == 400


def test_every_app_reloads_once_per_request(folder: Path, admin: dict[str, str]) -> None:
    """Two apps that share the counter agree, about invalid files too."""
    reloads = ReloadCounter()
    with TestClient(create_app(folder, reloads=reloads)) as one, TestClient(create_app(folder, reloads=reloads)) as two:
        (folder / "thanks.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
        assert one.post("/reload", headers=admin).json()["intents"] == 3
        wait_until_ready_says(two, "intents", 3)

        (folder / "thanks.yaml").write_text("intents: 3", encoding="utf-8")
        assert two.post("/reload", headers=admin).status_code == 409
        wait_until_ready_says(one, "status", "stale")
        assert reloads.requested == 2


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal here")
def test_sighup_requests_a_reload() -> None:
    reloads = ReloadCounter()
    before = signal.getsignal(signal.SIGHUP)
    try:
        reloads.request_on_hangup()
        os.kill(os.getpid(), signal.SIGHUP)
        assert reloads.requested == 1
    finally:
        signal.signal(signal.SIGHUP, before)


def wait_until_ready_says(client: TestClient, key: str, value: object) -> None:
    deadline = time.monotonic() + PATIENCE
    while client.get("/readyz").json()[key] != value:
        assert time.monotonic() < deadline
        time.sleep(0.02)
