"""Pages are told about each change of the files, also one since they were begun; nothing is kept when they are gone."""

from __future__ import annotations

import asyncio
import gc
import weakref
from types import SimpleNamespace

import pytest
from driven_studio import PATIENCE

from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")

from nicegui import core  # noqa: E402
from nicegui.page import page  # noqa: E402

from intentmatch.studio import following  # noqa: E402
from intentmatch.studio.parts import in_thread  # noqa: E402

TEXT = "intents:\n  greet:\n    utterances: [hello]\n"


@pytest.fixture
def visit(tmp_path, monkeypatch):
    monkeypatch.setattr(following, "SECONDS_BETWEEN_LOOKS", 0.005)
    (tmp_path / "one.yaml").write_text(TEXT, encoding="utf-8")
    workspace = Workspace(tmp_path)
    monkeypatch.setattr(following, "prepare", lambda matcher, workspace: None)
    bot = SimpleNamespace(workspace=workspace, matcher=SimpleNamespace(artefact="first"))
    return SimpleNamespace(bot=bot, digest=workspace.digest(), folder=tmp_path)


def on_a_page(monkeypatch, scenario) -> None:
    """Run a scenario with a page that no browser has opened."""

    async def run() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        with nicegui.Client(page("")) as client:
            await scenario(client)

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def test_change_between_the_reading_and_the_first_look_is_told(visit, monkeypatch):
    async def scenario(client) -> None:
        told = asyncio.Event()
        (visit.folder / "one.yaml").write_text(TEXT.replace("hello", "good day"), encoding="utf-8")
        following.follow(visit, told.set)
        await told.wait()
        client.delete()

    on_a_page(monkeypatch, scenario)


def test_files_that_are_the_same_are_not_told(visit, monkeypatch):
    async def scenario(client) -> None:
        told, looks = [], []
        digest = visit.bot.workspace.digest
        monkeypatch.setattr(visit.bot.workspace, "digest", lambda: looks.append(1) or digest())
        following.follow(visit, lambda: told.append(1))
        await until(lambda: len(looks) > 2)
        client.delete()
        assert told == []

    on_a_page(monkeypatch, scenario)


def test_insights_are_prepared_anew_for_other_files_and_for_another_registry(visit, monkeypatch):
    async def scenario(client) -> None:
        prepared, looks = [], []
        monkeypatch.setattr(following, "prepare", lambda matcher, workspace: prepared.append(matcher.artefact))
        digest = visit.bot.workspace.digest
        monkeypatch.setattr(visit.bot.workspace, "digest", lambda: looks.append(1) or digest())
        following.follow(visit, lambda: None)
        await until(lambda: len(looks) > 3)
        assert prepared == ["first"]
        (visit.folder / "one.yaml").write_text(TEXT.replace("hello", "good day"), encoding="utf-8")
        await until(lambda: prepared == ["first", "first"])
        visit.bot.matcher.artefact = "second"
        await until(lambda: prepared == ["first", "first", "second"])
        client.delete()

    on_a_page(monkeypatch, scenario)


@pytest.mark.parametrize("error", [InputError("the files cannot be read"), IndexError("list index out of range")])
def test_page_that_fails_leaves_the_others(visit, monkeypatch, caplog, error):
    async def scenario(client) -> None:
        told = asyncio.Event()

        def fail() -> None:
            raise error

        following.follow(visit, fail)
        following.follow(visit, told.set)
        (visit.folder / "one.yaml").write_text(TEXT.replace("hello", "good day"), encoding="utf-8")
        await told.wait()
        client.delete()

    on_a_page(monkeypatch, scenario)
    assert caplog.messages[0].startswith("a page of the studio could not be brought up to date")


async def fail_to_draw(client) -> None:
    client.delete()
    raise IndexError("its elements are gone")


@pytest.mark.parametrize(
    "draw", [fail_to_draw, lambda client: in_thread(client.delete)], ids=["in the loop", "in a thread"]
)
def test_page_closed_while_it_is_drawn_is_no_failure(visit, monkeypatch, caplog, draw):
    async def scenario(client) -> None:
        told = asyncio.Event()

        with nicegui.Client(page("")) as closed:
            following.follow(visit, lambda: draw(closed))
        following.follow(visit, told.set)
        (visit.folder / "one.yaml").write_text(TEXT.replace("hello", "good day"), encoding="utf-8")
        await told.wait()
        client.delete()

    on_a_page(monkeypatch, scenario)
    assert caplog.messages == []


def test_workspace_is_freed_after_the_last_page(visit, monkeypatch):
    workspace = weakref.ref(visit.bot.workspace)

    async def scenario(client) -> None:
        following.follow(visit, lambda: None)
        assert workspace() in following._watchers
        client.delete()
        await until(lambda: workspace() not in following._watchers)

    on_a_page(monkeypatch, scenario)
    visit.bot.workspace = None
    gc.collect()
    assert workspace() is None
