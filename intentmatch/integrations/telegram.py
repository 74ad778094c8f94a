"""intentmatch in Telegram, with python-telegram-bot: `IntentRouter`. For aiogram there is `integrations.aiogram`."""

from __future__ import annotations

from typing import Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Routes

try:
    from telegram import CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, MaybeInaccessibleMessage, Update
    from telegram.ext import Application, CallbackQueryHandler, ContextTypes, MessageHandler, filters
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for python-telegram-bot", "telegram") from error

_SAID = filters.UpdateType.MESSAGE & (filters.TEXT | filters.CAPTION) & ~filters.COMMAND


class IntentRouter(Routes):
    """Answers what users write to an application, and the buttons that they press; not commands.

    A function gets what the callback of a handler gets, and the turn:

        @router.intent("order_status")
        async def order_status(update, context, turn):
            await update.effective_chat.send_message(f"Order {turn.slots['order']} is on its way.")

    Handlers that the application had before, in the group 0, go first. Those of later groups find the turn as
    `context.intentmatch`.
    """

    def __init__(self, app: Application[Any, Any, Any, Any, Any, Any], dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.add_handler(MessageHandler(_SAID, self._hear))
        app.add_handler(CallbackQueryHandler(self._press, pattern=dialogue.is_choice))

    async def _hear(self, update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        user, message = update.effective_user, update.message
        if user is not None and not user.is_bot:
            said = (message.text or message.caption).replace(f"@{context.bot.username}", "")
            await self._answer(update, context, said, _topic(message))

    async def _press(self, update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        query = update.callback_query
        await query.answer()
        await self._answer(update, context, _title(query), _topic(query.message), chosen=query.data)

    async def _answer(
        self,
        update: Update,
        context: ContextTypes.DEFAULT_TYPE,
        said: str,
        topic: int | None,
        *,
        chosen: str | None = None,
    ) -> None:
        chat, user = update.effective_chat, update.effective_user
        conversation = f"telegram:{context.bot.id}:{chat.id}:{topic or ''}:{user.id}"
        turn = await self.dialogue.atake(
            said, conversation, chosen=chosen, language=user.language_code, turn=vars(context)
        )
        if (handler := self.handler(turn)) is not None:
            await handler(update, context, turn)
        elif turn.reply is not None:
            # What a user said may be in the reply, and is no markup.
            await chat.send_message(turn.reply, message_thread_id=topic, parse_mode=None, reply_markup=_buttons(turn))


def _title(query: CallbackQuery) -> str:
    """What is on the button that was pressed; Telegram does not tell that of old messages."""
    markup = getattr(query.message, "reply_markup", None)
    buttons = [button for row in markup.inline_keyboard for button in row] if markup else []
    return next((button.text for button in buttons if button.callback_data == query.data), str(query.data))


def _topic(message: MaybeInaccessibleMessage) -> int | None:
    """The topic of a forum that a message is in; Telegram does not tell that of old ones."""
    return message.message_thread_id if getattr(message, "is_topic_message", None) else None


def _buttons(turn: Turn) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(choice.title, callback_data=choice.id)] for choice in turn.choices]
    return InlineKeyboardMarkup(rows) if rows else None
