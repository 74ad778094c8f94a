"""A Discord bot that answers what customers ask about their orders. README.md says how to run it."""

import os
from pathlib import Path

import discord
from discord.ext import commands

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.discord import IntentRouter


def add_intents(bot: commands.Bot) -> None:
    """Answer the intents of bot.yaml."""
    router = IntentRouter(bot, Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))

    @router.intent("cancel_order")
    async def cancel_order(event: discord.Message | discord.Interaction, turn: Turn) -> None:
        # This is where the shop would be told. What to say is in bot.yaml, in the language of the user.
        await event.channel.send(turn.reply)

    @router.fallback
    async def not_understood(event: discord.Message | discord.Interaction, turn: Turn) -> None:
        await event.channel.send("Sorry, I did not understand that.")


if __name__ == "__main__":
    # Of Discord's own "intents", the default ones: the bot reads direct messages, and those that mention it.
    # It mentions nobody, whatever users make it repeat.
    nobody = discord.AllowedMentions.none()
    bot = commands.Bot(command_prefix="!", intents=discord.Intents.default(), allowed_mentions=nobody)
    add_intents(bot)
    bot.run(os.environ["DISCORD_TOKEN"])
