"""A Telegram bot that answers questions about orders. README.md says how to run it."""

from pathlib import Path
from typing import Any

from telegram import Update
from telegram.ext import Application

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.credentials import credential
from intentmatch.integrations.telegram import IntentRouter


def add_intents(app: Application) -> None:
    """Register handlers for the intents of bot.yaml."""
    router = IntentRouter(app, Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))

    @router.intent("cancel_order")
    async def cancel_order(update: Update, context: Any, turn: Turn) -> None:
        # A real bot would cancel the order here. The reply comes from bot.yaml, in the language of the user.
        await update.effective_chat.send_message(turn.reply or "")

    @router.fallback
    async def not_understood(update: Update, context: Any, turn: Turn) -> None:
        await update.effective_chat.send_message("Sorry, I did not understand that.")


if __name__ == "__main__":
    token = credential("TELEGRAM_TOKEN", "write /newbot to https://t.me/BotFather")
    app = Application.builder().token(token).build()
    add_intents(app)
    app.run_polling()
