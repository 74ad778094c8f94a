"""A chatbot as a FastAPI app with a matcher.

Run it, then talk to it:

    pip install "intentmatch[server]"
    uvicorn --app-dir examples fastapi_bot:app
    curl -s localhost:8000/chat -H 'Content-Type: application/json' -d '{"text": "wo bleibt mein Paket?"}'

It answers with the `response` of the intent. It reads the folder `intents` beside `examples`, or the folder in the
environment variable INTENTMATCH_INTENTS.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field

from intentmatch import Matcher, MatchResult

FALLBACK = "Sorry, I did not understand that. Could you say it in other words?"


class Message(BaseModel):
    """Request body: a message of the user."""

    text: str = Field(max_length=2000)


class Reply(BaseModel):
    """Response body: the reply of the bot."""

    reply: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the matcher once, before the first message."""
    intents = os.environ.get("INTENTMATCH_INTENTS") or Path(__file__).resolve().parent.parent / "intents"
    app.state.matcher = await asyncio.to_thread(Matcher.load, intents)
    yield


app = FastAPI(title="A bot", lifespan=lifespan)


@app.post("/chat")
async def chat(message: Message, request: Request) -> Reply:
    """Answer one message."""
    matcher: Matcher = request.app.state.matcher
    # amatch runs in a thread, so the app can answer other users at the same time.
    return Reply(reply=reply_to(await matcher.amatch(message.text)))


def reply_to(result: MatchResult) -> str:
    """Return the reply to a result, for each of the three verdicts."""
    if result.verdict == "matched":
        # Some intents have no response, because the code of a bot acts on them.
        return result.response or f"All right: {result.candidates[0].title or result.intent}."
    if result.verdict == "ambiguous":
        titles = [rival.title or rival.intent for rival in result.rivals]
        return f"Did you mean {' or '.join(f'“{title}”' for title in titles)}?"
    return FALLBACK
