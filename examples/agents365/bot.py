"""An agent for Microsoft Teams, Copilot, web chats and more. README.md beside it says how to start and try it."""

import os
from pathlib import Path

from aiohttp import web
from microsoft_agents.activity import load_configuration_from_env
from microsoft_agents.authentication.msal import MsalConnectionManager
from microsoft_agents.hosting.aiohttp import CloudAdapter, jwt_authorization_middleware, start_agent_process
from microsoft_agents.hosting.core import AgentApplication, MemoryStorage, TurnContext, TurnState

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.agents365 import IntentRouter
from intentmatch.integrations.credentials import credential

if not any(name.startswith("CONNECTIONS__") for name in os.environ):
    credential(
        "CONNECTIONS__SERVICE_CONNECTION__SETTINGS__CLIENTID",
        "create an Azure Bot at https://portal.azure.com and see its app registration; or, to try the agent on your "
        "own machine, export CONNECTIONS__SERVICE_CONNECTION__SETTINGS__ANONYMOUS_ALLOWED=true",
    )
connections = MsalConnectionManager(**load_configuration_from_env(os.environ))
adapter = CloudAdapter(connection_manager=connections)
agent = AgentApplication[TurnState](storage=MemoryStorage(), connection_manager=connections)
router = IntentRouter(agent, Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml"))))


@router.intent("order_status")
async def order_status(context: TurnContext, state: TurnState, turn: Turn) -> None:
    """Answer this intent in code; intents without a function get their response from bot.yaml."""
    await context.send_activity("Your order is on its way.")


@router.fallback
async def fallback(context: TurnContext, state: TurnState, turn: Turn) -> None:
    """Answer messages that are out of scope."""
    await context.send_activity("Sorry, I can help with orders and the weather.")


async def messages(request: web.Request) -> web.StreamResponse | None:
    """Handle the request of a channel with one message."""
    return await start_agent_process(request, agent, adapter)


app = web.Application(middlewares=[jwt_authorization_middleware])
app["agent_configuration"] = connections.get_default_connection_configuration()
app.router.add_post("/api/messages", messages)

if __name__ == "__main__":
    web.run_app(app, host="localhost", port=int(os.environ.get("PORT", "3978")))
