"""Messages in languages that a bot does not have, from end to end: their language, and the language of the reply."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch import Dialogue, Matcher
from intentmatch.server import create_app

PLAIN_BOT = Path(__file__).parents[1] / "examples" / "plain" / "bot.py"

INTENTS = """\
version: 1
intents:
  order_status:
    response: {de: "Bestellnummer?", es: "¿Número del pedido?", en: Order number?, fr: "Numéro ?", sv: Nummer?}
    utterances:
      en: [where is my order, track my parcel]
      de: [wo bleibt meine Bestellung, wo ist mein Paket]
      fr: [où est ma commande, où est mon colis]
      es: [dónde está mi pedido, dónde está mi paquete]
  order_cancel:
    response: {de: Storniert., en: Cancelled., fr: "Annulée."}
    utterances:
      en: [cancel my order, I want to cancel my purchase]
      de: [storniere meine Bestellung, ich möchte den Kauf stornieren]
      fr: [annule ma commande, je veux annuler mon achat]
      es: [cancela mi pedido, quiero cancelar mi compra]
  opening_hours:
    response: {de: Von 9 bis 18 Uhr., fr: De 9 h à 18 h.}
    utterances:
      en: [when are you open, what are your opening hours]
      de: [wann habt ihr geöffnet, wie sind eure Öffnungszeiten]
      fr: [quand êtes-vous ouverts, quels sont vos horaires]
      es: [cuándo abren, cuál es su horario]
"""

MESSAGES = [
    # the language's own response
    ("var är mitt paket någonstans?", "sv", "Nummer?"),
    # English
    ("де моє замовлення зараз?", "uk", "Order number?"),
    ("vull cancel·lar la meva comanda", "ca", "Cancelled."),
    ("quero cancelar o meu pedido, por favor", "pt", "Cancelled."),
    # the first response, where there is none in English
    ("när har ni öppet på lördagar?", "sv", "Von 9 bis 18 Uhr."),
]
"""Message, its language, and the reply."""


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    folder = tmp_path_factory.mktemp("intents")
    (folder / "shop.yaml").write_text(INTENTS, encoding="utf-8")
    return Matcher.load(folder, threshold=0.2, margin=0.0, cache="off")


@pytest.mark.parametrize(("message", "language", "reply"), MESSAGES)
def test_reply_falls_back_by_the_stated_rule(bot: Matcher, message: str, language: str, reply: str) -> None:
    result = bot.match(message)

    assert (result.language, result.response) == (language, reply)


@pytest.mark.parametrize(("message", "language", "reply"), MESSAGES)
def test_dialogue_replies_as_the_matcher_does(bot: Matcher, message: str, language: str, reply: str) -> None:
    turn = Dialogue(bot).take(message, "anna")

    assert (turn.language, turn.reply) == (language, reply)


def test_server_and_matcher_agree(bot: Matcher) -> None:
    with TestClient(create_app(bot)) as client:
        answers = [client.post("/match", json={"text": message}).json() for message, _, _ in MESSAGES]

    assert [(answer["language"], answer["response"]) for answer in answers] == [one[1:] for one in MESSAGES]


def test_chat_bot_replies_in_english_to_a_language_that_it_lacks() -> None:
    """The example in the terminal has English and German, and asks for the number of the order."""
    done = subprocess.run(
        [sys.executable, PLAIN_BOT], input="var är min beställning någonstans?\n",
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert done.stdout.split("you> ")[-2].splitlines() == ["bot> What is the number of your order?"]


@pytest.mark.parametrize(
    ("message", "language"),
    [("ok", "en"), ("no", "es"), ("yes", "en"), ("nein", "de"), ("oui", "fr"), ("ja bitte", "de"),
     ("nice", "en"), ("merci", "fr"), ("danke", "de"), ("gracias", "es"), ("por favor", "es")],
)  # fmt: skip
def test_short_message_keeps_a_language_of_the_bot(bot: Matcher, message: str, language: str) -> None:
    assert bot.match(message).language == language


@pytest.mark.parametrize("message", ["ja", "ja ja", "si", "no no", "hm", "lol", "haha", "da", "k", "super", "mal"])
def test_short_ambiguous_message_is_not_foreign(bot: Matcher, message: str) -> None:
    assert bot.match(message).language in {"de", "en", "es", "fr"}
