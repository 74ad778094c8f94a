"""The example for NeMo Guardrails, in the framework's own runtime and without a model."""

from __future__ import annotations

import asyncio
from types import ModuleType

import pytest

pytest.importorskip("nemoguardrails", reason="needs nemoguardrails")

from contracts.order_bot import NUMBERED, load_example


@pytest.fixture(scope="module")
def bot() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTMATCH_CACHE", "off")
        return load_example("nemoguardrails/bot.py")


class Conversation:
    """A conversation of one user with the bot."""

    def __init__(self, bot: ModuleType, user: str = "anna") -> None:
        self.bot = bot
        self.user = user
        self.history: list[dict[str, str]] = []

    async def say(self, text: str) -> str:
        """The bot's reply to a message."""
        self.history.append({"role": "user", "content": text})
        reply = await self.bot.answer(self.history, self.user)
        self.history.append({"role": "assistant", "content": reply})
        return reply


def replies(bot: ModuleType, *texts: str) -> list[str]:
    async def main() -> list[str]:
        conversation = Conversation(bot)
        return [await conversation.say(text) for text in texts]

    return asyncio.run(main())


def test_flows_answer_intents(bot):
    """With text of their own or with the response from bot.yaml, in the language of the message."""
    assert replies(bot, "where is my order?", "hello", "guten Morgen") == [
        "Your order is on its way.",
        "Hello!",
        "Hallo!",
    ]


def test_ambiguous_message_is_asked_about(bot):
    assert replies(bot, "my order", "2") == [NUMBERED, "Your order is cancelled."]


def test_missing_slot_is_asked_for_in_language_of_message(bot):
    assert replies(bot, "regnet es?", "Paris") == ["In welcher Stadt?", "In Paris scheint die Sonne."]


@pytest.mark.parametrize("text", ["sing a song", "🙂", ""])
def test_message_out_of_scope_has_a_flow(bot, text):
    """No language model is asked."""
    assert replies(bot, text) == ["Sorry, I can help with orders and the weather."]


def test_users_have_conversations_of_their_own(bot):
    """Although they write at the same time."""

    async def main() -> list[str]:
        anna, bernd = Conversation(bot), Conversation(bot, "bernd")
        await asyncio.gather(anna.say("my order"), bernd.say("regnet es?"))
        return await asyncio.gather(anna.say("2"), bernd.say("Paris"))

    assert asyncio.run(main()) == ["Your order is cancelled.", "In Paris scheint die Sonne."]


def test_example_runs_in_a_terminal(bot, monkeypatch, capsys):
    """Until the user enters nothing."""
    lines = iter(["hello", "my order", "1", ""])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))

    asyncio.run(bot.main())

    assert capsys.readouterr().out == f"Hello!\n{NUMBERED}\nYour order is on its way.\n"
