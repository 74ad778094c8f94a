"""Long work of an author: its progress as events, failures too, and cancelled with its connection."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import bot
from server.routes.authoring.test_authoring_evaluation import events

from intentmatch import Matcher
from intentmatch.runtime import steps
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.config import Batching
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.metrics import Metrics
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
        assert held.evaluating.acquire(blocking=False)
        stream = Job(held, "evaluation", endless).events()
        assert (await anext(stream)).startswith("event: progress")
        assert held.evaluating.locked()
        await stream.aclose()  # as the server does when the client has gone
        assert await asyncio.to_thread(ended.wait, 60)
        while held.evaluating.locked():
            await asyncio.sleep(0.01)

    asyncio.run(scenario())


async def read(held: Bot, work: Callable[[], dict[str, Any]]) -> str:
    return "".join([str(chunk) async for chunk in stream(held, "replay", work).body_iterator])


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
        seen.append(held.evaluating.locked())
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
    assert held.evaluating.acquire(blocking=False)

    with pytest.raises(ProblemError) as caught:
        stream(held, "replay", dict)

    assert (caught.value.details.status, caught.value.headers) == (503, {"Retry-After": "30"})
