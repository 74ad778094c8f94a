"""The example for NeMo Guardrails holds conversations, through the framework's own runtime and without a model."""

from __future__ import annotations

import asyncio
from types import ModuleType

import pytest

pytest.importorskip("nemoguardrails", reason="needs nemoguardrails")

from chats import NUMBERED, example


@pytest.fixture(scope="module")
def bot() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTMATCH_CACHE", "off")
        return example("nemoguardrails/bot.py")


class Talk:
    """A conversation of one user with the bot."""

    def __init__(self, bot: ModuleType, user: str = "anna") -> None:
        self.bot = bot
        self.user = user
        self.history: list[dict[str, str]] = []

    async def say(self, text: str) -> str:
        """What the bot says to that."""
        self.history.append({"role": "user", "content": text})
        said = await self.bot.answer(self.history, self.user)
        self.history.append({"role": "assistant", "content": said})
        return said


def conversation(bot: ModuleType, *texts: str) -> list[str]:
    async def main() -> list[str]:
        talk = Talk(bot)
        return [await talk.say(text) for text in texts]

    return asyncio.run(main())


def test_flows_answer_intents(bot):
    """By themselves, or with what bot.yaml says, in the language of the message."""
    assert conversation(bot, "where is my order?", "hello", "guten Morgen") == [
        "Your order is on its way.",
        "Hello!",
        "Hallo!",
    ]


def test_a_doubt_is_asked_about(bot):
    """And the answer is understood."""
    assert conversation(bot, "my order", "2") == [NUMBERED, "Your order is cancelled."]


def test_a_slot_is_asked_for(bot):
    """In the language of the message."""
    assert conversation(bot, "regnet es?", "Paris") == ["In welcher Stadt?", "In Paris scheint die Sonne."]


@pytest.mark.parametrize("text", ["sing a song", "🙂", ""])
def test_what_is_not_understood_has_a_flow(bot, text):
    """No language model is asked to make something of it."""
    assert conversation(bot, text) == ["Sorry, I can help with orders and the weather."]


def test_users_do_not_answer_for_each_other(bot):
    """Though they talk at the same time."""

    async def main() -> list[str]:
        anna, bernd = Talk(bot), Talk(bot, "bernd")
        await asyncio.gather(anna.say("my order"), bernd.say("regnet es?"))
        return await asyncio.gather(anna.say("2"), bernd.say("Paris"))

    assert asyncio.run(main()) == ["Your order is cancelled.", "In Paris scheint die Sonne."]


def test_it_talks_in_the_terminal(bot, monkeypatch, capsys):
    """Until there is nothing more to say."""
    lines = iter(["hello", "my order", "1", ""])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))

    asyncio.run(bot.main())

    assert capsys.readouterr().out == f"Hello!\n{NUMBERED}\nYour order is on its way.\n"
