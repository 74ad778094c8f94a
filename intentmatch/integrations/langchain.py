"""LangChain and LangGraph: intents as a `Runnable`, as routes of a chain or graph, and as the choice of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Annotated, Any

from intentmatch import IntentMatchError, Matcher, MatchResult, MissingExtraError
from intentmatch.integrations.routes import check_intents
from intentmatch.integrations.tools import Tools

try:
    from langchain.agents import AgentState
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
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
except ImportError as error:  # there are older releases, without middleware
    raise MissingExtraError("The adapter for LangChain", "langchain") from error

_KEY = "intentmatch"


class IntentRunnable(Runnable[Any, MatchResult]):  # type: ignore[misc]  # Any, where LangChain is not installed
    """Text, messages, or a state with `messages` in; what the user's last message means out, as a `MatchResult`.

    `bind` takes the options of `Matcher.match`: `IntentRunnable(matcher).bind(language="de")`. A batch is encoded
    together. Where the user said nothing the result is out of scope.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> MatchResult:  # noqa: A002
        """What the message means."""
        result: MatchResult = self._call_with_config(self._match, input, config, **options)
        return result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> MatchResult:  # noqa: A002
        """As `invoke`; the event loop goes on."""
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
        """What each of the messages means."""
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
        """As `batch`; the event loop goes on."""
        results: list[MatchResult] = await self._abatch_with_config(
            self._amatch_all, inputs, config, return_exceptions=return_exceptions, **options
        )
        return results

    def branch(self, routes: Mapping[str, Any], otherwise: Any) -> Runnable:
        """Runs what `routes` has for the intent, and `otherwise` for any other, on `{"input": ..., "match": ...}`."""
        check_intents(self._matcher.registry, routes)
        branches = [(lambda taken, name=name: taken["match"].intent == name, route) for name, route in routes.items()]
        return RunnableParallel(input=RunnablePassthrough(), match=self) | RunnableBranch(*branches, otherwise)

    def node(self, key: str = "match") -> Runnable:
        """A node of a graph that writes the result under a key of the state, as plain values for any checkpointer."""
        return self | RunnableLambda(lambda result: {key: result.to_dict()})

    def edge(self, routes: Mapping[str, str], otherwise: str, key: str = "match") -> Callable[[Any], str]:
        """A conditional edge behind such a node: where an intent leads, and where any other does."""
        check_intents(self._matcher.registry, routes)

        def leads_to(state: Any) -> str:
            match = _part(state, key)
            return routes.get(match["intent"], otherwise) if match else otherwise

        return leads_to

    def _match(self, taken: Any, **options: Any) -> MatchResult:
        return self._matcher.match(_message(taken), **options)

    async def _amatch(self, taken: Any, **options: Any) -> MatchResult:
        return await self._matcher.amatch(_message(taken), **options)

    def _match_all(self, taken: list[Any], **options: Any) -> list[MatchResult | IntentMatchError]:
        try:
            return [*self._matcher.match_many([_message(one) for one in taken], **options)]
        except IntentMatchError:  # of one perhaps, and then the others have their answers
            return [self._tried(one, options) for one in taken]

    async def _amatch_all(self, taken: list[Any], **options: Any) -> list[MatchResult | IntentMatchError]:
        return await asyncio.to_thread(self._match_all, taken, **options)

    def _tried(self, taken: Any, options: Mapping[str, Any]) -> MatchResult | IntentMatchError:
        try:
            return self._match(taken, **options)
        except IntentMatchError as error:
            return error


class IntentState(AgentState):  # type: ignore[misc]  # Any, where LangChain is not installed
    """What an agent with `IntentToolMiddleware` remembers."""

    intentmatch: NotRequired[Annotated[list[str], PrivateStateAttr]]  # type: ignore[valid-type]  # for the same reason
    """The intents that the user's last message may mean."""


class IntentToolMiddleware(AgentMiddleware):  # type: ignore[misc]  # Any, where LangChain is not installed
    """Shows an agent's model the tools of what the user's message means, without a call of a model to choose them.

    `tools` and the rules are those of `Tools`. The message is matched once, when the agent begins. Tools of the
    provider's own (dicts) are always shown.
    """

    state_schema = IntentState

    def __init__(self, matcher: Matcher, tools: Mapping[str, Collection[str]] | None = None) -> None:
        super().__init__()
        self._tools = Tools(matcher, tools)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """What the user wants."""
        return {_KEY: self._tools.intents(_message(state))}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """As `before_agent`; the event loop goes on."""
        return {_KEY: await self._tools.aintents(_message(state))}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """The call, with the tools that it needs."""
        return handler(self._narrowed(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """As `wrap_model_call`."""
        return await handler(self._narrowed(request))

    def _narrowed(self, request: ModelRequest) -> ModelRequest:
        needed = self._tools.needed(
            [tool.name for tool in request.tools if not isinstance(tool, dict)], request.state.get(_KEY, ())
        )
        return request.override(tools=[tool for tool in request.tools if isinstance(tool, dict) or tool.name in needed])


def _message(taken: Any) -> Any:
    """The text of the user's last message. What holds none that we know is handed on, for the matcher to refuse."""
    messages = taken if isinstance(taken, list | BaseMessage | PromptValue) else _part(taken, "messages")
    if messages is None:
        return taken
    try:
        said = convert_to_messages([messages] if isinstance(messages, BaseMessage) else messages)
    except (NotImplementedError, TypeError, ValueError, KeyError):
        return taken
    return next((str(message.text) for message in reversed(said) if isinstance(message, HumanMessage)), "")


def _part(state: Any, key: str) -> Any:
    """Of a state, which may be a mapping or an object; None where it has no such part."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
