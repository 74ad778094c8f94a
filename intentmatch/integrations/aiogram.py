"""Adapter for Telegram with aiogram: `IntentRouter`. For python-telegram-bot, see `integrations.telegram`."""

from __future__ import annotations

from typing import Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Routes

try:
    from aiogram import Bot, F, Router
    from aiogram.dispatcher.event.handler import CallableObject
    from aiogram.types import CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, Message
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for aiogram", "aiogram") from error


class IntentRouter(Routes, Router):  # type: ignore[misc]  # aiogram is not installed where types are checked
    """A router that answers messages and pressed buttons, but not commands. Include it after all other routers.

    A function gets the message to answer and, by parameter name, `turn` and everything that aiogram provides:

        @router.intent("order_status")
        async def order_status(message, turn, event_from_user):
            await message.answer(f"{event_from_user.first_name}, order {turn.slots['order']} is on its way.")

    After a pressed button, the message is the bot's own question; the user is always `event_from_user`.
    """

    def __init__(self, dialogue: Dialogue, *, name: str | None = None) -> None:
        Routes.__init__(self, dialogue)
        Router.__init__(self, name=name)
        # Commands belong to other routers, also those that nobody knows.
        self.message(F.text | F.caption, ~F.text.startswith("/"))(self._on_message)
        self.callback_query(F.data.func(dialogue.is_choice))(self._on_button)

    async def _on_message(self, message: Message, bot: Bot, **data: Any) -> None:
        # Two bots in a group would answer each other for ever.
        if message.from_user is not None and not message.from_user.is_bot:
            text = (message.text or message.caption).replace(f"@{(await bot.me()).username}", "")
            await self._answer(message, text, bot=bot, **data)

    async def _on_button(self, query: CallbackQuery, **data: Any) -> None:
        # First: until then, Telegram shows the button as busy.
        await query.answer()
        await self._answer(query.message, _title(query), chosen=query.data, **data)

    async def _answer(self, message: Message, text: str, *, chosen: str | None = None, **data: Any) -> None:
        # Telegram delivers an update again if its webhook is not answered, or if it was not confirmed before a restart.
        with self._deliveries.once(f"{data['bot'].id}:{data['event_update'].update_id}") as is_new:
            if is_new:
                await self._answer_new(message, text, chosen, data)

    async def _answer_new(self, message: Message, text: str, chosen: str | None, data: dict[str, Any]) -> None:
        bot, user, topic = data["bot"], data["event_from_user"], data.get("event_thread_id")
        conversation = f"telegram:{bot.id}:{message.chat.id}:{topic or ''}:{user.id}"
        turn = await self.dialogue.atake(text, conversation, chosen=chosen, language=user.language_code)
        if (handler := self.handler(turn)) is not None:
            await CallableObject(handler).call(message, turn=turn, **data)
        elif turn.reply is not None:
            # The reply may quote the user, whose text must not be parsed as markup.
            await bot.send_message(
                message.chat.id, turn.reply, message_thread_id=topic, parse_mode=None, reply_markup=_buttons(turn)
            )


def _title(query: CallbackQuery) -> str:
    """Return the label of the pressed button, or its data if the message is too old for Telegram to include it."""
    markup = getattr(query.message, "reply_markup", None)
    buttons = [button for row in markup.inline_keyboard for button in row] if markup else []
    return next((button.text for button in buttons if button.callback_data == query.data), str(query.data))


def _buttons(turn: Turn) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(text=choice.title, callback_data=choice.id)] for choice in turn.choices]
    return InlineKeyboardMarkup(inline_keyboard=rows) if rows else None
