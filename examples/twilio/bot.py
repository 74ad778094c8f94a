"""A bot for SMS and WhatsApp that answers questions about orders. README.md says how to run it."""

from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from twilio.request_validator import RequestValidator
from twilio.twiml.messaging_response import MessagingResponse

from intentmatch import Dialogue, Matcher, Turn
from intentmatch.integrations.credentials import credential
from intentmatch.integrations.deliveries import Answers

# The URL configured in Twilio, which its signature covers; a server behind a proxy sees another URL.
WEBHOOK = credential("TWILIO_WEBHOOK", "take the URL of this bot as Twilio reaches it, such as that of ngrok")
signatures = RequestValidator(credential("TWILIO_AUTH_TOKEN", "see Account Info at https://console.twilio.com"))

dialogue = Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml")))
answers: Answers[Turn] = Answers()
app = FastAPI(title="A bot for SMS and WhatsApp")


async def signed(request: Request) -> dict[str, str]:
    """Return the form fields of a request, or answer 403 if its signature is not valid."""
    body = (await request.body()).decode(errors="replace")
    sent = dict(parse_qsl(body, keep_blank_values=True))
    if not signatures.validate(WEBHOOK, sent, request.headers.get("X-Twilio-Signature", "")):
        raise HTTPException(403, "This is not signed by Twilio.")
    return sent


@app.post("/message")
async def message(sent: Annotated[dict[str, str], Depends(signed)]) -> Response:
    """Answer one message."""
    # `From` is "whatsapp:+49..." or "+49...", so it identifies the user and the channel.
    conversation = f"twilio:{sent.get('To')}:{sent.get('From')}"
    # Twilio sends a message again if the response did not reach it, and then needs the same answer.
    turn = await answers.once(sent.get("MessageSid"), lambda: dialogue.atake(sent.get("Body"), conversation))
    answer = MessagingResponse()
    if (text := reply_to(turn)) is not None:
        answer.message(text)
    return Response(str(answer), media_type="text/xml")


def reply_to(turn: Turn) -> str | None:
    """Return the reply, or None for a picture without text. A real bot could act on `turn.intent` here."""
    if turn.reply is None and turn:
        return "Sorry, I did not understand that."
    return turn.text  # numbers the choices of a question, because there are no buttons
