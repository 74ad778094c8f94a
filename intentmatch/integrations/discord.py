"""Adapter for Discord with discord.py: `IntentRouter`."""

from __future__ import annotations

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Routes

try:
    from discord import AllowedMentions, Guild, Interaction, InteractionType, Message, User
    from discord.ext import commands
    from discord.ui import Button, View
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for Discord", "discord") from error

# Discord refuses a message with a longer label.
_LONGEST_BUTTON = 80
_NO_MENTIONS = AllowedMentions.none()


class IntentRouter(Routes):
    """Answers messages that a bot receives, in private or in channels, and pressed buttons.

    A function gets the turn and the message or, after a button, the interaction, which is already acknowledged:

        @router.intent("order_status")
        async def order_status(event, turn):
            await event.channel.send(f"Order {turn.slots['order']} is on its way.")

    Commands of the bot are ignored.
    """

    def __init__(self, bot: commands.Bot, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        self._bot = bot
        bot.add_listener(self._on_message, "on_message")
        bot.add_listener(self._on_interaction, "on_interaction")

    async def _on_message(self, message: Message) -> None:
        # Bots would answer each other for ever, and commands are answered by the framework.
        if message.author.bot or message.is_system() or (await self._bot.get_context(message)).valid:
            return
        text = message.content.replace(self._bot.user.mention, "")
        await self._answer(message, message.author, text, _language(message.guild))

    async def _on_interaction(self, interaction: Interaction) -> None:
        chosen = (interaction.data or {}).get("custom_id")
        if interaction.type is InteractionType.component and self.dialogue.is_choice(chosen):
            # Discord calls an interaction failed that is not acknowledged within three seconds.
            await interaction.response.defer()
            await self._answer(interaction, interaction.user, _title(interaction), str(interaction.locale), chosen)

    async def _answer(
        self, event: Message | Interaction, user: User, text: str, language: str | None, chosen: str | None = None
    ) -> None:
        # Discord may deliver an event again after it reconnected.
        with self._deliveries.once(str(event.id)) as is_new:
            if is_new:
                await self._answer_new(event, user, text, language, chosen)

    async def _answer_new(
        self, event: Message | Interaction, user: User, text: str, language: str | None, chosen: str | None
    ) -> None:
        conversation = f"discord:{event.channel.id}:{user.id}"
        turn = await self.dialogue.atake(text, conversation, chosen=chosen, language=language)
        if (handler := self.handler(turn)) is not None:
            await handler(event, turn)
        elif turn.reply is not None:
            # The reply may quote the user, whose text must not mention everyone.
            await event.channel.send(turn.reply, view=_buttons(turn), allowed_mentions=_NO_MENTIONS)


def _language(guild: Guild | None) -> str | None:
    """Return the locale of a community; None for other guilds, for which Discord always reports English."""
    return str(guild.preferred_locale) if guild is not None and "COMMUNITY" in guild.features else None


def _title(interaction: Interaction) -> str:
    """Return the label of the pressed button."""
    buttons = [button for row in interaction.message.components for button in row.children]
    return str(next(button.label for button in buttons if button.custom_id == interaction.data["custom_id"]))


def _buttons(turn: Turn) -> View | None:
    if not turn.choices:
        return None
    view = View()
    for choice in turn.choices:
        view.add_item(Button(label=choice.title[:_LONGEST_BUTTON], custom_id=choice.id))
    view.stop()  # the router listens to the buttons itself, so discord.py need not keep the view
    return view
