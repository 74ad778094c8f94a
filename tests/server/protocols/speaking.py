"""Shared by the tests of protocols: the bot, a client, and results to look for."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.result import Entity, Missing
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.server import create_app
from intentmatch.server.protocols.load import PROTOCOLS

KEY = "the right key"

REGISTRY = Registry(
    (
        Intent(
            "greet",
            (Utterance("hello", "en"), Utterance("hi there", "en"), Utterance("hallo", "de")),
            responses={"en": "Hello!", "de": "Hallo!"},
        ),
        Intent(
            "bye",
            (Utterance("goodbye", "en"), Utterance("see you later", "en"), Utterance("tschüss", "de")),
            metadata={"action": "smalltalk.bye"},
        ),
        Intent(
            "ride",
            (Utterance("a train to Berlin", "en"), Utterance("I want to take the train", "en")),
            responses={"": "A train it is."},
            metadata={"webhook": True},
            slots=(Slot("city", "list"), Slot("seats", "number"), Slot("day", "date")),
        ),
        Intent("pay", (Utterance("let me pay", "en"), Utterance("pay the bill", "en")), when=("checkout",)),
    )
)

BERLIN = Entity("city", "BER", "Berlin", 11, 17)
TWO = Entity("seats", 2, "two", 18, 21)
NO_DAY = Missing("day", "On which day?")


def client(bot: Matcher, **options: Any) -> TestClient:
    """A client that gets a 500 as a response, as real clients do."""
    return TestClient(create_app(bot, **{"protocols": list(PROTOCOLS), **options}), raise_server_exceptions=False)
