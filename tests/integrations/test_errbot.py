"""The example for Errbot, in the framework's own test bot and in a terminal."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest

pytest.importorskip("errbot", reason="needs errbot")

from contracts.order_bot import EXAMPLES, NUMBERED
from errbot.backends import test as testing
from errbot.backends.base import Message

ERRBOT = EXAMPLES / "errbot"


@pytest.fixture(scope="module")
def bot() -> Iterator[testing.TestBot]:
    """Errbot with the plugin of the example and as few others as possible."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTMATCH_CACHE", "off")
        plugins = {"CORE_PLUGINS": ("Utils",)}
        running = testing.TestBot(extra_plugin_dir=str(ERRBOT / "shop"), loglevel=logging.ERROR, extra_config=plugins)
        running.start(timeout=60)  # for each message on its way up; two seconds are few on a busy machine
        yield running
        running.stop()


def in_group(bot: testing.TestBot, user: str, text: str) -> list[str]:
    """Send a message in a room, with the mentions in it; return the replies."""
    backend = bot.bot
    message = Message(text, frm=testing.TestOccupant(user, "room"), to=testing.TestRoom("room", bot=backend))
    backend.callback_message(message)
    mentioned = [backend.build_identifier(word[1:]) for word in text.split() if word.startswith("@")]
    if mentioned:
        backend.callback_mention(message, mentioned)
    replies = []
    while True:
        try:
            replies.append(bot.pop_message(block=False))
        except Empty:
            return replies


def test_message_without_prefix_is_answered_in_its_language(bot):
    assert bot.exec_command("hello") == "Hello!"
    assert bot.exec_command("guten Morgen") == "Hallo!"


def test_intent_named_like_a_command_runs_it(bot):
    assert bot.exec_command("!order status") == "Your order is on its way."
    assert bot.exec_command("wo ist meine Bestellung?") == "Your order is on its way."


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_ambiguous_message_is_asked_about(bot, answer):
    """A number is an answer here, although with a prefix it repeats a command."""
    assert bot.exec_command("my order") == NUMBERED
    assert bot.exec_command(answer) == "Your order is cancelled."


def test_missing_slot_is_asked_for_in_language_of_message(bot):
    assert bot.exec_command("regnet es?") == "In welcher Stadt?"
    assert bot.exec_command("Paris") == "In Paris scheint die Sonne."


def test_message_out_of_scope_is_answered_once(bot):
    """An empty message gets no reply."""
    bot.push_message("")
    assert bot.exec_command("sing a song") == "Sorry, I can help with orders and the weather."


def test_message_in_room_is_answered_if_it_mentions_the_bot(bot):
    """A pending question is not answered by another user."""
    assert in_group(bot, "anna", "hello") == []
    assert in_group(bot, "anna", "@Bernd hello") == []
    assert in_group(bot, "anna", "@Err my order") == [NUMBERED]
    assert in_group(bot, "bernd", "@Err 2") == ["Sorry, I can help with orders and the weather."]
    assert in_group(bot, "anna", "@Err 2") == ["Your order is cancelled."]


def test_configuration_starts_the_bot_in_a_terminal(tmp_path):
    """As the README of the example says."""
    environment = {**os.environ, "ERRBOT_DATA": str(tmp_path / "data"), "INTENTMATCH_CACHE": "off", "PYTHONUTF8": "1"}
    command = [Path(sys.executable).with_name("errbot"), "-c", ERRBOT / "config.py"]
    talk = "my order\n2\n"

    done = subprocess.run(
        command, input=talk, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False
    )

    assert "2. Cancel an order" in done.stdout, done.stderr
    assert "Your order is cancelled." in done.stdout
