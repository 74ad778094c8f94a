"""Talk to the bot in the terminal, through its websocket."""

import asyncio
import sys

import aiohttp


async def main(url: str) -> None:
    """Send each line of input and print the answer, until an empty line."""
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{url}/connector/websocket") as made:
            socket = (await made.json(content_type=None))["socket"]
        async with session.ws_connect(f"{url}/connector/websocket/{socket}") as chat:
            while text := await asyncio.to_thread(input, "> "):
                await chat.send_json({"message": text, "user": "you", "socket": socket})
                print(await chat.receive_str())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"))
