"""`intentmatch diff`: sides, output, files and exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli

YAML = """\
language: en
intents:
  status:
    utterances:
      - where is my order
      - track my parcel
      - has it been shipped yet
  cancel:
    utterances: [cancel my order, I do not want it any more, call off my purchase]
tests:
  - {text: track my parcel, intent: status}
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository whose folder `intents` was edited after the commit."""
    folder = tmp_path / "clone"
    (folder / "intents").mkdir(parents=True)
    file = folder / "intents" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    file.write_text(YAML.replace("      - track my parcel\n", ""), encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["diff", *words], catch_exceptions=False)


def test_ref_alone_compares_the_commit_with_the_folder(clone: Path) -> None:
    """The broken test case is shown with its place and the reason, and makes the exit code 1."""
    done = run("HEAD", "--set", "threshold=0.95", "--folds", "2")

    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.startswith("HEAD:intents against intents\n")
    assert "“track my parcel” intents/shop.yaml:10  status → out_of_scope" in done.stdout
    assert "its nearest utterance before was removed: “track my parcel” HEAD:intents/shop.yaml:6" in done.stdout
    assert "  status  +0 −1" in done.stdout
    assert "1 of the broken are test cases" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout


def test_equal_sides_exit_with_0_for_every_fail_on(clone: Path) -> None:
    for fail_on in ("worse", "any", "never"):
        done = run("HEAD", "HEAD", "--fail-on", fail_on)
        assert done.exit_code == 0
        assert done.stdout.endswith("0 fixed, 0 broken, 0 answered differently\n")


@pytest.mark.parametrize(("fail_on", "code"), [("worse", 0), ("any", 1), ("never", 0)])
def test_fail_on_chooses_the_exit_code(clone: Path, fail_on: str, code: int) -> None:
    """A changed answer to a logged message counts as neither better nor worse."""
    (clone / "log.txt").write_text("track my parcel\nhello there\n", encoding="utf-8")
    (clone / "intents" / "shop.yaml").write_text(YAML.partition("tests:")[0].replace("      - track my parcel\n", ""))

    done = run("HEAD", "-m", "log.txt", "--fail-on", fail_on, "--set", "threshold=0.95")

    assert done.exit_code == code
    assert "logged messages" in done.stdout
    assert "Answered differently: 1" in done.stdout


def test_json_and_html_are_written(clone: Path) -> None:
    (clone / "more.jsonl").write_text('{"text": "call it off", "intent": "cancel"}', encoding="utf-8")

    run("HEAD:intents/shop.yaml", "intents/shop.yaml", "-t", "more.jsonl", "--json", "d.json", "--html", "d.html")

    written = json.loads((clone / "d.json").read_text(encoding="utf-8"))
    assert (written["schema"], written["old"], written["new"]) == (1, "HEAD:intents/shop.yaml", "intents/shop.yaml")
    assert [row["source"] for row in written["asked"]] == ["held_out", "tests"]
    assert written["asked"][1]["messages"] == 2
    assert (clone / "d.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_artefact_can_be_a_side(clone: Path) -> None:
    CliRunner().invoke(cli, ["build", "intents", "-o", "last.intentmatch"], catch_exceptions=False)

    done = run("last.intentmatch")

    assert done.exit_code == 0
    assert done.stdout.startswith("last.intentmatch against intents\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mian",), "mian: no such file or folder, nor 'mian:intents', and no commit 'mian' in "),
        (("HEAD:gone", "intents"), "HEAD:gone: no 'gone' in commit"),
        (("intents", "gone/"), "no such file or folder"),
        (("HEAD", "--folds", "1"), "neither a whole number from 2 nor `loo`"),
        (("HEAD", "-m", "intents/shop.yaml"), "messages can be read from .txt, .jsonl, .csv"),
        (("HEAD", "-t", "wrong.jsonl"), "wrong.jsonl:1:1: error [unknown-intent]"),
        (("HEAD", "--json", "no/such/folder.json"), "cannot be written"),
        (("HEAD", "--set", "threshold=7"), "setting 'threshold' cannot be '7'"),
        ((), "Missing argument 'OLD'"),
    ],
)
def test_invalid_input_is_explained_with_code_2(clone: Path, words: tuple[str, ...], message: str) -> None:
    (clone / "wrong.jsonl").write_text('{"text": "x", "intent": "statsu"}')

    done = run(*words)

    assert done.exit_code == 2
    assert message in done.stderr


def test_option_names_the_new_side(clone: Path) -> None:
    assert run("HEAD:intents", "-i", "intents").stdout == run("HEAD:intents", "intents").stdout


def test_new_side_is_the_path_of_the_old_one_on_disk(clone: Path) -> None:
    assert run("HEAD:intents/shop.yaml").stdout.startswith("HEAD:intents/shop.yaml against intents/shop.yaml\n")
