"""Long work of an author: its progress as events, failures too, and cancelled with its connection."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from server.routes.authoring.test_authoring_edits import bot
from server.routes.authoring.test_authoring_evaluation import events

import intentmatch
from intentmatch import Matcher
from intentmatch.runtime import steps
from intentmatch.server.auth.access import Access
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.config import Batching
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.routes.authoring import events as module
from intentmatch.server.routes.authoring.events import Job, stream

__all__ = ["bot"]


@pytest.fixture
def held(bot: Path) -> Bot:
    return Bot(Matcher.load(bot), BatchQueue(Batching(), Metrics()))


def test_closed_connection_cancels_the_work(held: Bot) -> None:
    ended = threading.Event()

    def endless() -> dict[str, Any]:
        try:
            while True:
                steps.report("work")
        finally:
            ended.set()

    async def scenario() -> None:
        assert held.editing.evaluating.acquire(blocking=False)
        stream = Job(held, "evaluation", endless).events(lambda: True)
        assert (await anext(stream)).startswith("event: progress")
        assert held.editing.evaluating.locked()
        await stream.aclose()  # as the server does when the client has gone
        assert await asyncio.to_thread(ended.wait, 60)
        while held.editing.evaluating.locked():
            await asyncio.sleep(0.01)

    asyncio.run(scenario())


def asked() -> Request:
    """A request with the key of an author."""
    app = FastAPI()
    app.state.access = Access(author_keys=["anna=key"])
    return Request({"type": "http", "app": app, "path_params": {}, "headers": [(b"x-api-key", b"key")]})


async def read(held: Bot, work: Callable[[], dict[str, Any]]) -> str:
    return "".join([str(chunk) async for chunk in stream(asked(), held, "replay", work).body_iterator])


def test_result_is_the_last_event_and_frees_the_bot(held: Bot) -> None:
    def work() -> dict[str, Any]:
        steps.report("reading", 1, 2)
        return {"words": "größer"}

    for _ in range(2):
        progress, result = events(asyncio.run(read(held, work)))
        assert (progress[0], progress[1]["step"], progress[1]["done"]) == ("progress", "reading", 1)
        assert result == ("result", {"words": "größer"})


def test_whoever_has_read_the_last_event_may_begin_another(held: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock was released after it, so that a second call at once was told to wait, now and then."""
    seen: list[bool] = []
    real = Job._put

    def put(self: Job, name: str, values: dict[str, Any]) -> None:
        seen.append(held.editing.evaluating.locked())
        real(self, name, values)

    monkeypatch.setattr(Job, "_put", put)
    asyncio.run(read(held, dict))

    assert seen == [False]


def test_bug_is_logged_and_not_shown(held: Bot, caplog: pytest.LogCaptureFixture) -> None:
    def work() -> dict[str, Any]:
        raise ValueError("secret")

    ((name, problem),) = events(asyncio.run(read(held, work)))

    assert (name, problem["status"]) == ("error", 500)
    assert "The replay failed unexpectedly" in problem["detail"]
    assert "secret" not in str(problem)
    assert "the replay failed" in caplog.text


def test_second_work_of_a_bot_is_told_to_wait(held: Bot) -> None:
    assert held.editing.evaluating.acquire(blocking=False)

    with pytest.raises(ProblemError) as caught:
        stream(asked(), held, "replay", dict)

    assert (caught.value.details.status, caught.value.headers) == (503, {"Retry-After": "30"})


@pytest.mark.parametrize("quiet", [True, False])
def test_stream_of_a_revoked_key_ends_and_cancels_the_work(
    held: Bot, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    """Whether the work reports something or not: the key is asked for before each event, and at each pause."""
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_EVENTS", 0.01)
    request, go, ended = asked(), threading.Event(), threading.Event()

    def work() -> dict[str, Any]:
        try:
            steps.report("first")
            assert go.wait(60)
            while True:
                steps.report("secret")
        finally:
            ended.set()

    async def scenario() -> list[tuple[str, dict[str, Any]]]:
        parts = stream(request, held, "evaluation", work).body_iterator
        told = [str(await anext(parts)), str(await anext(parts))]
        request.app.state.access = Access(author_keys=["anna=another"])
        if not quiet:
            go.set()
        told += [str(part) async for part in parts]
        go.set()
        assert await asyncio.to_thread(ended.wait, 60)
        while held.editing.evaluating.locked():
            await asyncio.sleep(0.01)
        return events("".join(told))

    first, (name, problem) = asyncio.run(scenario())

    assert (first[0], first[1]["step"]) == ("progress", "first")
    assert (name, problem["status"], problem["detail"]) == ("error", 401, "The key of this call is not valid any more.")


def test_no_other_module_streams() -> None:
    """So that each stream asks for its key again."""
    package = Path(intentmatch.__file__).parent
    found = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if "StreamingResponse(" in file.read_text(encoding="utf-8")
    }

    assert found == {"server/routes/authoring/events.py"}
