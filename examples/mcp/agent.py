"""Use the tools of `intentmatch mcp` without a language model: match a message, add it, match it again."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

INTENTS = os.environ.get("INTENTS", str(Path(__file__).with_name("bot.yaml")))
SERVER = StdioServerParameters(
    command=sys.executable, args=["-m", "intentmatch", "mcp", INTENTS, "--allow-edits"], env=dict(os.environ)
)


async def main() -> None:
    """Call the tools one after the other."""
    async with Client(stdio_client(SERVER)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, arguments)
            if answer.is_error:
                sys.exit(answer.content[0].text)
            return answer.structured_content

        for intent in (await call("list_intents"))["intents"]:
            print(f"{intent['name']}: {intent['description']}")

        message = "has it left your warehouse"
        print(f"{message}? {(await call('match_intent', utterance=message))['explanation']}")

        addition = {"intent": "order_status", "utterances": [message], "language": "en"}
        preview = await call("add_utterances", **addition)
        print(preview["diff"])
        if input("Write this? [y/N] ") == "y":
            await call("add_utterances", **addition, confirm=preview["confirm"])
            print(f"{message}? {(await call('match_intent', utterance=message))['explanation']}")


if __name__ == "__main__":
    asyncio.run(main())
