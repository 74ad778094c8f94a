"""What happens if a framework is not installed."""

from __future__ import annotations

import importlib
import sys

import pytest

from intentmatch import MissingExtraError

PACKAGES = {
    "agents365": "microsoft_agents",
    "aiogram": "aiogram",
    "botbuilder": "botbuilder",
    "discord": "discord",
    "langchain": "langchain",
    "mcp": "mcp",
    "ovos": "ovos_bus_client",
    "pydantic_ai": "pydantic_ai",
    "redis": "redis",
    "slack": "slack_bolt",
    "telegram": "telegram",
}


@pytest.mark.parametrize("extra", sorted(PACKAGES))
def test_adapter_names_pip_line_of_missing_framework(extra, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[extra], None)
    monkeypatch.delitem(sys.modules, f"intentmatch.integrations.{extra}", raising=False)

    with pytest.raises(MissingExtraError, match=rf'pip install "intentmatch\[{extra.replace("_", "-")}\]"'):
        importlib.import_module(f"intentmatch.integrations.{extra}")
