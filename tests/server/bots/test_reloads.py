"""Reloads that another process or a signal requests."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.server import create_app
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.config import Batching
from intentmatch.server.process.metrics import Metrics

PATIENCE = 60.0


def ask_often(reloads: ReloadCounter) -> None:
    for _ in range(200):
        reloads.request()


def test_missing_shared_memory_says_what_to_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("multiprocessing.synchronize.SemLock.__init__", refuse)

    with pytest.raises(InputError, match=r"Read-only file system.*mount /dev/shm .* or leave out --workers"):
        ReloadCounter(shared=True)


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


def test_reloads_requested_during_a_reload_become_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is running, and the second reads the files after the last request."""
    matcher = Matcher.load(folder)
    started, go_on = threading.Event(), threading.Event()
    reloads: list[None] = []

    def slow() -> None:
        reloads.append(None)
        started.set()
        assert go_on.wait(60)

    monkeypatch.setattr(matcher, "reload", slow)
    bot = Bot(matcher, BatchQueue(Batching(), Metrics()))

    async def scenario() -> None:
        first = asyncio.create_task(bot.files.reload())
        await asyncio.to_thread(started.wait, 60)
        others = [asyncio.create_task(bot.files.reload()) for _ in range(50)]
        await asyncio.sleep(0.1)
        go_on.set()
        assert await asyncio.gather(first, *others) == [matcher] * 51

    asyncio.run(scenario())
    assert len(reloads) == 2
