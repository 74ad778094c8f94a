"""The example for opsdroid: its configuration, its skill and a server of intentmatch, started as the README says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("opsdroid", reason="needs opsdroid")

from chats import EXAMPLES

SECONDS = 30


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(*command: str | Path, cwd: Path, url: str, **variables: str) -> Iterator[None]:
    """A program that serves at a URL until it is told to stop."""
    environment = {**os.environ, "HOME": str(cwd), **variables}
    with (
        (cwd / "log.txt").open("w", encoding="utf-8") as log,
        subprocess.Popen(command, cwd=cwd, env=environment, stdout=log, stderr=log) as program,
    ):
        try:
            deadline = time.monotonic() + SECONDS
            while not answers(url):
                assert program.poll() is None, (cwd / "log.txt").read_text(encoding="utf-8")
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield
        finally:
            program.kill()


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=1):
            return True
    except HTTPError:
        return True
    except (URLError, TimeoutError):
        return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The URL of a server that wants a key."""
    url = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "intentmatch", "serve", EXAMPLES / "opsdroid" / "bot.yaml", "--protocol", "rasa"]
    keys = {"INTENTMATCH_KEYS": "a-key-of-the-test", "INTENTMATCH_CACHE": "off"}
    (tmp_path / "server").mkdir()
    with running(*command, "--port", url.rpartition(":")[2], cwd=tmp_path / "server", url=f"{url}/readyz", **keys):
        yield url


@contextmanager
def bot(folder: Path, server: str, key: str) -> Iterator[str]:
    """The URL of opsdroid with the configuration of the example, but for the ports."""
    shutil.copytree(EXAMPLES / "opsdroid", folder)
    port = str(free_port())
    file = folder / "configuration.yaml"
    written = file.read_text(encoding="utf-8")
    file.write_text(written.replace("http://localhost:5005", server).replace("8080", port), encoding="utf-8")
    command = [Path(sys.executable).with_name("opsdroid"), "start", "-f", file]
    url = f"http://127.0.0.1:{port}"
    with running(*command, cwd=folder, url=url, INTENTMATCH_KEYS=key):
        yield url


def talk(url: str, *texts: str, seconds: float = SECONDS) -> list[str]:
    """What the bot says to each text."""
    command = [sys.executable, EXAMPLES / "opsdroid" / "talk.py", url]
    said = "".join(f"{text}\n" for text in [*texts, ""])
    done = subprocess.run(command, input=said, capture_output=True, encoding="utf-8", timeout=seconds, check=True)
    return done.stdout.removeprefix("> ").removesuffix("> ").strip().split("\n> ")


def test_the_example_holds_a_conversation(tmp_path, server):
    """In two languages, with the value of a slot."""
    texts = ["hello", "wann kommt meine Bestellung an?", "regnet es in Paris?", "regnet es?", "my order", "sing a song"]

    with bot(tmp_path / "bot", server, "a-key-of-the-test") as url:
        *clear, asked, unknown = talk(url, *texts)

    assert clear == ["Hello!", "Your order is on its way.", "It is sunny in Paris.", "It is sunny. Where are you?"]
    assert {"order status", "cancel order"} == set(asked.partition("Is it about ")[2].removesuffix("?").split(" or "))
    assert unknown.startswith("I did not understand that.")


def test_a_wrong_key_is_told_in_the_log(tmp_path, server):
    """And nothing is said to the user."""
    with bot(tmp_path / "bot", server, "another-key") as url, pytest.raises(subprocess.TimeoutExpired):
        talk(url, "hello", seconds=3)

    assert "NotAuthenticated" in (tmp_path / "bot" / "log.txt").read_text(encoding="utf-8")
