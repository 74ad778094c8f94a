"""Adapter for Pydantic AI: a toolset that shows a model only the tools that the user's message needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from intentmatch import Matcher, MissingExtraError
from intentmatch.integrations.tools import OutOfScope, Tools

try:
    from pydantic_ai import RunContext, TextContent, ToolDefinition, UserPromptPart
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
except ImportError as error:  # older releases lack some of these
    raise MissingExtraError("The adapter for Pydantic AI", "pydantic-ai") from error


@dataclass
class IntentToolset(WrapperToolset[Any]):  # type: ignore[misc]  # Any, where Pydantic AI is not installed
    """Shows a model the tools of the user's intent, without a model call to choose them.

    `tools`, `out_of_scope` and the rules are those of `Tools`. The message is matched once, when the run begins.
    """

    matcher: Matcher
    tools: Mapping[str, Collection[str]] | None = None
    out_of_scope: OutOfScope = "none"

    def __post_init__(self) -> None:
        """Check the table. Raises `UnknownNameError` if an intent does not exist."""
        self._tools = Tools(self.matcher, self.tools, self.out_of_scope)

    async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        """Return the toolset of one run, narrowed to the tools that its message needs."""
        wrapped = await self.wrapped.for_run(ctx)
        intents = await self._tools.aintents(_message(ctx))

        def narrowed(_: RunContext[Any], tools: list[ToolDefinition]) -> list[ToolDefinition]:
            needed = self._tools.needed([tool.name for tool in tools], intents)
            return [tool for tool in tools if tool.name in needed]

        return wrapped.prepared(narrowed)


def _message(ctx: RunContext[Any]) -> str:
    """Return the user's last message: the prompt of the run or, without one, the last of the history."""
    if ctx.prompt is not None:
        return _text(ctx.prompt)
    parts = [part for message in ctx.messages for part in message.parts if isinstance(part, UserPromptPart)]
    return _text(parts[-1].content) if parts else ""


def _text(prompt: str | Collection[Any]) -> str:
    """Return the text of a prompt, which may also hold images and other content."""
    if isinstance(prompt, str):
        return prompt
    texts = [part for part in prompt if isinstance(part, str | TextContent)]
    return "\n".join(part if isinstance(part, str) else part.content for part in texts)
