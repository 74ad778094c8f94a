"""Adapter for LangChain and LangGraph: a `Runnable`, routes of a chain or graph, and a middleware for tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Annotated, Any

from intentmatch import IntentMatchError, Matcher, MatchResult, MissingExtraError
from intentmatch.integrations.routes import check_intents
from intentmatch.integrations.tools import OutOfScope, Tools

try:
    from langchain.agents import AgentState
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
    from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage, convert_to_messages
    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import (
        Runnable,
        RunnableBranch,
        RunnableConfig,
        RunnableLambda,
        RunnableParallel,
        RunnablePassthrough,
    )
    from typing_extensions import NotRequired
except ImportError as error:  # older releases have no middleware
    raise MissingExtraError("The adapter for LangChain", "langchain") from error

_KEY = "intentmatch"


class IntentRunnable(Runnable[Any, MatchResult]):  # type: ignore[misc]  # Any, where LangChain is not installed
    """Match the user's last message: takes text, messages or a state with `messages`, returns a `MatchResult`.

    `bind` takes the options of `Matcher.match`: `IntentRunnable(matcher).bind(language="de")`. A batch is encoded
    together. Without a message of the user, the result is out of scope.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> MatchResult:  # noqa: A002
        """Match one message."""
        result: MatchResult = self._call_with_config(self._match, input, config, **options)
        return result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> MatchResult:  # noqa: A002
        """Match one message without blocking the event loop."""
        result: MatchResult = await self._acall_with_config(self._amatch, input, config, **options)
        return result

    def batch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[MatchResult]:
        """Match many messages; with `return_exceptions`, an invalid input gives its error as its result."""
        results: list[MatchResult] = self._batch_with_config(
            self._match_all, inputs, config, return_exceptions=return_exceptions, **options
        )
        return results

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[MatchResult]:
        """Match many messages without blocking the event loop."""
        results: list[MatchResult] = await self._abatch_with_config(
            self._amatch_all, inputs, config, return_exceptions=return_exceptions, **options
        )
        return results

    def branch(self, routes: Mapping[str, Any], otherwise: Any) -> Runnable:
        """Return a chain that runs the route of the intent, or `otherwise`, on `{"input": ..., "match": ...}`.

        Raises `UnknownNameError` if a route's intent does not exist.
        """
        check_intents(self._matcher.registry, routes)
        branches = [
            (lambda matched, name=name: matched["match"].intent == name, route) for name, route in routes.items()
        ]
        return RunnableParallel(input=RunnablePassthrough(), match=self) | RunnableBranch(*branches, otherwise)

    def node(self, key: str = "match") -> Runnable:
        """Return a graph node that writes the result under a key of the state, as plain values for any checkpointer."""
        return self | RunnableLambda(lambda result: {key: result.to_dict()})

    def edge(self, routes: Mapping[str, str], otherwise: str, key: str = "match") -> Callable[[Any], str]:
        """Return a conditional edge to follow such a node: the route of the intent, or `otherwise`.

        Raises `UnknownNameError` if a route's intent does not exist.
        """
        check_intents(self._matcher.registry, routes)

        def next_node(state: Any) -> str:
            match = _field(state, key)
            return routes.get(match["intent"], otherwise) if match else otherwise

        return next_node

    def _match(self, value: Any, **options: Any) -> MatchResult:
        return self._matcher.match(_message(value), **options)

    async def _amatch(self, value: Any, **options: Any) -> MatchResult:
        return await self._matcher.amatch(_message(value), **options)

    def _match_all(self, inputs: list[Any], **options: Any) -> list[MatchResult | IntentMatchError]:
        try:
            return [*self._matcher.match_many([_message(value) for value in inputs], **options)]
        except IntentMatchError:  # match one by one, so that only the invalid inputs fail
            return [self._match_or_error(value, options) for value in inputs]

    async def _amatch_all(self, inputs: list[Any], **options: Any) -> list[MatchResult | IntentMatchError]:
        return await asyncio.to_thread(self._match_all, inputs, **options)

    def _match_or_error(self, value: Any, options: Mapping[str, Any]) -> MatchResult | IntentMatchError:
        try:
            return self._match(value, **options)
        except IntentMatchError as error:
            return error


class IntentState(AgentState):  # type: ignore[misc]  # Any, where LangChain is not installed
    """State of an agent with `IntentToolMiddleware`."""

    intentmatch: NotRequired[Annotated[list[str], PrivateStateAttr]]  # type: ignore[valid-type]  # for the same reason
    """Possible intents of the user's last message."""


class IntentToolMiddleware(AgentMiddleware):  # type: ignore[misc]  # Any, where LangChain is not installed
    """Shows an agent's model the tools of the user's intent, without a model call to choose them.

    `tools`, `out_of_scope` and the rules are those of `Tools`. The message is matched once, when the agent begins.
    A hidden tool does not run if the model names it: the model gets an error and the names of its tools. Built-in
    tools of the model provider (dicts) are always shown. Raises `UnknownNameError` if an intent of `tools` does not
    exist.
    """

    state_schema = IntentState

    def __init__(
        self,
        matcher: Matcher,
        tools: Mapping[str, Collection[str]] | None = None,
        *,
        out_of_scope: OutOfScope = "none",
    ) -> None:
        super().__init__()
        self._tools = Tools(matcher, tools, out_of_scope)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Match the user's last message and keep its possible intents in the state."""
        return {_KEY: self._tools.intents(_message(state))}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Do the same as `before_agent` without blocking the event loop."""
        return {_KEY: await self._tools.aintents(_message(state))}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Call the model with the tools that the message needs."""
        return handler(self._narrowed(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """Call the model with the tools that the message needs, async."""
        return await handler(self._narrowed(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Run a tool that the model was shown; a hidden tool is an error message."""
        return self._refusal(request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Do the same as `wrap_tool_call`, async."""
        return self._refusal(request) or await handler(request)

    def _refusal(self, request: ToolCallRequest) -> ToolMessage | None:
        """Return the answer to the call of a hidden tool; None if the tool may run."""
        intents, names = _field(request.state, _KEY), [tool.name for tool in request.runtime.tools]
        name = request.tool_call["name"]
        # A name that no tool has is left to the agent, which has an answer for that.
        if intents is None or name not in names or name in (needed := self._tools.needed(names, intents)):
            return None
        shown = ", ".join(each for each in names if each in needed)
        content = f"Error: {name} is not a valid tool for this message, try one of [{shown}]."
        return ToolMessage(content, name=name, tool_call_id=request.tool_call["id"], status="error")

    def _narrowed(self, request: ModelRequest) -> ModelRequest:
        intents = request.state.get(_KEY)
        if intents is None:  # called without `before_agent`
            return request
        needed = self._tools.needed([tool.name for tool in request.tools if not isinstance(tool, dict)], intents)
        return request.override(tools=[tool for tool in request.tools if isinstance(tool, dict) or tool.name in needed])


def _message(value: Any) -> Any:
    """Return the text of the user's last message; a value without messages is returned for the matcher to refuse."""
    messages = value if isinstance(value, list | BaseMessage | PromptValue) else _field(value, "messages")
    if messages is None:
        return value
    try:
        converted = convert_to_messages([messages] if isinstance(messages, BaseMessage) else messages)
    except (NotImplementedError, TypeError, ValueError, KeyError):
        return value
    return next((str(message.text) for message in reversed(converted) if isinstance(message, HumanMessage)), "")


def _field(state: Any, key: str) -> Any:
    """Return a field of a state, which may be a mapping or an object; None if it has no such field."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
