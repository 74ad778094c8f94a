"""A bot of opsdroid, configured as its users do: the parser `rasanlu`, and skills that wait for intents."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from unittest.mock import AsyncMock

from opsdroid.cli.utils import configure_lang
from opsdroid.core import OpsDroid
from opsdroid.events import Message
from opsdroid.parsers import rasanlu

SKILL = """
from opsdroid.matchers import match_rasanlu
from opsdroid.skill import Skill

class Talk(Skill):
    @match_rasanlu("order_status")
    async def status(self, message):
        await message.respond("I can look that up.")

    @match_rasanlu("nlu_fallback")
    async def fallback(self, message):
        ranking = message.rasanlu["intent_ranking"]
        await message.respond(f"{ranking[0]['name']} of {len(ranking)}")
"""


async def main(folder: str, url: str, key: str) -> None:
    Path(folder, "talk.py").write_text(SKILL, encoding="utf-8")
    parser = {"url": url, "token": key, "train": False}
    config = {
        "parsers": {"rasanlu": parser},
        "connectors": {"websocket": {}},
        "skills": {"talk": {"path": f"{folder}/talk.py"}},
    }
    configure_lang({})
    said = []
    with OpsDroid(config=config) as bot:
        bot.eventloop = asyncio.get_running_loop()
        await bot.load()
        await bot.train_parsers([])
        for text in ("wo bleibt mein Paket", "the price of tea in China", "hello", ""):
            connector = AsyncMock()
            await bot.parse(Message(text, user="me", target="here", connector=connector))
            said.append([call.args[0].text for call in connector.send.call_args_list])
    assert said == [["I can look that up."], ["nlu_fallback of 4"], [], []], said
    assert (await rasanlu.call_rasanlu("", parser))["intent"] == {"name": None, "confidence": 0.0}
    assert "NotAuthenticated" in await rasanlu.call_rasanlu("hello", {**parser, "token": "wrong"})
    print(f"opsdroid {version('opsdroid')}: version, skills by intent, fallback, empty text, a wrong token")


with tempfile.TemporaryDirectory() as temporary:
    asyncio.run(main(temporary, *sys.argv[1:]))
