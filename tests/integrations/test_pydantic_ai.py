"""The tools that an agent of Pydantic AI is shown."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, MissingExtraError, Registry, UnknownNameError, Utterance

pytest.importorskip("pydantic_ai", reason="needs the extra `pydantic-ai`")

from pydantic_ai import Agent, BinaryContent, TextContent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

from intentmatch.integrations.pydantic_ai import IntentToolset

EXAMPLE = Path(__file__).parents[2] / "examples" / "pydantic_ai"
ALL = ["status", "cancel", "search"]


def status() -> str:
    """Where an order is."""
    return "on its way"


def cancel() -> str:
    """Cancel an order."""
    return "cancelled"


def search() -> str:
    """Search the web."""
    return "nothing"


@pytest.fixture
def matcher() -> Matcher:
    intents = (
        Intent("status", (Utterance("where is my order"), Utterance("track my parcel"))),
        Intent("cancel", (Utterance("cancel it please"),)),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
    )
    return Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off", margin=0.4)


class Model(TestModel):
    """Remembers the tools that it was shown, at each request."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[list[str]] = []

    async def request(self, messages: Any, settings: Any, parameters: Any) -> Any:
        self.shown.append([tool.name for tool in parameters.function_tools])
        return await super().request(messages, settings, parameters)


def agent_of(matcher: Matcher, tools: Any = None) -> Agent:
    return Agent(Model(), toolsets=[IntentToolset(FunctionToolset([status, cancel, search]), matcher, tools)])


def shown(agent: Agent, prompt: Any, **options: Any) -> list[str]:
    """The tools that the model was shown first."""
    agent.model.shown.clear()
    asyncio.run(agent.run(prompt, **options))
    return agent.model.shown[0]


def test_the_model_is_shown_the_tool_of_the_intent(matcher):
    """And those of no intent; matched once, though the model is called again after the tools."""
    agent = agent_of(matcher)
    matcher.encoder.encoded.clear()

    result = asyncio.run(agent.run("where may my order be"))

    assert agent.model.shown == [["status", "search"]] * 2
    assert "on its way" in result.output
    assert matcher.encoder.encoded == ["where may my order be"]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (["track my parcel", BinaryContent(b"x", media_type="image/png")], ["status", "search"]),
        ([TextContent("track my parcel")], ["status", "search"]),
        ([BinaryContent(b"x", media_type="image/png")], ALL),
        ("penguins", ALL),
        ("sound now", ALL),
        ("", ALL),
    ],
)
def test_what_is_not_understood_leaves_the_choice_to_the_model(matcher, prompt, expected):
    """Images have no words; what is beside them counts."""
    assert shown(agent_of(matcher), prompt) == expected


def test_an_intent_may_have_several_tools(matcher):
    """By the table that the author gives; where two intents are too close, the tools of both."""
    agent = agent_of(matcher, {"status": ["status", "search"], "mute": ["status"], "unmute": ["cancel"]})

    assert shown(agent, "track my parcel") == ["status", "search"]
    assert shown(agent, "sound now") == ["status", "cancel"]


def test_the_last_message_counts(matcher):
    """Of a conversation, the one that is new; where there is none, the one that is answered still."""
    agent = agent_of(matcher)
    before = [ModelRequest([UserPromptPart("track my parcel")]), ModelResponse([TextPart("One moment.")])]

    assert shown(agent, "cancel it please", message_history=before) == ["cancel", "search"]
    assert shown(agent, None, message_history=before[:1]) == ["status", "search"]


def test_users_at_the_same_time_do_not_mix(matcher):
    """Each run has its own tools."""
    agent = agent_of(matcher)

    async def both() -> list[Any]:
        return await asyncio.gather(agent.run("track my parcel"), agent.run("cancel it please"))

    first, second = asyncio.run(both())

    assert ("on its way" in first.output, "cancelled" in first.output) == (True, False)
    assert ("on its way" in second.output, "cancelled" in second.output) == (False, True)


def test_the_loop_goes_on(matcher):
    """While a message is encoded."""
    agent, went_on, encode = agent_of(matcher), threading.Event(), matcher.encoder.encode

    def slow(*args: Any, **options: Any) -> Any:
        assert went_on.wait(10), "the loop stood still"
        return encode(*args, **options)

    matcher.encoder.encode = slow

    async def run() -> None:
        task = asyncio.create_task(agent.run("some message"))
        await asyncio.sleep(0.05)
        went_on.set()
        await task

    asyncio.run(run())


def test_a_table_of_no_intent_is_told_at_once(matcher):
    """When the toolset is made."""
    with pytest.raises(UnknownNameError, match="Did you mean 'cancel'"):
        agent_of(matcher, {"cancle": ["cancel"]})


def test_a_missing_package_is_named(monkeypatch):
    """With the line to install it."""
    monkeypatch.setitem(sys.modules, "pydantic_ai.toolsets", None)
    monkeypatch.delitem(sys.modules, "intentmatch.integrations.pydantic_ai")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[pydantic-ai\]"'):
        importlib.import_module("intentmatch.integrations.pydantic_ai")


def test_the_example_holds_a_conversation(tmp_path):
    """Each message is shown the tools that it may need."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "bot.py")], env={**os.environ, "MODEL": "", "PYTHONUTF8": "1"}, cwd=tmp_path,
        input="wo bleibt mein Paket\ncancel my order\nmy order\n",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert [line.removeprefix("> ") for line in done.stdout.splitlines()[:-1]] == [
        "(a model would answer, with the tools order_status, search)",
        "(a model would answer, with the tools order_cancel, search)",
        "(a model would answer, with the tools order_status, order_cancel, search)",
    ]
