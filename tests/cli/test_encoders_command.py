"""`intentmatch encoders` and `intentmatch export-onnx`."""

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


def test_encoders_are_listed_as_table_and_json() -> None:
    done = run("encoders")
    rows = [json.loads(line) for line in run("encoders", "--json").stdout.splitlines()]

    assert re.search(r"embedded, 1\d\d languages", done.stdout)
    assert [row["encoder"] for row in rows][:4] == ["static", "onnx", "sentence_transformer", "remote"]
    assert rows[0] == {**rows[0], "available": True, "needs": ""}


def test_encoders_shows_the_pip_line_of_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: False)

    for extra in ("torch", "onnx", "remote"):
        assert f'pip install "intentmatch[{extra}]"' in run("encoders").stdout


SHOP = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase]}
"""
PAIRS = "where is my order\twhere is my parcel\t5\nhello\tcancel it\t0\ntrack it\tis it shipped\t3\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from intentmatch.evaluation import encoder_comparison

    monkeypatch.setattr(encoder_comparison, "megabytes_of", lambda settings, texts: 35.2)
    (tmp_path / "shop.yaml").write_text(SHOP, encoding="utf-8")
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return tmp_path


def test_encoders_are_compared_on_the_registry(shop: Path) -> None:
    words = [
        "--compare",
        "static",
        "-i",
        str(shop / "shop.yaml"),
        "--set",
        "cache=off",
        "--sts",
        str(shop / "pairs.tsv"),
    ]
    table = run("encoders", *words)
    (row,) = [json.loads(line) for line in run("encoders", *words, "--json").stdout.splitlines()]

    assert table.exit_code == 0, table.output
    assert re.search(r"static +\d+\.\d %.*1 of 1 +\d+\.\d\d ms +35 MB +2\d\.\d MB", table.stdout)
    assert "Spearman" in table.stdout
    assert "Top 1 by language" not in table.stdout
    assert row["encoder"] == "static"
    assert row["covered"] == ["en"]
    assert set(row["agreement"]) == {"spearman", "pearson"}


def test_languages_of_a_registry_that_names_none_are_not_counted(shop: Path) -> None:
    (shop / "shop.yaml").write_text(SHOP.replace("language: en\n", ""), encoding="utf-8")
    table = run("encoders", "--compare", "static", "-i", str(shop / "shop.yaml"), "--set", "cache=off")

    assert table.exit_code == 0, table.output
    assert "0 of 0" not in table.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compare"], "--compare needs the names of encoders"),
        (["static"], "the name of an encoder needs --compare"),
        (["--sts", "pairs.tsv"], "--sts needs --compare"),
        (["--compare", "statik", "-i", "shop.yaml"], "Did you mean 'static'?"),
        (["--compare", "static", "-i", "shop.yaml", "--sts", "shop.yaml"], "not two sentences and a score"),
        (["--compare", "static", "-i", "nowhere"], "nowhere"),
    ],
)
def test_compare_refuses_what_it_cannot_do(
    shop: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(shop)
    done = run("encoders", *words)

    assert done.exit_code in (1, 2)
    assert message in done.output


def test_export_onnx_prints_comparison_and_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = []

    def export(model: str, output: Path, precision: str) -> Exported:
        calls.append((model, output, precision))
        return Exported(output, 384, 2.1e-7, 1.0, 91.6)

    monkeypatch.setattr(onnx_export, "export_onnx", export)
    done = run("export-onnx", "all-MiniLM-L6-v2", "-o", str(tmp_path / "out"), "--precision", "int8")

    assert done.exit_code == 0
    assert calls == [("all-MiniLM-L6-v2", tmp_path / "out", "int8")]
    assert "384 numbers a vector, int8, 91.6 MB" in done.stdout
    assert "compared with sentence-transformers: largest difference 2.1e-07, lowest cosine 1.0000" in done.stdout
    assert f"encoder=onnx:{tmp_path / 'out'}" in done.stdout


def test_export_onnx_refuses_a_folder_with_other_files(tmp_path: Path) -> None:
    """The folder is checked before the model is loaded."""
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")
    (tmp_path / "cat.jpg").write_text("meow", encoding="utf-8")
    done = run("export-onnx", "any", "-o", str(tmp_path))

    assert done.exit_code == 2
    assert "is not an exported model" in done.stderr
    assert run("export-onnx", "any", "-o", str(tmp_path), "--precision", "int4").exit_code == 2
