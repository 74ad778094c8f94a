"""intentmatch as a router of semantic-router, alone or in a `Chain` before a router that calls a language model."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from semantic_router import Route
from semantic_router.routers.base import BaseRouter

from intentmatch import Matcher, MatchResult


class IntentRouter(BaseRouter):
    """Router whose routes are the intents; intents that the matcher does not accept get the score 0."""

    def __init__(self, matcher: Matcher) -> None:
        routes = [
            Route(name=intent.name, description=intent.description, utterances=[one.text for one in intent.utterances])
            for intent in matcher.registry
        ]
        super().__init__(routes, confidence_threshold=0.01)
        self.matcher = matcher

    async def _scores(self, query: str) -> dict[str, float]:
        return (await self._scores_many([query]))[0]

    async def _scores_many(self, queries: Sequence[str]) -> list[dict[str, float]]:
        results = await asyncio.to_thread(self.matcher.match_many, queries)
        return [self._accepted(result) for result in results]

    def _accepted(self, result: MatchResult) -> dict[str, float]:
        meant = result.candidates[:1] if result.verdict == "matched" else result.rivals
        scores = {one.intent: one.score if one.confidence is None else one.confidence for one in meant}
        return {route.name: scores.get(route.name, 0.0) for route in self.routes}


router = IntentRouter(Matcher.load(Path(__file__).with_name("bot.yaml")))

if __name__ == "__main__":
    while True:
        try:
            text = input("> ")
        except EOFError:
            break
        choices = router(text, limit=None)  # one, several if ambiguous, or none
        print(" or ".join(choice.name for choice in choices) or "none of them")
