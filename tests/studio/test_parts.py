"""Small pieces of screens."""

from __future__ import annotations

import asyncio
import logging

import pytest

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")

from nicegui import core  # noqa: E402
from nicegui.page import page  # noqa: E402

from intentmatch.studio.parts import in_thread, isolated, later, tag  # noqa: E402


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Words that match: my ~ my 1.00.", "Words that match: my ~ my 1.00."),
        ("كم 0.29, ثمن 0.42.", "[كم] 0.29, [ثمن] 0.42."),
        ("The nearest is “بطاقة هدية 50 ريال” (a.yaml:13).", "The nearest is “[بطاقة هدية 50 ريال]” (a.yaml:13)."),
        ("“where is it” is nearest to אילת", "“where is it” is nearest to [אילת]"),
        ("", ""),
    ],
)
def test_words_from_right_to_left_do_not_move_what_is_between_them(text, shown):
    marked = isolated(text).replace("\u2068", "[").replace("\u2069", "]")
    assert marked == shown


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed meanwhile"])
def test_part_is_waited_for_until_it_is_there(monkeypatch, caplog, closed):
    """A page that is closed before is no error."""

    async def test() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client, goes_on, built = nicegui.Client(page("")), asyncio.Event(), asyncio.Event()

        def texts() -> list[str]:
            return [element.text for element in client.elements.values() if getattr(element, "text", None)]

        async def build() -> None:
            await goes_on.wait()
            if not closed:
                tag("p", "three groups")
            built.set()

        with client:
            later(build, "Grouping:")
        await asyncio.sleep(0.01)
        assert texts() == ["Grouping:"]
        if closed:
            client.delete()
        goes_on.set()
        await built.wait()
        await asyncio.sleep(0.01)
        assert texts() == ([] if closed else ["three groups"])
        if not closed:
            client.delete()

    asyncio.run(test())
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("closed", [False, True])
def test_task_ends_if_its_page_is_closed_meanwhile(monkeypatch, closed):
    async def test() -> list[str]:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client, drawn = nicegui.Client(page("")), list[str]()

        async def draw() -> None:
            with client:
                drawn.append(await in_thread(lambda: client.delete() if closed else None) or "drawn")

        await asyncio.wait([asyncio.create_task(draw())])
        return drawn

    assert asyncio.run(test()) == ([] if closed else ["drawn"])
