"""`GET /v1/models`, which two protocols have: each reads its own keys of the answer."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from intentmatch.core.types import Encoder
from intentmatch.server.bots.bot import Bot
from intentmatch.server.protocols.host import ProtocolHost

# System One's clients need a date, OpenAI's a time, neither of which a registry or an encoder has.
_NO_DATE, _NO_TIME = "1970-01-01", 0


def model_name(bot: Bot) -> str:
    """Return what a bot is called as a model: its name, or `intentmatch` if there is only one."""
    return bot.name or "intentmatch"


async def model_list(host: ProtocolHost, request: Request) -> dict[str, Any]:
    """Return the models of a server: its encoder for OpenAI's clients, its bots for those of System One."""
    listed: dict[str, Any] = {}
    if "openai" in host.protocols and host.names_of_bots is None:
        encoder = (await host.bot(request)).matcher.encoder
        listed |= {"object": "list", "data": [encoder_model(encoder)]}
    if "systemone" in host.protocols:
        names = ["intentmatch", "jev-latest"] if host.names_of_bots is None else host.names_of_bots(request)
        listed["models"] = [_decision_model(name) for name in names]
    return listed


def encoder_model(encoder: Encoder) -> dict[str, Any]:
    """Return the entry of an encoder in OpenAI's form."""
    return {"id": encoder.name, "object": "model", "created": _NO_TIME, "owned_by": "intentmatch"}


def _decision_model(name: str) -> dict[str, str]:
    about = "Intents of a registry, or options by their text; any other name is this bot, too."
    return {"name": name, "description": about, "release_date": _NO_DATE}
