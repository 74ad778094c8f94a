"""The example for opsdroid: its configuration, its skill and a server of intentmatch, started as the README says."""

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

from chats import EXAMPLES
from programs import Program, free_port, running, serving

KEY = "a-key-of-the-test"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server that wants a key."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("INTENTMATCH_KEYS", KEY)
    with serving(EXAMPLES / "opsdroid" / "bot.yaml", "--protocol", "rasa") as url:
        yield url


@contextmanager
def opsdroid(folder: Path, server: str, key: str) -> Iterator[tuple[str, Program]]:
    """The URL of opsdroid with the configuration of the example, but for the ports, and what it logs."""
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


def talk(url: str, *texts: str, seconds: float = 30) -> list[str]:
    """What the bot says to each text."""
    command = [sys.executable, EXAMPLES / "opsdroid" / "talk.py", url]
    said = "".join(f"{text}\n" for text in [*texts, ""])
    done = subprocess.run(command, input=said, capture_output=True, encoding="utf-8", timeout=seconds, check=True)
    return done.stdout.removeprefix("> ").removesuffix("> ").strip().split("\n> ")


def test_the_example_holds_a_conversation(tmp_path, server):
    """In two languages, with the value of a slot."""
    texts = ["hello", "wann kommt meine Bestellung an?", "regnet es in Paris?", "regnet es?", "my order", "sing a song"]

    with opsdroid(tmp_path, server, KEY) as (url, _):
        *clear, asked, unknown = talk(url, *texts)

    assert clear == ["Hello!", "Your order is on its way.", "It is sunny in Paris.", "It is sunny. Where are you?"]
    assert {"order status", "cancel order"} == set(asked.partition("Is it about ")[2].removesuffix("?").split(" or "))
    assert unknown.startswith("I did not understand that.")


def test_a_wrong_key_is_told_in_the_log(tmp_path, server):
    """And nothing is said to the user."""
    with opsdroid(tmp_path, server, "another-key") as (url, program):
        with pytest.raises(subprocess.TimeoutExpired):
            talk(url, "hello", seconds=3)
        assert "NotAuthenticated" in program.says("Bad Rasa NLU response")
