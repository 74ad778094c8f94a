"""The example for opsdroid, with a server of intentmatch, started as its README says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("opsdroid", reason="needs opsdroid")

from contracts.order_bot import EXAMPLES
from programs import Program, free_port, running, serving

KEY = "a-key-of-the-test"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server that requires a key."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("INTENTMATCH_KEYS", KEY)
    with serving(EXAMPLES / "opsdroid" / "bot.yaml", "--protocol", "rasa") as url:
        yield url


@contextmanager
def opsdroid(folder: Path, server: str, key: str) -> Iterator[tuple[str, Program]]:
    """The URL of opsdroid, running the example's configuration on a free port, and the program."""
    shutil.copytree(EXAMPLES / "opsdroid", folder / "bot")
    port = str(free_port())
    file = folder / "bot" / "configuration.yaml"
    written = file.read_text(encoding="utf-8")
    file.write_text(written.replace("http://localhost:5005", server).replace("8080", port), encoding="utf-8")
    command = [Path(sys.executable).with_name("opsdroid"), "start", "-f", file]
    environment = {**os.environ, "HOME": str(folder), "INTENTMATCH_KEYS": key}
    with running(*command, cwd=file.parent, env=environment) as program:
        program.says("started web server")
        yield f"http://127.0.0.1:{port}", program


def replies(url: str, *texts: str, seconds: float = 30) -> list[str]:
    """The bot's reply to each text."""
    command = [sys.executable, EXAMPLES / "opsdroid" / "talk.py", url]
    typed = "".join(f"{text}\n" for text in [*texts, ""])
    done = subprocess.run(command, input=typed, capture_output=True, encoding="utf-8", timeout=seconds, check=True)
    return done.stdout.removeprefix("> ").removesuffix("> ").strip().split("\n> ")


def test_example_holds_its_conversation(tmp_path, server):
    """In two languages, with the value of a slot."""
    texts = ["hello", "wann kommt meine Bestellung an?", "regnet es in Paris?", "regnet es?", "my order", "sing a song"]

    with opsdroid(tmp_path, server, KEY) as (url, _):
        *clear, asked, unknown = replies(url, *texts)

    assert clear == ["Hello!", "Your order is on its way.", "It is sunny in Paris.", "It is sunny. Where are you?"]
    assert {"order status", "cancel order"} == set(asked.partition("Is it about ")[2].removesuffix("?").split(" or "))
    assert unknown.startswith("I did not understand that.")


def test_wrong_key_is_logged(tmp_path, server):
    """The user gets no reply."""
    with opsdroid(tmp_path, server, "another-key") as (url, program):
        with pytest.raises(subprocess.TimeoutExpired):
            replies(url, "hello", seconds=3)
        assert "NotAuthenticated" in program.says("Bad Rasa NLU response")
