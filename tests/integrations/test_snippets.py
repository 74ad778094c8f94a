"""Every snippet for a framework, in the README or the guide, runs as it stands there."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from documents import GUIDE, documents

PREFIX = "integration: "
SNIPPETS = [
    pytest.param(document, block, id=f"{document.name}-{block.note.removeprefix(PREFIX)}")
    for document in documents()
    for block in document.blocks
    if block.note.startswith(PREFIX)
]
NAMED = {snippet.values[1].note.removeprefix(PREFIX) for snippet in SNIPPETS}

PACKAGES = {
    "agents365": "microsoft_agents.hosting.core",
    "aiogram": "aiogram",
    "botbuilder": "botbuilder.core",
    "discord": "discord",
    "langchain": "langchain",
    "mcp": "mcp",
    "ovos": "ovos_plugin_manager",
    "pydantic_ai": "pydantic_ai",
    "rasa": "rasa",
    "slack": "slack_bolt",
    "telegram": "telegram",
}
BEFORE = {
    "agents365": (
        "from microsoft_agents.hosting.core import AgentApplication, AgentAuthConfiguration, AnonymousTokenProvider\n"
        "from microsoft_agents.hosting.core import ConnectionManager, MemoryStorage\n"
        "service = {'SERVICE_CONNECTION': AgentAuthConfiguration(anonymous_allowed=True)}\n"
        "connections = ConnectionManager(lambda _: AnonymousTokenProvider(), service)\n"
        "app = AgentApplication(storage=MemoryStorage(), connection_manager=connections)\n"
    ),
    "aiogram": "from aiogram import Dispatcher\ndispatcher = Dispatcher()\n",
    "discord": (
        "import discord\nfrom discord.ext import commands\nbot = commands.Bot('!', intents=discord.Intents.default())\n"
    ),
    "slack": (
        "from slack_bolt import App\napp = App(signing_secret='x', token='xoxb-1', token_verification_enabled=False)\n"
    ),
    "telegram": "from telegram.ext import Application\napp = Application.builder().token('1:x').build()\n",
}
"""What a reader has already."""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("document", "snippet"), SNIPPETS)
def test_snippet_runs(document, snippet, tmp_path, monkeypatch):
    """In a folder with the files that the document writes."""
    name, code = snippet.note.removeprefix(PREFIX), snippet.code
    pytest.importorskip(PACKAGES[name], reason=f"needs the extra `{name}`")
    monkeypatch.chdir(tmp_path)
    for block in document.blocks:
        if block.note.startswith("file: "):
            path = tmp_path / block.note.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
    if name == "mcp":
        assert code.startswith("intentmatch mcp shop/ ")
    elif name == "ovos":
        assert "opm.pipeline" in {entry.group for entry in distribution("intentmatch").entry_points}
        assert json.loads(code)["intents"]["intentmatch-pipeline-plugin"]
    elif name == "rasa":
        (component,) = yaml.safe_load(code)["pipeline"]
        module, _, classifier = component["name"].rpartition(".")
        assert hasattr(importlib.import_module(module), classifier)
    else:

        async def run():  # some frameworks want a running loop
            exec(compile(BEFORE.get(name, "") + code, document.place, "exec"), {})

        asyncio.run(run())


def test_every_adapter_has_a_snippet():
    """But for what they share."""
    folder = Path(__file__).parents[2] / "intentmatch" / "integrations"
    adapters = {path.stem for path in folder.glob("*.py")} - {
        "__init__",
        "activities",
        "credentials",
        "deliveries",
        "redis",
        "routes",
        "tools",
    }

    assert set(PACKAGES) == NAMED == adapters


def test_table_names_every_example_and_no_other():
    """A newcomer finds each folder."""
    folder = Path(__file__).parents[2] / "examples"
    text = (GUIDE / "frameworks.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(\.\./\.\./examples/(\w+)/?\)", text))

    assert sorted(named) == sorted(
        path.name for path in folder.iterdir() if path.is_dir() and path.name not in ("deploy", "__pycache__")
    )
