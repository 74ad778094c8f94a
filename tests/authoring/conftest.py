"""A small registry whose files a test may change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TEXT = """\
version: 1
language: en
intents:
  # Greetings.
  greet:
    utterances: [hello, hi there]   # short
  bye:
    utterances: [goodbye]
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in no repository."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git as the person whose repository it is."""
    who = ("-c", "user.name=Owner", "-c", "user.email=owner@example.org")
    ran = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return ran.stdout


@pytest.fixture
def repository(bot: Path) -> Path:
    """The root of a repository that holds the bot and another file, both committed."""
    root = bot.parent
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "notes.txt").write_text("one\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Begin")
    return root
