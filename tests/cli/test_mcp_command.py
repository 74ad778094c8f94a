"""`intentmatch mcp`: what it refuses before it begins; what it does is tested where the tools are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from intentmatch.cli.commands import cli


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    file = tmp_path / "bot.yaml"
    file.write_text("intents:\n  greet: {utterances: [hello]}\n", encoding="utf-8")
    return file


def test_a_missing_extra_is_named(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line to install it."""
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "intentmatch.integrations.mcp", raising=False)

    done = CliRunner().invoke(cli, ["mcp", str(bot)], catch_exceptions=False)

    assert done.exit_code == 5
    assert 'pip install "intentmatch[mcp]"' in done.stderr


def test_what_was_built_cannot_be_edited(bot: Path) -> None:
    """The folder that it was built from can."""
    built = bot.with_name("bot.intentmatch")
    CliRunner().invoke(cli, ["build", str(bot), "-o", str(built)], catch_exceptions=False)

    done = CliRunner().invoke(cli, ["mcp", str(built), "--allow-edits"], catch_exceptions=False)

    assert done.exit_code == 2
    assert "the folder that it was built from" in done.stderr
