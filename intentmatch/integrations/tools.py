"""Which tools a language model needs for a message: shared by the adapters of agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from intentmatch import Matcher, MatchResult
from intentmatch.integrations.routes import check_intents


class Tools:
    """The tools of each intent, so that a model is shown those of a message and no others.

    `by_intent` gives intents their tools; without it an intent has the tool of its name. A tool that no intent has is
    always shown. All are where the message is not understood, and where what it means has no tool at all, such as a
    "yes" to something that was said before. Raises `UnknownNameError` for an intent that is not there.
    """

    def __init__(self, matcher: Matcher, by_intent: Mapping[str, Collection[str]] | None = None) -> None:
        check_intents(matcher.registry, by_intent or ())
        self._matcher = matcher
        self._by_intent = by_intent

    def intents(self, message: str) -> list[str]:
        """What a message may mean: an intent, those of its parts, those that are too close to tell, or none."""
        return _meant(self._matcher.match(message))

    async def aintents(self, message: str) -> list[str]:
        """As `intents`; the event loop goes on."""
        return _meant(await self._matcher.amatch(message))

    def needed(self, names: Iterable[str], intents: Collection[str]) -> set[str]:
        """The tools among these that a model needs for intents."""
        known = set(names)
        wanted = known & self._of(intents)
        return wanted | (known - self._of(None)) if wanted else known

    def _of(self, intents: Collection[str] | None) -> set[str]:
        """The tools of some intents, or of all."""
        if self._by_intent is None:
            return {intent.name for intent in self._matcher.registry if intents is None or intent.name in intents}
        return {tool for name, tools in self._by_intent.items() if intents is None or name in intents for tool in tools}


def _meant(result: MatchResult) -> list[str]:
    if result.intent is None:
        return [rival.intent for rival in result.rivals]
    return list(dict.fromkeys([result.intent, *(part.intent for part in result.parts)]))
