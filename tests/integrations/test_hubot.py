"""The script for Hubot, in Hubot's own shell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import Program, running, serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "hubot"
HUBOT = Path(os.environ.get("NODE_PATH", "")) / "hubot" / "bin" / "Hubot.mjs"
NODE = shutil.which("node")

if NODE is None or not HUBOT.is_file():
    pytest.skip("needs node, and hubot below $NODE_PATH", allow_module_level=True)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    keys.write_text("a-key-of-hubot\n", encoding="utf-8")
    with serving(EXAMPLE / "bot.yaml", "--keys-file", str(keys)) as url:
        yield url


@pytest.fixture
def hubot(url, tmp_path):
    """A Hubot with the example's script, in a shell; its name is Hubot."""
    with talking(tmp_path, INTENTMATCH_URL=url, INTENTMATCH_KEY="a-key-of-hubot") as program:
        yield program


@contextmanager
def talking(folder: Path, **environment: str) -> Iterator[Program]:
    scripts = folder / "scripts"
    scripts.mkdir()
    shutil.copy(EXAMPLE / "intentmatch.mjs", scripts)
    with running(NODE, HUBOT, "-a", "Shell", "-d", cwd=folder, env={**os.environ, **environment}) as program:
        program.says("No external-scripts.json found")  # printed after the scripts are loaded
        yield program


def test_example_holds_its_conversation(hubot: Program):
    """It asks for a slot, looks an order up, asks about an ambiguous message, and responds from the YAML."""
    for line, answer in [
        ("where is my order", "What is the number of your order"),
        ("1234", "1234: in Munich"),
        ("my order", "1. Where is my order"),
        ("2", "Which order shall I cancel"),
        ("2001", "Order 2001 is cancelled"),
        ("Hubot wann habt ihr offen?", "Wir haben von 9 bis 18 Uhr offen"),
        ("quantum chromodynamics", "Sorry"),
    ]:
        hubot.say(line)
        hubot.says(answer)


def test_unreachable_webhook_is_logged(tmp_path):
    """Hubot keeps running."""
    with talking(tmp_path, INTENTMATCH_URL="http://127.0.0.1:9") as program:
        program.say("where is my order")
        program.says("intentmatch: fetch failed")
        program.say("where is my order")
        program.says("intentmatch: fetch failed")
