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
# The current user and the state of their turn: NeMo does not pass these to searches and actions.
speaker: ContextVar[str] = ContextVar("speaker")
turn_state: ContextVar[dict[str, Any]] = ContextVar("turn_state")


async def take(text: str) -> Turn:
    """Return the turn of the message, which is matched only once."""
    return await dialogue.atake(text, speaker.get(), turn=turn_state.get())


class IntentIndex(EmbeddingsIndex):
    """Find the intent of a message with bot.yaml, not with the examples in flows.co."""

    def __init__(self, **parameters: Any) -> None:
        """Ignore the parameters of config.yml, which has none."""

    async def add_items(self, items: list[IndexItem]) -> None:
        """Ignore the examples of flows.co."""

    async def search(self, text: str, max_results: int = 1, threshold: float | None = None) -> list[IndexItem]:
        """Return the intent, or nothing for an out-of-scope message; intentmatch applies its own thresholds."""
        turn = await take(text)
        name = "is unclear" if turn.asks else turn.intent
        return [IndexItem(text, meta={"intent": name.replace("_", " ")})] if name else []


async def reply(context: dict[str, Any]) -> str | None:
    """Return the response of bot.yaml, or a question to the user; flows call this action."""
    return (await take(context["last_user_message"])).text


rails = LLMRails(RailsConfig.from_path(str(HERE / "config")))
rails.register_embedding_search_provider("intentmatch", IntentIndex)
rails.register_action(reply)


async def answer(history: list[dict[str, str]], user: str) -> str:
    """Return the bot's reply to the last message of a conversation."""
    speaker.set(user)
    turn_state.set({})
    reply_message: dict[str, str] = await rails.generate_async(messages=history)
    return reply_message["content"]


async def main() -> None:
    """Talk to the bot in the terminal."""
    history: list[dict[str, str]] = []
    while text := await asyncio.to_thread(input, "> "):
        history.append({"role": "user", "content": text})
        bot_reply = await answer(history, "you")
        history.append({"role": "assistant", "content": bot_reply})
        print(bot_reply)


if __name__ == "__main__":
    asyncio.run(main())
