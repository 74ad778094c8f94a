"""`intentmatch mcp`: errors before the server starts; tests/integrations covers the tools."""

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


def test_missing_extra_is_reported_with_its_pip_line(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "intentmatch.integrations.mcp", raising=False)

    done = CliRunner().invoke(cli, ["mcp", str(bot)], catch_exceptions=False)

    assert done.exit_code == 5
    assert 'pip install "intentmatch[mcp]"' in done.stderr


def test_artefact_cannot_be_edited(bot: Path) -> None:
    built = bot.with_name("bot.intentmatch")
    CliRunner().invoke(cli, ["build", str(bot), "-o", str(built)], catch_exceptions=False)

    done = CliRunner().invoke(cli, ["mcp", str(built), "--allow-edits"], catch_exceptions=False)

    assert done.exit_code == 2
    assert "--allow-edits needs the folder that the artefact was built from" in done.stderr
