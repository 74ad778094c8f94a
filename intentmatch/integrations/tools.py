"""Choose the tools that a language model needs for a message; shared by the adapters for agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from intentmatch import Matcher, MatchResult
from intentmatch.integrations.routes import check_intents


class Tools:
    """Tools by intent, so that a model is shown only the tools that a message needs.

    `by_intent` maps intents to tool names; without it, an intent has the tool of the same name. Tools that belong to
    no intent are always shown. All tools are shown if the message is out of scope, or if its intent has no tool, such
    as a "yes" to an earlier question. Raises `UnknownNameError` if an intent does not exist.
    """

    def __init__(self, matcher: Matcher, by_intent: Mapping[str, Collection[str]] | None = None) -> None:
        check_intents(matcher.registry, by_intent or ())
        self._matcher = matcher
        self._by_intent = by_intent

    def intents(self, message: str) -> list[str]:
        """Return the possible intents of a message: its own and those of its clauses, or its rivals if ambiguous."""
        return _possible_intents(self._matcher.match(message))

    async def aintents(self, message: str) -> list[str]:
        """Return the same as `intents` without blocking the event loop."""
        return _possible_intents(await self._matcher.amatch(message))

    def needed(self, names: Iterable[str], intents: Collection[str]) -> set[str]:
        """Return the tools, among these names, that a model needs for some intents."""
        known = set(names)
        wanted = known & self._tools_of(intents)
        return wanted | (known - self._tools_of(None)) if wanted else known

    def _tools_of(self, intents: Collection[str] | None) -> set[str]:
        """Return the tools of some intents; None stands for all intents."""
        if self._by_intent is None:
            return {intent.name for intent in self._matcher.registry if intents is None or intent.name in intents}
        return {tool for name, tools in self._by_intent.items() if intents is None or name in intents for tool in tools}


def _possible_intents(result: MatchResult) -> list[str]:
    if result.intent is None:
        return [rival.intent for rival in result.rivals]
    return list(dict.fromkeys([result.intent, *(part.intent for part in result.parts)]))
