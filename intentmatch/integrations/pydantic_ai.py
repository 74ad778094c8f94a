"""Pydantic AI: a toolset of which a model is shown what the user's message needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from intentmatch import Matcher, MissingExtraError
from intentmatch.integrations.tools import Tools

try:
    from pydantic_ai import RunContext, TextContent, ToolDefinition, UserPromptPart
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
except ImportError as error:  # there are older releases, without some of these
    raise MissingExtraError("The adapter for Pydantic AI", "pydantic-ai") from error


@dataclass
class IntentToolset(WrapperToolset[Any]):  # type: ignore[misc]  # Any, where Pydantic AI is not installed
    """Shows a model the tools of what the user's message means, without a call of a model to choose them.

    `tools` and the rules are those of `Tools`. The message is matched once, when the run begins.
    """

    matcher: Matcher
    tools: Mapping[str, Collection[str]] | None = None

    def __post_init__(self) -> None:
        """Raises `UnknownNameError` for an intent that is not there."""
        self._tools = Tools(self.matcher, self.tools)

    async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        """The toolset of one run."""
        wrapped = await self.wrapped.for_run(ctx)
        intents = await self._tools.aintents(_message(ctx))

        def narrowed(_: RunContext[Any], tools: list[ToolDefinition]) -> list[ToolDefinition]:
            needed = self._tools.needed([tool.name for tool in tools], intents)
            return [tool for tool in tools if tool.name in needed]

        return wrapped.prepared(narrowed)


def _message(ctx: RunContext[Any]) -> str:
    """What the user said last: now or, where the run goes on with one before, then."""
    if ctx.prompt is not None:
        return _text(ctx.prompt)
    parts = [part for message in ctx.messages for part in message.parts if isinstance(part, UserPromptPart)]
    return _text(parts[-1].content) if parts else ""


def _text(said: str | Collection[Any]) -> str:
    """The words of a prompt, which may hold images and the like beside them."""
    if isinstance(said, str):
        return said
    return "\n".join(one if isinstance(one, str) else one.content for one in said if isinstance(one, str | TextContent))
