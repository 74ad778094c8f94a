"""`intentmatch revisions` and `restore`: list, show, evaluate and bring back; what commands edit is kept."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.cli.commands import cli
from intentmatch.registry.editing.edits import MoveUtterance

TEXT = """\
language: en
intents:
  status:
    utterances: [where is my order, track my parcel, has it been shipped yet, where is my parcel]
  cancel:
    utterances: [cancel my order, I do not want it any more, call off my purchase]
tests:
  - {text: where is the parcel, intent: status}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "intents").mkdir()
    (tmp_path / "intents" / "shop.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "intents"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def revisions() -> list[tuple[str, str]]:
    return [(one["id"], one["note"]) for one in map(json.loads, run("revisions", "--json").stdout.splitlines())]


def test_commands_that_edit_keep_revisions_once_the_history_has_begun(shop: Path) -> None:
    run("add", "status", "any news", "--yes")
    assert "There are no revisions yet" in run("revisions").stdout
    assert run("revisions", "--begin").exit_code == 0

    added = run("add", "status", "any sign of it", "--yes")
    run("move", "any news", "cancel", "--yes")
    run("rename", "cancel", "order_cancel", "--yes")
    run("remove", "any sign of it", "--yes")
    run("lint", "--fix", "--yes")
    run("format")

    assert "This is revision 2." in added.stdout
    notes = [note for _, note in revisions()]
    assert notes[-5:] == [
        "Remove a line",
        "Rename cancel to order_cancel",
        "Move a line to cancel",
        "Add to status",
        "Before the first edit",
    ]


def test_revision_is_shown_with_its_diff_and_evaluation(shop: Path) -> None:
    moves = [MoveUtterance(text, "cancel") for text in ("where is my parcel", "track my parcel", "where is my order")]
    Workspace(shop).write(moves, author="anna", note="Move", expected=ANY)

    shown = run("revisions", "2").stdout
    assert ("anna" in shown, "Not evaluated yet" in shown) == (True, True)
    assert "-    utterances: [where is my order" in shown
    evaluated = run("revisions", "2", "--evaluate").stdout

    assert "tests: 1 before, 0 right after, of 1" in evaluated
    assert " broken." in evaluated
    (newest, first) = map(json.loads, run("revisions", "--json").stdout.splitlines())
    assert newest["evaluation"]["sources"][-1]["right_before"] == 1
    assert first["evaluation"] is None
    assert " → " in run("revisions").stdout
    assert json.loads(run("revisions", "2", "--json").stdout)["files"][0]["file"] == "shop.yaml"


def test_restored_files_are_a_new_revision(shop: Path) -> None:
    run("revisions", "--begin")
    run("add", "status", "any news", "--yes")

    dry = run("restore", "1", "--dry-run")
    assert "any news" in (shop / "shop.yaml").read_text(encoding="utf-8")
    done = run("restore", "1", "--yes", "--note", "Worse")

    assert ("any news]" in dry.stdout, done.exit_code) == (True, 0)
    assert (shop / "shop.yaml").read_text(encoding="utf-8") == TEXT
    assert revisions()[0] == ("3", "Worse")
    assert "already" in run("restore", "1", "--yes").stdout


def test_restoring_asks_and_unknown_revisions_are_errors(shop: Path) -> None:
    run("revisions", "--begin")
    run("add", "status", "any news", "--yes")

    asked = run("restore", "1")
    assert (asked.exit_code, "add --yes" in asked.stderr) == (2, True)
    for words in (
        ["restore", "9", "--yes"],
        ["revisions", "9"],
        ["revisions", "-i", "nowhere"],
        ["revisions", "--evaluate"],
    ):
        assert run(*words).exit_code == 2
    assert run("revisions", "1", "--begin").exit_code == 2


def test_beginning_of_a_commit_is_enough(shop: Path) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "intents"], ["commit", "-qm", "First"]):
        subprocess.run(["git", *identity, *words], check=True)
    run("add", "status", "any news", "--yes")
    assert [note for _, note in revisions()] == ["First"]
    run("revisions", "--begin")
    run("add", "status", "any sign of it", "--yes")

    (_, kept, (first, _)) = revisions()
    assert kept[1] == "Keep changes made by another program"
    assert run("restore", first[:10], "--yes", "-i", "intents").exit_code == 0
    assert (shop / "shop.yaml").read_text(encoding="utf-8") == TEXT
