"""A NeMo Guardrails bot that understands without a language model. README.md beside it says how to start and try it."""

import asyncio
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.embeddings.index import EmbeddingsIndex, IndexItem

from intentmatch import Dialogue, Matcher, Turn

HERE = Path(__file__).parent

dialogue = Dialogue(Matcher.load(HERE / "bot.yaml"))
# Who is talking, and what is known of their message: NeMo does not pass that on to searches and actions.
speaker: ContextVar[str] = ContextVar("speaker")
turn_state: ContextVar[dict[str, Any]] = ContextVar("turn_state")


async def take(text: str) -> Turn:
    """What to do about the message; it is recognised once."""
    return await dialogue.atake(text, speaker.get(), turn=turn_state.get())


class IntentIndex(EmbeddingsIndex):
    """Finds the intent of a message by bot.yaml, not by the examples in flows.co."""

    def __init__(self, **parameters: Any) -> None:
        """NeMo passes the parameters of config.yml; there are none."""

    async def add_items(self, items: list[IndexItem]) -> None:
        """The examples stay out."""

    async def search(self, text: str, max_results: int = 1, threshold: float | None = None) -> list[IndexItem]:
        """The intent, or none where the message is not understood; intentmatch has thresholds of its own."""
        turn = await take(text)
        name = "is unclear" if turn.asks else turn.intent
        return [IndexItem(text, meta={"intent": name.replace("_", " ")})] if name else []


async def reply(context: dict[str, Any]) -> str | None:
    """For flows: the response in bot.yaml, or the question that comes before."""
    return (await take(context["last_user_message"])).text


rails = LLMRails(RailsConfig.from_path(str(HERE / "config")))
rails.register_embedding_search_provider("intentmatch", IntentIndex)
rails.register_action(reply)


async def answer(history: list[dict[str, str]], user: str) -> str:
    """What the bot says to the last message of a conversation."""
    speaker.set(user)
    turn_state.set({})
    said: dict[str, str] = await rails.generate_async(messages=history)
    return said["content"]


async def main() -> None:
    """Talk to the bot in the terminal."""
    history: list[dict[str, str]] = []
    while text := await asyncio.to_thread(input, "> "):
        history.append({"role": "user", "content": text})
        said = await answer(history, "you")
        history.append({"role": "assistant", "content": said})
        print(said)


if __name__ == "__main__":
    asyncio.run(main())
