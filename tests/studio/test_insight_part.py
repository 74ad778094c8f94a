"""A part that shows an insight: progress, the result, and what was there before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")

from nicegui import core  # noqa: E402
from nicegui.page import page  # noqa: E402

from intentmatch.authoring.insights import Failed, Ready, Working  # noqa: E402
from intentmatch.core.errors import InputError  # noqa: E402
from intentmatch.runtime.steps import Step  # noqa: E402
from intentmatch.studio import insight_part  # noqa: E402
from intentmatch.studio.insight_part import InsightPart  # noqa: E402
from intentmatch.studio.parts import tag  # noqa: E402

WORKING = Working(Step("training", 1, 4), 1.0)


class Shown:
    """A part on a page, and the state of its insight."""

    def __init__(self) -> None:
        self.state: Ready[str] | Working | Failed = WORKING
        self.drawn: list[str] = []
        self.part: InsightPart[str] = InsightPart(self.ask, self.draw, waiting="Comparing:")

    def ask(self) -> Ready[str] | Working | Failed:
        if isinstance(self.state, Failed) and self.state.reason == "raised":
            raise InputError("the file is gone")
        return self.state

    def draw(self, value: str) -> None:
        self.drawn.append(value)
        tag("p", value)

    async def until(self, holds: Callable[[], bool]) -> None:
        for _ in range(2000):
            if holds():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"it never holds; drawn: {self.drawn}, says: {self.texts}")

    @property
    def texts(self) -> list[str]:
        content = self.part._content
        return [element.text for element in content.descendants() if getattr(element, "text", None)]

    @property
    def says(self) -> list[str]:
        return [element.text for element in self.part._progress.descendants() if getattr(element, "text", None)]


@pytest.fixture
def on_a_page(monkeypatch):
    """Run a test on a page that counts as connected."""

    async def connected(*_: object) -> None:
        pass

    monkeypatch.setattr(nicegui.Client, "connected", connected)
    monkeypatch.setattr(insight_part, "_SECONDS_BETWEEN_LOOKS", 0.0)

    def run(test: Callable[[Shown], object]) -> None:
        async def inside() -> None:
            monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
            with nicegui.Client(page("")) as opened:
                await test(Shown())
            opened.delete()

        asyncio.run(inside())

    return run


@pytest.mark.parametrize(("state", "drawn"), [(Ready("there"), ["there"]), (WORKING, [])], ids=["ready", "working"])
def test_page_is_sent_with_what_is_there_before_a_browser_connects(on_a_page, monkeypatch, state, drawn):
    async def test(shown: Shown) -> None:
        monkeypatch.setattr(nicegui.Client, "connected", lambda *_: asyncio.sleep(3600))
        shown.state = state
        await shown.part.begun()

        assert shown.texts == drawn
        assert shown.says == ([] if drawn else ["Comparing: training"])

    on_a_page(test)


def test_page_is_not_kept_waiting_by_an_insight_that_does_not_answer(on_a_page, monkeypatch):
    async def test(shown: Shown) -> None:
        monkeypatch.setattr(insight_part, "_SECONDS_BEFORE_THE_PAGE", 0.01)
        answers, drawn = threading.Event(), []
        part = InsightPart(lambda: Ready(answers.wait(60)), drawn.append)
        await part.begun()

        assert drawn == []
        answers.set()
        await shown.until(lambda: drawn == [True])

    on_a_page(test)


def test_what_was_shown_stays_and_is_outdated_until_there_is_something_else(on_a_page):
    async def test(shown: Shown) -> None:
        await shown.until(lambda: shown.says == ["Comparing: training"])
        assert not shown.part.stale
        shown.state = Ready("old")
        await shown.until(lambda: shown.texts == ["old"])
        shown.state = WORKING
        shown.part.refresh()
        await shown.until(lambda: shown.part.stale and "st-stale" in shown.part._content.classes)
        assert shown.texts == ["old"]
        assert shown.says == ["This was before the last change. Comparing: training"]
        shown.state = Ready("new")
        await shown.until(lambda: shown.texts == ["new"])

        assert not shown.part.stale
        assert "st-stale" not in shown.part._content.classes
        assert shown.says == []

    on_a_page(test)


def test_same_result_is_not_drawn_again(on_a_page):
    async def test(shown: Shown) -> None:
        shown.state = Ready("same")
        await shown.until(lambda: shown.texts == ["same"])
        shown.state = WORKING
        shown.part.refresh()
        await shown.until(lambda: shown.part.stale)
        shown.state = Ready("same")
        await shown.until(lambda: not shown.part.stale)

        assert shown.drawn == ["same"]

    on_a_page(test)


@pytest.mark.parametrize(
    ("reason", "said"), [("it could not be worked out", "It could not be worked out"), ("raised", "The file is gone")]
)
def test_reason_of_a_failure_is_said_and_asked_about_again(on_a_page, reason, said):
    async def test(shown: Shown) -> None:
        shown.state = Failed(reason)
        await shown.until(lambda: shown.texts == [said, "Try again"])
        shown.state = Ready("there")
        shown.part.refresh()
        await shown.until(lambda: shown.texts == ["there"])

    on_a_page(test)
