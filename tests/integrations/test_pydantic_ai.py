"""The adapter for Pydantic AI: the tools that an agent's model is shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra `pydantic-ai`")

from contracts.agent_tools import AgentToolsContract, order_matcher
from pydantic_ai import Agent, BinaryContent, TextContent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel as FrameworkTestModel
from pydantic_ai.toolsets import FunctionToolset

from intentmatch import Matcher
from intentmatch.integrations.pydantic_ai import IntentToolset


def status() -> str:
    """Where an order is."""
    return "on its way"


def cancel() -> str:
    """Cancel an order."""
    return "cancelled"


def search() -> str:
    """Search the web."""
    return "nothing"


class Model(FrameworkTestModel):
    """Records the tools that it was shown, for each request; calls all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[list[str]] = []

    async def request(self, messages: Any, settings: Any, parameters: Any) -> Any:
        self.shown.append([tool.name for tool in parameters.function_tools])
        return await super().request(messages, settings, parameters)


class ToolAgent:
    """An agent of Pydantic AI."""

    def __init__(self, matcher: Matcher, tools: Any = None, **options: Any) -> None:
        self.model = Model()
        toolset = IntentToolset(FunctionToolset([status, cancel, search]), matcher, tools, **options)
        self.agent = Agent(self.model, toolsets=[toolset])
        self.shown = self.model.shown

    def run(self, prompt: Any, **options: Any) -> str:
        return asyncio.run(self.arun(prompt, **options))

    async def arun(self, prompt: Any, **options: Any) -> str:
        return (await self.agent.run(prompt, **options)).output


class TestTools(AgentToolsContract):
    """Pydantic AI does what every adapter for agents does."""

    extra = "pydantic-ai"
    adapter = "pydantic_ai"
    needed_module = "pydantic_ai.toolsets"
    example_conversation = (
        ("wo bleibt mein Paket", "(a model would answer, with the tools order_status, search)"),
        ("cancel my order", "(a model would answer, with the tools order_cancel, search)"),
        ("my order", "(a model would answer, with the tools order_status, order_cancel, search)"),
    )

    def new_agent(self, matcher, tools=None, **options):
        return ToolAgent(matcher, tools, **options)

    def run_with_call_of_status(self, matcher, message):
        def call_once(messages: list[Any], _: Any) -> ModelResponse:
            asked = any(isinstance(part, ToolCallPart) for message in messages for part in message.parts)
            return ModelResponse([TextPart("Done.") if asked else ToolCallPart("status", {})])

        result = asyncio.run(ToolAgent(matcher).agent.run(message, model=FunctionModel(call_once)))
        parts = [part for message in result.all_messages() for part in message.parts]
        return "\n".join(str(getattr(part, "content", "")) for part in parts)


@pytest.fixture
def agent() -> ToolAgent:
    return ToolAgent(order_matcher())


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (["track my parcel", BinaryContent(b"x", media_type="image/png")], ["status", "search"]),
        ([TextContent("track my parcel")], ["status", "search"]),
        ([BinaryContent(b"x", media_type="image/png")], ["search"]),
        ("", ["search"]),
    ],
)
def test_text_beside_images_counts(agent, prompt, expected):
    """Without any text, the message is out of scope."""
    agent.run(prompt)

    assert agent.shown[0] == expected


def test_last_message_of_conversation_counts(agent):
    """The new message or, without one, the message that still has no answer."""
    history = [ModelRequest([UserPromptPart("track my parcel")]), ModelResponse([TextPart("One moment.")])]

    agent.run("cancel it please", message_history=history)
    assert agent.shown[0] == ["cancel", "search"]
    agent.shown.clear()
    agent.run(None, message_history=history[:1])
    assert agent.shown[0] == ["status", "search"]


def test_runs_at_the_same_time_have_tools_of_their_own(agent):
    async def both() -> list[str]:
        return await asyncio.gather(agent.arun("track my parcel"), agent.arun("cancel it please"))

    first, second = asyncio.run(both())

    assert ("on its way" in first, "cancelled" in first) == (True, False)
    assert ("on its way" in second, "cancelled" in second) == (False, True)


def test_event_loop_runs_while_message_is_encoded():
    matcher = order_matcher()

    asyncio.run(matcher.encoder.closed_until_loop_runs(ToolAgent(matcher).arun("some message")))
