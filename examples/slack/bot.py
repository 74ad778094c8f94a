"""A Slack bot that answers questions about orders. README.md says how to run it."""

from pathlib import Path

from slack_bolt import App, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.credentials import credential
from intentmatch.integrations.slack import IntentRouter


def add_intents(app: App) -> None:
    """Register handlers for the intents of bot.yaml."""
    router = IntentRouter(app, Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))

    @router.intent("cancel_order")
    def cancel_order(say: Say, turn: Turn) -> None:
        # A real bot would cancel the order here. The reply comes from bot.yaml, in the language of the user.
        say(turn.reply or "")

    @router.fallback
    def not_understood(say: Say) -> None:
        say("Sorry, I did not understand that.")


if __name__ == "__main__":
    bot_token = credential(
        "SLACK_BOT_TOKEN", "install your app under OAuth & Permissions of https://api.slack.com/apps"
    )
    app_token = credential("SLACK_APP_TOKEN", "see App-Level Tokens of your app at https://api.slack.com/apps")
    app = App(token=bot_token)
    add_intents(app)
    SocketModeHandler(app, app_token).start()
