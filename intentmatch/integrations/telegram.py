"""Adapter for Telegram with python-telegram-bot: `IntentRouter`. For aiogram, see `integrations.aiogram`."""

from __future__ import annotations

from typing import Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Routes

try:
    from telegram import CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, MaybeInaccessibleMessage, Update
    from telegram.ext import Application, CallbackQueryHandler, ContextTypes, MessageHandler, filters
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for python-telegram-bot", "telegram") from error

_MESSAGES = filters.UpdateType.MESSAGE & (filters.TEXT | filters.CAPTION) & ~filters.COMMAND


class IntentRouter(Routes):
    """Answers messages and pressed buttons in an application, but not commands.

    A function gets the arguments of a handler's callback, and the turn:

        @router.intent("order_status")
        async def order_status(update, context, turn):
            await update.effective_chat.send_message(f"Order {turn.slots['order']} is on its way.")

    Handlers that were added before, in group 0, go first. Handlers of later groups find the turn as
    `context.intentmatch`.
    """

    def __init__(self, app: Application[Any, Any, Any, Any, Any, Any], dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.add_handler(MessageHandler(_MESSAGES, self._on_message))
        app.add_handler(CallbackQueryHandler(self._on_button, pattern=dialogue.is_choice))

    async def _on_message(self, update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        user, message = update.effective_user, update.message
        # Two bots in a group would answer each other for ever.
        if user is not None and not user.is_bot:
            text = (message.text or message.caption).replace(f"@{context.bot.username}", "")
            await self._answer(update, context, text, _topic(message))

    async def _on_button(self, update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        query = update.callback_query
        # First: until then, Telegram shows the button as busy.
        await query.answer()
        await self._answer(update, context, _title(query), _topic(query.message), chosen=query.data)

    async def _answer(
        self,
        update: Update,
        context: ContextTypes.DEFAULT_TYPE,
        text: str,
        topic: int | None,
        *,
        chosen: str | None = None,
    ) -> None:
        # Telegram delivers an update again if its webhook is not answered, or if it was not confirmed before a restart.
        with self._deliveries.once(f"{context.bot.id}:{update.update_id}") as is_new:
            if is_new:
                await self._answer_new(update, context, text, topic, chosen)

    async def _answer_new(
        self, update: Update, context: ContextTypes.DEFAULT_TYPE, text: str, topic: int | None, chosen: str | None
    ) -> None:
        chat, user = update.effective_chat, update.effective_user
        conversation = f"telegram:{context.bot.id}:{chat.id}:{topic or ''}:{user.id}"
        turn = await self.dialogue.atake(
            text, conversation, chosen=chosen, language=user.language_code, turn=vars(context)
        )
        if (handler := self.handler(turn)) is not None:
            await handler(update, context, turn)
        elif turn.reply is not None:
            # The reply may quote the user, whose text must not be parsed as markup.
            await chat.send_message(turn.reply, message_thread_id=topic, parse_mode=None, reply_markup=_buttons(turn))


def _title(query: CallbackQuery) -> str:
    """Return the label of the pressed button, or its data if the message is too old for Telegram to include it."""
    markup = getattr(query.message, "reply_markup", None)
    buttons = [button for row in markup.inline_keyboard for button in row] if markup else []
    return next((button.text for button in buttons if button.callback_data == query.data), str(query.data))


def _topic(message: MaybeInaccessibleMessage) -> int | None:
    """Return the forum topic of a message; None outside of topics and for messages too old to tell."""
    return message.message_thread_id if getattr(message, "is_topic_message", None) else None


def _buttons(turn: Turn) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(choice.title, callback_data=choice.id)] for choice in turn.choices]
    return InlineKeyboardMarkup(rows) if rows else None
