"""A Discord bot that answers questions about orders. README.md says how to run it."""

from pathlib import Path

import discord
from discord.ext import commands

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.credentials import credential
from intentmatch.integrations.discord import IntentRouter


def add_intents(bot: commands.Bot) -> None:
    """Register handlers for the intents of bot.yaml."""
    router = IntentRouter(bot, Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))

    @router.intent("cancel_order")
    async def cancel_order(event: discord.Message | discord.Interaction, turn: Turn) -> None:
        # A real bot would cancel the order here. The reply comes from bot.yaml, in the language of the user.
        await event.channel.send(turn.reply)

    @router.fallback
    async def not_understood(event: discord.Message | discord.Interaction, turn: Turn) -> None:
        await event.channel.send("Sorry, I did not understand that.")


if __name__ == "__main__":
    token = credential("DISCORD_TOKEN", "create a bot at https://discord.com/developers/applications and copy it")
    # With Discord's default "intents" the bot reads direct messages and messages that mention it.
    # It never mentions anyone, even if it repeats text of a user.
    nobody = discord.AllowedMentions.none()
    bot = commands.Bot(command_prefix="!", intents=discord.Intents.default(), allowed_mentions=nobody)
    add_intents(bot)
    bot.run(token)
