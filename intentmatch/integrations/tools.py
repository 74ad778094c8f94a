"""Choose the tools that a language model needs for a message; shared by the adapters for agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, get_args

from intentmatch import Matcher, MatchResult, UnknownNameError
from intentmatch.integrations.routes import check_intents

OutOfScope = Literal["none", "all"]
"""The tools of intents that a message out of scope shows."""


class Tools:
    """Tools by intent, so that a model is shown, and can call, only the tools that a message needs.

    `by_intent` maps intents to tool names; an intent that it lacks has the tool of its own name. Tools that belong to
    no intent are always shown. All tools are shown if the intent of the message has no tool, such as a "yes" to an
    earlier question. A message out of scope shows no tools of intents, or all of them if `out_of_scope` is "all", for
    models that ask the user back. Raises `UnknownNameError` if an intent does not exist, or if `out_of_scope` is
    neither "none" nor "all".
    """

    def __init__(
        self,
        matcher: Matcher,
        by_intent: Mapping[str, Collection[str]] | None = None,
        out_of_scope: OutOfScope = "none",
    ) -> None:
        check_intents(matcher.registry, by_intent or ())
        if out_of_scope not in get_args(OutOfScope):
            raise UnknownNameError("choice for out_of_scope", out_of_scope, get_args(OutOfScope))
        self._matcher = matcher
        self._by_intent = by_intent or {}
        self._out_of_scope = out_of_scope

    def intents(self, message: str) -> list[str]:
        """Return the possible intents of a message: its own and those of its clauses, or its rivals if ambiguous."""
        return _possible_intents(self._matcher.match(message))

    async def aintents(self, message: str) -> list[str]:
        """Return the same as `intents` without blocking the event loop."""
        return _possible_intents(await self._matcher.amatch(message))

    def needed(self, names: Iterable[str], intents: Collection[str]) -> set[str]:
        """Return the tools, among these names, that a model needs for some intents; none stand for out of scope."""
        known = set(names)
        if not intents:
            return known if self._out_of_scope == "all" else known - self._tools_of(None)
        wanted = known & self._tools_of(intents)
        return wanted | (known - self._tools_of(None)) if wanted else known

    def _tools_of(self, intents: Collection[str] | None) -> set[str]:
        """Return the tools of some intents; None stands for all intents."""
        names = [intent.name for intent in self._matcher.registry if intents is None or intent.name in intents]
        return {tool for name in names for tool in self._by_intent.get(name, (name,))}


def _possible_intents(result: MatchResult) -> list[str]:
    if result.intent is None:
        return [rival.intent for rival in result.rivals]
    return list(dict.fromkeys([result.intent, *(part.intent for part in result.parts)]))
