"""The flow for Node-RED, in a running Node-RED."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from programs import free_port, running, serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "node_red"
RED = Path(os.environ.get("NODE_PATH", "")) / "node-red" / "red.js"
NODE = shutil.which("node")

if NODE is None or not RED.is_file():
    pytest.skip("needs node, and node-red below $NODE_PATH", allow_module_level=True)


@pytest.fixture(scope="module")
def say(tmp_path_factory):
    """A function that sends a message to the flow and returns the answer."""
    folder = tmp_path_factory.mktemp("node-red")
    keys = folder / "keys.txt"
    keys.write_text("a-key-of-node-red\n", encoding="utf-8")
    shutil.copy(EXAMPLE / "flow.json", folder)
    port = free_port()
    with serving(EXAMPLE / "bot.yaml", "--keys-file", str(keys)) as url:
        environment = {**os.environ, "INTENTMATCH_URL": url, "INTENTMATCH_KEY": "a-key-of-node-red"}
        command = (NODE, RED, "--userDir", folder, "--port", str(port), folder / "flow.json")
        with running(*command, env=environment) as program:
            program.says("Started flows")

            def say(**message: object) -> dict:
                body = json.dumps(message).encode()
                with urlopen(
                    Request(f"http://127.0.0.1:{port}/bot", body, {"content-type": "application/json"})
                ) as answer:
                    return json.load(answer)

            yield say


def test_slot_is_asked_for_and_looked_up(say):
    """By the node of the flow that the intent leads to."""
    assert say(user="anna", text="where is my order")["text"] == "What is the number of your order?"
    assert say(user="anna", text="1234")["text"] == "1234: in Munich"


@pytest.mark.parametrize("by", ["number", "button", "words"])
def test_ambiguous_message_is_asked_about(say, by):
    """The answer has the choices, for channels with buttons."""
    asked = say(user="anna", text="my order")
    choice = next(choice for choice in asked["choices"] if choice["intent"] == "cancel_order")
    number = asked["choices"].index(choice) + 1
    answer = {"number": {"text": str(number)}, "button": {"chosen": choice["id"]}, "words": {"text": choice["title"]}}

    assert asked["text"].startswith("Did you mean:\n1. ")
    assert say(user="anna", **answer[by])["text"] == "Which order shall I cancel?"
    assert say(user="anna", text="2001")["text"] == "Order 2001 is cancelled."


def test_users_have_conversations_of_their_own(say):
    say(user="anna", text="where is my order")

    assert "in Munich" not in say(user="bert", text="1234")["text"]
    assert say(user="anna", text="1234")["text"] == "1234: in Munich"


def test_message_out_of_scope_and_german_message_are_answered(say):
    assert say(user="carl", text="quantum chromodynamics")["text"].startswith("Sorry")
    assert say(user="carl", text="wann habt ihr offen?")["text"] == "Wir haben von 9 bis 18 Uhr offen."
    assert say(user="carl")["text"].startswith("Sorry")
