"""`encoders` and `export-onnx`, run in-process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli
from intentmatch.encoders import onnx_export
from intentmatch.encoders.onnx_export import Exported


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def test_encoders_says_what_is_here() -> None:
    """Each encoder with what it would need; as JSON too."""
    done = run("encoders")
    rows = [json.loads(line) for line in run("encoders", "--json").stdout.splitlines()]

    assert re.search(r"embedded, 1\d\d languages", done.stdout)
    assert [row["encoder"] for row in rows][:4] == ["static", "onnx", "sentence_transformer", "remote"]
    assert rows[0] == {**rows[0], "available": True, "needs": ""}


def test_encoders_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an extra is missing, the line to install it stands in the table."""
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: False)

    for extra in ("torch", "onnx", "remote"):
        assert f'pip install "intentmatch[{extra}]"' in run("encoders").stdout


def test_export_says_what_was_written_and_how_near_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The numbers of the comparison, and the setting to use it by."""
    asked = []

    def export(model: str, output: Path, precision: str) -> Exported:
        asked.append((model, output, precision))
        return Exported(output, 384, 2.1e-7, 1.0, 91.6)

    monkeypatch.setattr(onnx_export, "export_onnx", export)
    done = run("export-onnx", "all-MiniLM-L6-v2", "-o", str(tmp_path / "out"), "--precision", "int8")

    assert done.exit_code == 0
    assert asked == [("all-MiniLM-L6-v2", tmp_path / "out", "int8")]
    assert "384 numbers a vector, int8, 91.6 MB" in done.stdout
    assert "off by 2.1e-07 at most" in done.stdout
    assert f"encoder=onnx:{tmp_path / 'out'}" in done.stdout


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """With the exit code for what the user wrote, before anything is loaded."""
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")
    (tmp_path / "cat.jpg").write_text("meow", encoding="utf-8")
    done = run("export-onnx", "any", "-o", str(tmp_path))

    assert done.exit_code == 2
    assert "is not an exported model" in done.stderr
    assert run("export-onnx", "any", "-o", str(tmp_path), "--precision", "int4").exit_code == 2
