"""What the tests of the chat frameworks share: one small bot, whatever it is talked to through."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from fakes import WordHashEncoder

from intentmatch import Dialogue, Intent, Matcher, Registry, Slot, Utterance
from intentmatch.core.types import Kind, Vectors

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def lines(language: str, *texts: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


STATUS = Intent(
    "order_status",
    (*lines("en", "where is my order", "track my order"), *lines("de", "wo bleibt meine bestellung")),
    titles={"en": "Where is my order?", "de": "Wo ist meine Bestellung?"},
    responses={"en": "On its way.", "de": "Unterwegs."},
)
CANCEL = Intent(
    "cancel_order",
    (*lines("en", "cancel my order", "stop all my orders"), *lines("de", "storniere meine bestellung")),
    titles={"en": "Cancel an order", "de": "Bestellung stornieren"},
    responses={"en": "Cancelled.", "de": "Storniert."},
)
NAME = Intent(
    "tell_name",
    lines("en", "take down my name", "remember my name"),
    responses={"en": "Hello, {name}!"},
    slots=(Slot("name", "any", required=True, questions={"en": "What is your name?"}),),
)
# Nothing of it tells the language.
NUMBER = Intent(
    "number",
    (Utterance("42 7"),),
    responses={"en": "A number.", "de": "Eine Zahl."},
)

DID_YOU_MEAN = "Did you mean:"
TITLES = ["Where is my order?", "Cancel an order", "None of these"]
NUMBERED = "Did you mean:\n1. Where is my order?\n2. Cancel an order\n3. None of these"
TOO_LATE = "That question is over"


class GatedEncoder(WordHashEncoder):
    """One that encodes nothing while its gate is closed. Who closes it and blocks what would open it is in for it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """As the other, behind the gate."""
        if not self.gate.wait(10):
            raise TimeoutError("the gate stayed closed")
        return super().encode(texts, kind=kind)

    def closed_for_a_moment(self) -> None:
        """Closes the gate until the running event loop gets to open it."""
        self.gate.clear()
        asyncio.get_running_loop().call_later(0.05, self.gate.set)


def dialogue(encoder: WordHashEncoder | None = None) -> Dialogue:
    """A dialogue about orders: "my order" is ambiguous, and `tell_name` asks for a name."""
    registry = Registry((STATUS, CANCEL, NAME, NUMBER))
    encoder = encoder or WordHashEncoder()
    return Dialogue(Matcher.load(registry, encoder=encoder, threshold=0.4, margin=0.15, cache="off"))


def example(path: str) -> ModuleType:
    """The module of an example, as `slack/bot.py`."""
    name = "example_" + path.removesuffix(".py").replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
