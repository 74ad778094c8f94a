"""A LlamaIndex selector that chooses query engines without a call of a language model."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.llms import MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool, ToolMetadata

from intentmatch import Matcher


class IntentSelector(BaseSelector):
    """Select the choice named after the intent, several choices if ambiguous, or `fallback` if out of scope."""

    def __init__(self, matcher: Matcher, fallback: str) -> None:
        self._matcher = matcher
        self._fallback = fallback

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        result = self._matcher.match(query.query_str)
        meant = [result.intent] if result.intent else [rival.intent for rival in result.rivals]
        found = [number for number, choice in enumerate(choices) if choice.name in meant]
        if not found:
            found = [number for number, choice in enumerate(choices) if choice.name == self._fallback]
        return SelectorResult(selections=[SingleSelection(index=one, reason=result.explain()) for one in found])

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return await asyncio.to_thread(self._select, choices, query)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        pass


class Answer(CustomQueryEngine):
    """Stand-in for the query engine of an index."""

    text: str

    def custom_query(self, query_str: str) -> str:
        """Give the same answer to every question."""
        return self.text


ENGINES = {
    "order_status": Answer(text="It is on its way."),
    "order_cancel": Answer(text="It is cancelled."),
    "everything": Answer(text="I shall look into the handbook."),
}

bot = RouterQueryEngine(
    selector=IntentSelector(Matcher.load(Path(__file__).with_name("bot.yaml")), fallback="everything"),
    query_engine_tools=[QueryEngineTool.from_defaults(engine, name=name) for name, engine in ENGINES.items()],
    llm=MockLLM(),  # replace it with yours: it combines the answers to an ambiguous question
)

if __name__ == "__main__":
    while True:
        try:
            text = input("> ")
        except EOFError:
            break
        print(bot.query(text))
