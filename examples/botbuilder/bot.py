"""A Bot Framework bot that recognises intents without LUIS. README.md beside it says how to start and try it."""

import os
from pathlib import Path

from aiohttp import web
from botbuilder.core import ActivityHandler, TurnContext
from botbuilder.integration.aiohttp import CloudAdapter, ConfigurationBotFrameworkAuthentication

from intentmatch import Dialogue, Matcher
from intentmatch.integrations.botbuilder import IntentRecognizer


class Config:
    """Credentials of the bot in Azure; without an id, anyone can send messages to it."""

    APP_ID = os.environ.get("MICROSOFT_APP_ID", "")
    APP_PASSWORD = os.environ.get("MICROSOFT_APP_PASSWORD", "")
    APP_TYPE = os.environ.get("MICROSOFT_APP_TYPE", "MultiTenant")
    APP_TENANTID = os.environ.get("MICROSOFT_APP_TENANT_ID", "")


class Bot(ActivityHandler):
    """Answer messages by intent."""

    def __init__(self, recognizer: IntentRecognizer) -> None:
        self.recognizer = recognizer

    async def on_message_activity(self, turn_context: TurnContext) -> None:
        """Answer one intent in code, other intents with the reply of the recognizer, the rest with a fallback."""
        result = await self.recognizer.recognize(turn_context)
        if result.get_top_scoring_intent().intent == "order_status":
            await turn_context.send_activity("Your order is on its way.")
        elif "reply" in result.properties:
            await turn_context.send_activity(result.properties["reply"])
        elif result.text:
            await turn_context.send_activity("Sorry, I can help with orders and the weather.")


adapter = CloudAdapter(ConfigurationBotFrameworkAuthentication(Config()))
bot = Bot(IntentRecognizer(Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml")))))


async def messages(request: web.Request) -> web.Response | None:
    """Handle the request of a channel with one message."""
    return await adapter.process(request, bot)


app = web.Application()
app.router.add_post("/api/messages", messages)

if __name__ == "__main__":
    web.run_app(app, host="localhost", port=int(os.environ.get("PORT", "3978")))
