"""`intentmatch init`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run

from intentmatch.registry import read_registry
from intentmatch.registry.reading.schema import schema


def test_writes_a_registry_with_comments_tests_and_schema(tmp_path: Path):
    done = run("init", str(tmp_path / "bot"), "--name", "Pizza House", "--languages", "en,de", "--start", "shop")

    assert done.exit_code == 0, done.output
    text = (tmp_path / "bot" / "pizza_house.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=intents.schema.json\n# What Pizza House understands.")
    registry = read_registry(str(tmp_path / "bot"))
    assert {utterance.language for utterance in registry.utterances} == {"en", "de"}
    assert registry.tests
    assert json.loads((tmp_path / "bot" / "intents.schema.json").read_text(encoding="utf-8")) == schema()


def test_shows_commands_that_work(tmp_path: Path):
    folder = str(tmp_path / "bot")

    done = run("init", folder, "--start", "bank")

    assert f'intentmatch match -i {folder} "somebody stole my card"' in done.output
    assert run("match", "-i", folder, "somebody stole my card").output.startswith("card_lost ")


def test_defaults_to_english_the_folder_intents_and_the_name_of_the_project(tmp_path: Path, monkeypatch):
    project = tmp_path / "Bot 7"
    project.mkdir()
    monkeypatch.chdir(project)

    done = run("init")

    assert done.exit_code == 0, done.output
    assert "-i" not in done.output
    registry = read_registry("intents")
    assert (project / "intents" / "bot_7.yaml").is_file()
    assert {utterance.language for utterance in registry.utterances} == {"en"}


def test_never_overwrites_intents(tmp_path: Path):
    (tmp_path / "mine.yml").write_text("intents: {}", encoding="utf-8")

    done = run("init", str(tmp_path))

    assert done.exit_code == 2
    assert "already has intents (mine.yml), and nothing was written" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.yml"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--start", "bnk"], "Did you mean 'bank'?"),
        (["--languages", "en,e1"], "'e1' is not a language code"),
        (["--languages", " , "], "name at least one language"),
        (["--description", "refund"], "'refund' describes no intent: write NAME=TEXT"),
        (["--description", "refund= ..."], "the description of 'refund' has no words"),
    ],
)
def test_wrong_options_write_nothing(tmp_path: Path, options: list[str], error: str):
    done = run("init", str(tmp_path / "bot"), *options)

    assert done.exit_code == 2
    assert error in done.stderr
    assert not (tmp_path / "bot").exists()


def test_languages_may_be_named(tmp_path: Path):
    assert run("init", str(tmp_path), "--languages", "English, deutsch, pt_br").exit_code == 0
    assert {utterance.language for utterance in read_registry(str(tmp_path)).utterances} == {"en", "de"}


def test_wrong_answer_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("intentmatch.cli.init._has_terminal", lambda: True)

    done = run("init", str(tmp_path), stdin="Pizza\nklingon\ngerman\nshpo\nshop\n\n")

    assert done.exit_code == 0, done.output
    assert done.output.count("Languages [en]") == done.output.count("Starting set [empty]") == 2
    assert "'klingon' is not a language code" in done.output
    assert "Did you mean 'shop'?" in done.output
    assert {utterance.language for utterance in read_registry(str(tmp_path)).utterances} == {"de"}


def test_descriptions_begin_intents(tmp_path: Path):
    described = "block_card=block a card: it is lost", "balance = what is on the account"

    done = run("init", str(tmp_path), *(word for each in described for word in ("--description", each)))

    assert done.exit_code == 0, done.output
    registry = read_registry(str(tmp_path))
    assert registry["block_card"].description == "block a card: it is lost"
    assert registry["balance"].description == "what is on the account"
    assert not registry["balance"].utterances


def test_terminal_asks_for_descriptions_until_none_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("intentmatch.cli.init._has_terminal", lambda: True)

    done = run("init", str(tmp_path), stdin="Pizza\n\nempty\norder pizza\norder=order a pizza\norder=again\n\n")

    assert done.exit_code == 0, done.output
    assert "'order pizza' describes no intent: write NAME=TEXT" in done.output
    assert "the intent 'order' already exists" in done.output
    assert read_registry(str(tmp_path))["order"].description == "order a pizza"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "bot").write_text("", encoding="utf-8")

    assert "is a file" in run("init", str(tmp_path / "bot")).stderr


@pytest.mark.parametrize(("languages", "beside"), [("sv, nb", "en"), ("sv, es, nb, de", "es")])
def test_a_language_without_a_starting_set_is_said(tmp_path: Path, languages: str, beside: str):
    done = run("init", str(tmp_path / "bot"), "--name", "x", "--languages", languages)

    assert "No starting set has lines in sv, nb" in done.output
    assert f"# Add lines in sv, nb beside `{beside}:`" in (tmp_path / "bot" / "x.yaml").read_text(encoding="utf-8")


WITHOUT_INTENTS = (
    "match hi", "lint", "validate", "build -o x", "eval", "chat", "format", "tune", "explain-thresholds", "inbox",
    "review", "export -f luis -o x.json", "add a hello", "add a hello --new -l en", "move hello a b",
    "rename a b", "remove a", "revisions", "restore 1", "grow --yes", "diff intents", "adapt -o x",
)  # fmt: skip


@pytest.mark.parametrize("command", WITHOUT_INTENTS)
def test_every_command_without_intents_names_init_import_and_i(tmp_path: Path, monkeypatch, command: str):
    monkeypatch.chdir(tmp_path)

    done = run(*command.split())

    assert done.exit_code in (1, 2)
    for way in ("intentmatch init", "intentmatch import", "`-i`"):
        assert way in done.output


@pytest.mark.parametrize(("command", "package"), [("serve", "fastapi"), ("studio", "nicegui")])
def test_servers_without_intents_name_init_before_any_address(tmp_path: Path, monkeypatch, command, package):
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)

    done = run(command)

    assert (done.exit_code, "intentmatch init" in done.output, "127.0.0.1" in done.output) == (2, True, False)
