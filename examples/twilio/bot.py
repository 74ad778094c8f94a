"""A bot for SMS and WhatsApp that answers what customers ask about their orders. README.md says how to run it."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from twilio.request_validator import RequestValidator
from twilio.twiml.messaging_response import MessagingResponse

from intentmatch import Dialogue, Matcher, Turn

# The address as Twilio knows it, for that is signed; what a server behind a proxy sees is another one.
WEBHOOK = os.environ["TWILIO_WEBHOOK"]
signatures = RequestValidator(os.environ["TWILIO_AUTH_TOKEN"])

dialogue = Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml")))
app = FastAPI(title="A bot for SMS and WhatsApp")


async def signed(request: Request) -> dict[str, str]:
    """What Twilio sends; whoever cannot sign it is turned away."""
    body = (await request.body()).decode(errors="replace")
    sent = dict(parse_qsl(body, keep_blank_values=True))
    if not signatures.validate(WEBHOOK, sent, request.headers.get("X-Twilio-Signature", "")):
        raise HTTPException(403, "This is not signed by Twilio.")
    return sent


@app.post("/message")
async def message(sent: Annotated[dict[str, str], Depends(signed)]) -> Response:
    """Answer one message."""
    # "whatsapp:+49..." or "+49...": who writes is in it, and through which channel.
    turn = await dialogue.atake(sent.get("Body"), f"twilio:{sent.get('To')}:{sent.get('From')}")
    answer = MessagingResponse()
    if (said := reply_to(turn)) is not None:
        answer.message(said)
    return Response(str(answer), media_type="text/xml")


def reply_to(turn: Turn) -> str | None:
    """What to say; nothing to a picture without a text. This is also where `turn.intent` could make the bot act."""
    if turn.reply is None and turn:
        return "Sorry, I did not understand that."
    return turn.text  # a question has its choices numbered, as there are no buttons
