"""The bot that every chat adapter is tested with: a few intents about orders, and an encoder that a test can stop."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from fakes import WordHashEncoder

from intentmatch import Dialogue, Intent, Matcher, Registry, Slot, Utterance
from intentmatch.core.types import Kind, Vectors

T = TypeVar("T")
EXAMPLES = Path(__file__).parents[2] / "examples"


def utterances(language: str, *texts: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


STATUS = Intent(
    "order_status",
    (*utterances("en", "where is my order", "track my order"), *utterances("de", "wo bleibt meine bestellung")),
    titles={"en": "Where is my order?", "de": "Wo ist meine Bestellung?"},
    responses={"en": "On its way.", "de": "Unterwegs."},
)
CANCEL = Intent(
    "cancel_order",
    (*utterances("en", "cancel my order", "stop all my orders"), *utterances("de", "storniere meine bestellung")),
    titles={"en": "Cancel an order", "de": "Bestellung stornieren"},
    responses={"en": "Cancelled.", "de": "Storniert."},
)
NAME = Intent(
    "tell_name",
    utterances("en", "take down my name", "remember my name"),
    responses={"en": "Hello, {name}!"},
    slots=(Slot("name", "any", required=True, questions={"en": "What is your name?"}),),
)
ERASE = Intent(
    "erase_data",
    (*utterances("en", "erase everything", "wipe all data"), *utterances("de", "lösche alles")),
    titles={"en": "Erase everything", "de": "Alles löschen"},
    responses={"en": "Erased.", "de": "Gelöscht."},
    confirm=True,
)
# Its utterance is the same in every language, so only a hint decides which response is given.
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
    """An encoder that waits while its gate is closed, at most a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Vectors as `WordHashEncoder` computes them, once the gate is open."""
        if not self.gate.wait(60):
            raise TimeoutError("the gate stayed closed")
        return super().encode(texts, kind=kind)

    async def closed_until_loop_runs(self, work: Awaitable[T]) -> T:
        """Await work behind a closed gate; the event loop opens it after 50 ms, unless something blocks the loop."""
        self.gate.clear()
        asyncio.get_running_loop().call_later(0.05, self.gate.set)
        return await work


def order_dialogue(encoder: WordHashEncoder | None = None) -> Dialogue:
    """A dialogue about orders: "my order" is ambiguous, `tell_name` asks for a name, and `erase_data` for a yes."""
    registry = Registry((STATUS, CANCEL, NAME, NUMBER, ERASE))
    encoder = encoder or WordHashEncoder()
    return Dialogue(Matcher.load(registry, encoder=encoder, threshold=0.4, margin=0.15, cache="off"))


def load_example(path: str) -> ModuleType:
    """Import an example by its path below `examples/`, such as `slack/bot.py`."""
    name = "example_" + path.removesuffix(".py").replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def talk_to_example(path: str, *messages: str, folder: Path) -> str:
    """Run an example in a terminal, without a model, and return what it prints; `folder` is its working folder."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / path],
        env={**os.environ, "MODEL": "", "PYTHONUTF8": "1"},
        cwd=folder,
        input="".join(f"{message}\n" for message in messages),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
