"""A Telegram bot that answers questions about orders. README.md says how to run it."""

import asyncio
from pathlib import Path

from aiogram import Bot, Dispatcher
from aiogram.types import Message

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.aiogram import IntentRouter
from intentmatch.integrations.credentials import credential


def intents() -> IntentRouter:
    """Return a router for the intents of bot.yaml."""
    router = IntentRouter(Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))

    @router.intent("cancel_order")
    async def cancel_order(message: Message, turn: Turn) -> None:
        # A real bot would cancel the order here. The reply comes from bot.yaml, in the language of the user.
        await message.answer(turn.reply or "")

    @router.fallback
    async def not_understood(message: Message) -> None:
        await message.answer("Sorry, I did not understand that.")

    return router


if __name__ == "__main__":
    token = credential("TELEGRAM_TOKEN", "write /newbot to https://t.me/BotFather")
    dispatcher = Dispatcher()
    dispatcher.include_router(intents())
    asyncio.run(dispatcher.start_polling(Bot(token)))
