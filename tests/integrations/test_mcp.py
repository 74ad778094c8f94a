"""The tools for agents, called by a client of the protocol."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher

mcp = pytest.importorskip("mcp", reason="needs the extra `mcp`")

from intentmatch.integrations.mcp import intent_server  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "mcp"
YAML = """\
version: 1
language: en
intents:
  greet:
    title: Say hello
    description: Somebody comes in.
    response: Hi!
    utterances: [hello there, "good (morning|evening)"]
  leave:
    when: [inside]
    utterances: [goodbye, see you later]
    not: [good grief]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bot.yaml"
    path.write_text(YAML, encoding="utf-8")
    return path


@pytest.fixture
def matcher(file: Path) -> Matcher:
    return Matcher.load(file, encoder=WordHashEncoder())


def calls(server: Any, *wanted: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of tool calls, in order: a dict, or the text of an error."""

    async def talk() -> list[Any]:
        async with mcp.Client(server) as client:
            answers = [await client.call_tool(tool, arguments) for tool, arguments in wanted]
        return [answer.content[0].text if answer.is_error else answer.structured_content for answer in answers]

    return asyncio.run(talk())


def add(server: Any, **arguments: Any) -> Any:
    return calls(server, ("add_utterances", arguments))[0]


def test_message_is_matched(matcher):
    """The result is that of `match`, with an explanation instead of the trace."""
    server = intent_server(matcher)

    hello, nothing = calls(server, ("match_intent", {"utterance": "hello there"}), ("match_intent", {"utterance": ""}))

    assert (hello["verdict"], hello["intent"], hello["response"]) == ("matched", "greet", "Hi!")
    assert hello["explanation"].startswith("Matched: ")
    assert (nothing["verdict"], nothing["intent"]) == ("out_of_scope", None)


def test_context_tags_reach_the_matcher(matcher):
    call = {"utterance": "goodbye"}

    outside, inside = calls(
        intent_server(matcher), ("match_intent", call), ("match_intent", {**call, "context": ["inside"]})
    )

    assert (outside["intent"], inside["intent"]) == (None, "leave")


def test_intents_are_listed_and_shown_with_locations(matcher, file):
    """A template counts as one line."""
    listed, shown = calls(intent_server(matcher), ("list_intents", {}), ("show_intent", {"intent": "greet"}))

    assert listed["languages"] == ["en"]
    assert [intent["name"] for intent in listed["intents"]] == ["greet", "leave"]
    assert listed["intents"][0] == {
        "name": "greet",
        "title": "Say hello",
        "description": "Somebody comes in.",
        "languages": ["en"],
        "location": f"{file}:4:3",
    }
    assert [line["text"] for line in shown["utterances"]] == ["hello there", "good (morning|evening)"]
    assert shown["utterances"][0]["location"] == f"{file}:8:18"
    assert shown["responses"] == {"en": "Hi!"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("match_intent", {"utterance": "x", "language": "klingon!"}, "is not a language code"),
        ("match_intent", {"utterance": 7}, "valid string"),
        ("show_intent", {"intent": "gret"}, "Did you mean 'greet'?"),
    ],
)
def test_invalid_call_returns_the_error(matcher, tool, arguments, message):
    """So that the agent can correct it."""
    assert message in calls(intent_server(matcher), (tool, arguments))[0]


def test_tools_name_their_arguments_alike(matcher, file):
    """One idea has one name and one description in all tools, in the plural for a list."""

    async def schemas() -> dict[str, dict[str, Any]]:
        async with mcp.Client(intent_server(matcher, editable=file)) as client:
            return {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}

    found = asyncio.run(schemas())

    assert {name: list(arguments) for name, arguments in found.items()} == {
        "match_intent": ["utterance", "language", "context"],
        "list_intents": [],
        "show_intent": ["intent"],
        "add_utterances": ["intent", "utterances", "language", "new", "file", "negative", "confirm"],
    }
    for name in ("intent", "language"):
        assert len({arguments[name]["description"] for arguments in found.values() if name in arguments}) == 1


def test_without_permission_there_is_no_edit_tool(matcher):
    server = intent_server(matcher)

    async def names() -> list[str]:
        async with mcp.Client(server) as client:
            tools = (await client.list_tools()).tools
        assert all(tool.annotations.read_only_hint for tool in tools)
        return [tool.name for tool in tools]

    assert asyncio.run(names()) == ["match_intent", "list_intents", "show_intent"]
    assert "Unknown tool" in add(server, intent="greet", utterances=["hey"])


def test_addition_is_previewed_then_written_and_matched(matcher, file):
    server = intent_server(matcher, editable=file)
    wanted = {"intent": "greet", "utterances": ["grüß Gott", "moin"], "language": "de"}

    preview = add(server, **wanted)

    assert (preview["written"], file.read_text(encoding="utf-8")) == (False, YAML)
    assert "+      de: [grüß Gott, moin]\n" in preview["diff"]
    assert matcher.match("moin").intent is None

    done = add(server, **wanted, confirm=preview["confirm"])

    assert (done["written"], done["diff"]) == (True, preview["diff"])
    assert matcher.match("moin").intent == "greet"


def test_new_intent_gets_all_its_utterances(matcher, file):
    server = intent_server(matcher, editable=file)
    wanted = {"intent": "thank", "utterances": ["thank you", "cheers"], "new": True}

    add(server, **wanted, confirm=add(server, **wanted)["confirm"])

    assert [line.text for line in matcher.registry["thank"].utterances] == ["thank you", "cheers"]


def test_brackets_in_added_utterances_are_plain_text(matcher, file):
    """Agents add messages of users, not templates."""
    server = intent_server(matcher, editable=file)
    wanted = {"intent": "greet", "utterances": ["hello (again)"]}

    add(server, **wanted, confirm=add(server, **wanted)["confirm"])

    assert "hello (again)" in [line.text for line in matcher.registry["greet"].utterances]


def test_only_the_previewed_change_is_written(matcher, file):
    """Other utterances, a changed file or an invented confirmation are refused, with a new preview."""
    server = intent_server(matcher, editable=file)
    confirm = add(server, intent="greet", utterances=["moin"])["confirm"]

    assert "+" in add(server, intent="greet", utterances=["servus"], confirm=confirm)
    assert "Nothing is written" in add(server, intent="greet", utterances=["moin"], confirm="yes")
    file.write_text(YAML.replace("see you later", "so long"), encoding="utf-8")
    assert "Nothing is written" in add(server, intent="greet", utterances=["moin"], confirm=confirm)
    assert file.read_text(encoding="utf-8") == YAML.replace("see you later", "so long")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"intent": "gret", "utterances": ["x"]}, "Did you mean 'greet'?"),
        ({"intent": "greet", "utterances": ["Hello there!"]}, "is already at {file}:8"),
        ({"intent": "new", "utterances": ["hello there"], "new": True}, "error [conflicting-utterance]"),
        ({"intent": "greet", "utterances": ["..."]}, "has no words"),
        ({"intent": "greet", "utterances": []}, "at least 1 item"),
        ({"intent": "greet", "utterances": ["x"], "file": "a.yaml"}, "only a new intent"),
        ({"intent": "new", "utterances": ["x"], "new": True, "negative": True}, "cannot start with a negative"),
        (
            {"intent": "new", "utterances": ["x"], "new": True, "file": "/etc/passwd.yaml"},
            "is not part of the registry",
        ),
    ],
)
def test_invalid_addition_is_refused_with_its_location(matcher, file, arguments, message):
    server = intent_server(matcher, editable=file)

    assert message.format(file=file) in add(server, **arguments)
    assert file.read_text(encoding="utf-8") == YAML


def test_failed_reload_is_reported(matcher, file):
    """The change is written; the previous intents stay active."""
    server = intent_server(matcher, editable=file)
    file.write_text(YAML + "  broken: {}\n", encoding="utf-8")
    wanted = {"intent": "greet", "utterances": ["moin"]}

    done = add(server, **wanted, confirm=add(server, **wanted)["confirm"])

    assert (done["written"], done["active"]) == (True, False)
    assert "The files are written, but not in use" in done["warnings"][-1]
    assert "moin" in file.read_text(encoding="utf-8")
    assert matcher.match("hello there").intent == "greet"


def test_slow_match_does_not_block_other_calls(matcher, monkeypatch):
    encoding, listed = threading.Event(), threading.Event()
    slow = matcher.encoder.encode

    def encode(*args: Any, **options: Any) -> Any:
        encoding.set()
        assert listed.wait(10)
        return slow(*args, **options)

    monkeypatch.setattr(matcher.encoder, "encode", encode)

    async def talk() -> None:
        async with mcp.Client(intent_server(matcher)) as client:
            first = asyncio.create_task(client.call_tool("match_intent", {"utterance": "some message"}))
            await asyncio.to_thread(encoding.wait, 10)
            await client.call_tool("list_intents", {})
            listed.set()
            assert not (await first).is_error

    asyncio.run(talk())


def test_command_with_watch_reloads_edited_file(file):
    """Over standard input and output, without permission to edit."""
    pytest.importorskip("watchfiles", reason="needs the extra `watch`")
    words = ["-m", "intentmatch", "mcp", str(file), "--watch"]
    server = mcp.StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def talk() -> None:
        async with mcp.Client(mcp.stdio_client(server)) as client:
            assert "add_utterances" not in [tool.name for tool in (await client.list_tools()).tools]
            file.write_text(YAML + "  thank:\n    utterances: [much obliged]\n", encoding="utf-8")
            deadline = time.monotonic() + 60
            while True:
                answer = await client.call_tool("match_intent", {"utterance": "much obliged"})
                if answer.structured_content["intent"] == "thank":
                    return
                assert time.monotonic() < deadline, "the edit was never loaded"
                await asyncio.sleep(0.1)

    asyncio.run(talk())


def test_example_talks_to_the_command(tmp_path):
    """A client and `intentmatch mcp` in two processes: match, preview, write, match again."""
    bot = tmp_path / "bot.yaml"
    shutil.copy(EXAMPLE / "bot.yaml", bot)

    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "agent.py")], env={**os.environ, "INTENTS": str(bot), "PYTHONUTF8": "1"},
        input="y\n", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "order_cancel: The user wants an order not to be sent." in done.stdout
    assert "warehouse? Out of scope: nothing like your lines: " in done.stdout
    assert "warehouse? Matched: " in done.stdout
    assert "has it left your warehouse" in bot.read_text(encoding="utf-8")
