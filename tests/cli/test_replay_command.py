"""`intentmatch replay`: a log, answered by the version in use and by a candidate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli

SHOP = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet, where is my parcel]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase, stop my order]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    moved = SHOP.replace("track my parcel, ", "").replace("stop my order", "stop my order, track my parcel")
    for name, text in (("intents", SHOP), ("new", moved)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "shop.yaml").write_text(text, encoding="utf-8")
    answers = [
        {"time": "2026-11-02T10:00:00Z", "text": "cancel it"},
        {"time": "2026-11-20T10:00:00Z", "text": "track the parcel", "verdict": "matched", "intent": "cancel"},
        {"time": "2026-11-20T10:00:01Z", "text": "track the parcel"},
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers), encoding="utf-8")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["replay", *words], catch_exceptions=False)


def test_differences_are_shown_by_cause(folder: Path) -> None:
    shown = run("log.jsonl", "--candidate", "new", "--json", "out.json").stdout

    assert "intents against new\n3 messages, 2 different texts\n1 were answered otherwise then" in shown
    assert "Its nearest utterance moved here from status: “track my parcel” new/shop.yaml:4" in shown
    assert "“track the parcel” (2 times): status, now cancel" in shown
    written = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert written["kinds"]["other_intent"] == 2


def test_only_recent_messages_and_no_examples(folder: Path) -> None:
    shown = run("log.jsonl", "-c", "new", "--since", "2026-11-16", "--examples", "0").stdout

    assert "2 messages, 1 different text" in shown
    assert "now cancel" not in shown
    assert run("log.jsonl", "-c", "new", "--since", "9999d").exit_code == 0


def test_lines_without_json_are_told(folder: Path) -> None:
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('INFO: started\n{"time": "2026-11-20", "text": "tr\n')

    assert "\nskipped 2 lines without valid JSON, the first at log.jsonl:4\n" in run("log.jsonl", "-c", "new").stdout


def test_log_of_several_bots_is_replayed_for_one(folder: Path) -> None:
    lines = [{"text": "track the parcel", "bot": "shop"}, {"text": "block my card", "bot": "bank"}]
    (folder / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")

    assert "1 message, 1 different text" in run("log.jsonl", "-c", "new", "--bot", "shop").stdout
    refused = run("log.jsonl", "-c", "new")
    assert (refused.exit_code, "several bots (bank, shop): name one of them with --bot" in refused.stderr) == (2, True)


def test_names_of_intents_stay_as_they_are_in_headings(folder: Path) -> None:
    more = SHOP + "  refund: {utterances: [i want my money back, refund me please, give me a refund]}\n"
    (folder / "new" / "shop.yaml").write_text(more, encoding="utf-8")
    (folder / "log.jsonl").write_text('{"text": "refund me please"}\n', encoding="utf-8")

    assert "\nThe intent refund is new\n" in run("log.jsonl", "-c", "new").stdout


def test_same_answers_are_said_so(folder: Path) -> None:
    assert "All would be answered alike." in run("log.jsonl", "-c", "intents").stdout


def test_wrong_arguments_are_errors(folder: Path) -> None:
    assert run("log.jsonl").exit_code == 2
    assert "neither a date" in run("log.jsonl", "-c", "new", "--since", "soon").stderr
    assert run("log.jsonl", "-c", "nowhere").exit_code == 2
    assert run("none.jsonl", "-c", "new").exit_code == 2
