"""Every program in `examples` runs.

`test_example_runs_without_arguments` covers every example that needs no argument and terminates. Any other example
needs a test here and its name in `WITH_TESTS`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher

EXAMPLES = Path(__file__).parent.parent / "examples"
WITH_TESTS = {"fastapi_bot.py", "webhook_client.py"}
BOTS = {path.relative_to(EXAMPLES).parts[0]: path for path in sorted(EXAMPLES.rglob("bot.yaml"))}
SECONDS_TO_START = 20

# The wide margin makes a message about the sound ambiguous whatever the encoder says about "on" and "off".
INTENTS = """\
settings: {margin: 0.3}
intents:
  track:
    title: Track a parcel
    response: {en: Here is where it is., de: Hier ist es.}
    utterances: {en: [where is my parcel, track my order], de: [wo bleibt mein Paket]}
  send_back:
    title: Send it back
    utterances: {en: [I want to send something back, start a return], de: [ich möchte etwas zurückschicken]}
  mute:
    title: Mute the sound
    utterances: {en: [sound off please]}
  unmute:
    title: Sound on again
    utterances: {en: [sound on please]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small bot in `intents`, and no cache for the examples."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    # The tests read the output as UTF-8, whatever the locale.
    monkeypatch.setenv("PYTHONUTF8", "1")
    (tmp_path / "intents").mkdir()
    (tmp_path / "intents" / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def webhook(folder: Path) -> Iterator[str]:
    """URL of a running server of `intentmatch.server:create_app`."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--factory", "intentmatch.server:create_app", "--port", str(port)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_until_ready(server, f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS_TO_START)


def test_every_example_has_a_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} >= WITH_TESTS


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in WITH_TESTS))
def test_example_runs_without_arguments(folder: Path, name: str) -> None:
    done = run(EXAMPLES / name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_webhook_client_prints_each_verdict(webhook: str) -> None:
    messages = ["wo bleibt mein Paket?", "the sound please", "what do penguins eat?"]
    done = run(EXAMPLES / "webhook_client.py", webhook, *messages)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = done.stdout.splitlines()[1::2]
    assert first.startswith("  matched track")
    choices = second.removeprefix("  ambiguous, ask: ").removesuffix("?")
    assert set(choices.split(" or ")) == {"Mute the sound", "Sound on again"}
    assert third == "  out of scope"


def test_webhook_client_prints_the_error_of_the_webhook(webhook: str) -> None:
    done = run(EXAMPLES / "webhook_client.py", webhook, "a" * 3000)
    assert done.returncode == 1
    assert "at most 2000 characters" in done.stderr


def test_webhook_client_explains_a_refused_connection() -> None:
    """One sentence that says how to start the webhook, and no traceback."""
    done = run(EXAMPLES / "webhook_client.py", f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Start the webhook with: intentmatch serve" in done.stderr


def test_fastapi_bot_replies_to_every_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response in the user's language, else the title; a question if ambiguous; else the fallback."""
    monkeypatch.setenv("INTENTMATCH_INTENTS", str(folder / "intents"))
    bot = load(EXAMPLES / "fastapi_bot.py", monkeypatch)
    with TestClient(bot.app) as client:

        def reply(text: str) -> str:
            return client.post("/chat", json={"text": text}).json()["reply"]

        assert reply("wo bleibt mein Paket?") == "Hier ist es."
        assert reply("start a return") == "All right: Send it back."
        choices = reply("the sound please").removeprefix("Did you mean ").removesuffix("?")
        assert set(choices.split(" or ")) == {"“Mute the sound”", "“Sound on again”"}
        assert reply("what do penguins eat?") == bot.FALLBACK


def test_fastapi_bot_defaults_to_the_intents_of_this_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTENTMATCH_INTENTS", raising=False)
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    bot = load(EXAMPLES / "fastapi_bot.py", monkeypatch)
    with TestClient(bot.app) as client:
        assert client.post("/chat", json={"text": "hello"}).json() == {"reply": "Hello! How can I help you?"}


@pytest.mark.parametrize("name", BOTS)
def test_framework_bot_decides_as_its_readme_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot's own tests need the framework; these two decisions do not."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    matcher = Matcher.load(BOTS[name])
    assert matcher.match("what do penguins eat").verdict == "out_of_scope"
    if re.search('["`]my order["`]', (EXAMPLES / name / "README.md").read_text(encoding="utf-8")):
        result = matcher.match("my order")
        assert {rival.intent for rival in result.rivals} in (
            {"order_status", "cancel_order"},
            {"order_status", "order_cancel"},
        )


def run(program: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(program), *arguments]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False
    )


def load(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the file as a module for the duration of the test."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until_ready(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urlopen(url, timeout=1):
                return
        except (URLError, TimeoutError):
            time.sleep(0.05)
    server.kill()
    pytest.fail(f"the server did not start:\n{server.communicate()[0].decode()}")
