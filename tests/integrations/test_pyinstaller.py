"""A program that PyInstaller freezes, with the hook that the package ships."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PyInstaller", reason="needs pyinstaller")

PROGRAM = """\
import sys
from pathlib import Path

from intentmatch import Matcher
from intentmatch.cli import main

if len(sys.argv) > 2:
    main()
else:
    result = Matcher.load(sys.argv[1], cache="off").match("wo ist mein Paket")
    print(result.verdict, result.intent)
"""
BOT = """\
version: 1
settings: {reranker: words}
intents:
  order_status: {utterances: {en: [where is my parcel, track my order]}}
  order_cancel: {utterances: {en: [cancel my order, stop my purchase]}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen program, in one folder."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "bot.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", "bot.py"]
    subprocess.run(command, cwd=folder, check=True, timeout=500)
    return folder / "dist" / "bot" / "bot"


def run(program: Path, *arguments: str | Path) -> str:
    """What the program prints, without a Python beside it."""
    surroundings = {"PATH": "/nowhere", "HOME": str(program.parent), "LANG": os.environ.get("LANG", "C.UTF-8")}
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, env=surroundings)
    assert done.returncode in {0, 4}, done.stderr
    return done.stdout


def test_matcher_runs_with_its_embedded_encoder(program: Path, tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")

    assert run(program, tmp_path / "bot.yaml").split() == ["matched", "order_status"]


def test_commands_formats_and_guide_are_there(program: Path, tmp_path: Path) -> None:
    """They are imported by name."""
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")

    assert run(program, "match", "-i", tmp_path / "bot.yaml", "track my order").startswith("order_status")
    run(program, "export", tmp_path / "bot.yaml", "-f", "rasa", "-o", tmp_path / "rasa")
    assert (tmp_path / "rasa").is_dir()
    assert run(program, "guide", "slots").startswith("# Slots")
    assert "no problems" in run(program, "validate", "-i", tmp_path / "bot.yaml")


def test_torch_and_frameworks_stay_outside(program: Path) -> None:
    names = {path.name for path in program.parent.rglob("*")}

    assert "intentmatch" in names
    assert not names & {"torch", "fastapi", "nicegui", "ray"}
