"""The code blocks of the README for each framework run as they stand there."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"<!-- integration: (\w+) -->\n```\w+\n(.*?)```\n", README, re.DOTALL))
SHOP = re.search(r"<!-- file: shop/orders.yaml -->\n```yaml\n(.*?)```\n", README, re.DOTALL)[1]

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
"""Code that a reader already has."""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_snippet_runs(name, tmp_path, monkeypatch):
    """In a folder with the registry of the README's tour."""
    pytest.importorskip(PACKAGES[name], reason=f"needs the extra `{name}`")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.yaml").write_text(SHOP, encoding="utf-8")
    code = SNIPPETS[name]
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
            exec(compile(BEFORE.get(name, "") + code, "README.md", "exec"), {})

        asyncio.run(run())


def test_every_adapter_has_a_snippet():
    """Except for modules that adapters share."""
    folder = Path(__file__).parents[2] / "intentmatch" / "integrations"
    adapters = {path.stem for path in folder.glob("*.py")} - {"__init__", "activities", "routes", "tools", "redis"}

    assert set(SNIPPETS) == set(PACKAGES) == adapters


def test_table_names_every_example_and_no_other():
    folder = Path(__file__).parents[2] / "examples"
    named = re.findall(r"\]\(examples/(\w+)\)", README)

    assert sorted(named) == sorted(
        path.name for path in folder.iterdir() if path.is_dir() and path.name not in ("deploy", "__pycache__")
    )
