"""`intentmatch import`, `export` and `formats`: what they say, what they write, and when they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch import formats
from intentmatch.cli.commands import cli
from intentmatch.registry import read_registry

NLU = """\
nlu:
- intent: greet
  examples: |
    - hello
    - Hello!
- intent: book
  examples: |
    - to [Rome](city)
    - hello
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "nlu.yml").write_text(NLU, encoding="utf-8")
    return Path("bot")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def test_import_reports_and_writes_nothing(bot: Path) -> None:
    """What was found, what would be written, and every problem with its place."""
    done = run("import", "bot")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "bot/nlu.yml:5:7: warning [duplicate-utterance] “Hello!” is already at bot/nlu.yml:4",
        "  hint: remove one of the two",
        "bot/nlu.yml:8:7: info [learned-slot] the values of the slot 'city' were collected from labelled utterances",
        "  hint: add any values that are missing",
        "bot/nlu.yml:9:7: warning [conflicting-utterance] “hello” of 'book' already belongs to 'greet'; it is skipped",
        "rasa: 2 intents, 4 utterances, languages: not stated, slots: city",
        "  to be written with --output  lines",
        "  intents.yaml                 16",
        "0 errors, 2 warnings, 1 note",
    ]
    assert [path.name for path in Path().iterdir()] == ["bot"]


def test_import_writes_what_can_be_matched(bot: Path) -> None:
    """In the language that was said; the folder is made."""
    done = run("import", "bot", "-o", "new/intents", "--language", "EN")

    assert done.exit_code == 0
    assert "written to new/intents" in done.stdout
    found = read_registry("new/intents", expand=False)
    assert [(u.text, u.language) for u in found.utterances] == [("hello", "en"), ("Hello!", "en"), ("to Rome", "en")]


def test_import_for_programs(bot: Path) -> None:
    """One JSON value with all that was found, before anything is left out."""
    value = json.loads(run("import", "bot", "--json").stdout)

    assert {key: value[key] for key in ("format", "intents", "utterances", "languages", "entities")} == {
        "format": "rasa",
        "intents": 2,
        "utterances": 4,
        "languages": [],
        "entities": ["city"],
    }
    assert [(p["rule"], p["severity"], p["path"], p["line"]) for p in value["problems"]] == [
        ("duplicate-utterance", "warning", "bot/nlu.yml", 5),
        ("learned-slot", "info", "bot/nlu.yml", 8),
        ("conflicting-utterance", "warning", "bot/nlu.yml", 9),
    ]
    assert set(value) == {"format", "intents", "utterances", "languages", "entities", "problems"}


def test_import_does_not_write_over_anything(bot: Path) -> None:
    """Unless it is told to."""
    Path("intents").mkdir()
    Path("intents/mine.txt").write_text("mine")
    refused = run("import", "bot", "-o", "intents")

    assert refused.exit_code == 2
    assert "intents already exists" in refused.stderr
    assert run("import", "bot", "-o", "intents", "--force").exit_code == 0
    assert sorted(path.name for path in Path("intents").iterdir()) == ["intents.yaml", "mine.txt"]


def test_import_writes_nothing_where_something_could_not_be_read(bot: Path) -> None:
    """An error is the exit code."""
    Path("a.csv").write_text("one,two\nx,y\n")
    done = run("import", "a.csv", "-o", "intents")

    assert done.exit_code == 2
    assert "error [no-column]" in done.stdout
    assert not Path("intents").exists()


def test_import_takes_the_columns_of_a_table(bot: Path) -> None:
    """By name or number."""
    Path("a.csv").write_text("hello,greet\nbye,leave\n")

    assert "2 intents, 2 utterances" in run("import", "a.csv", "--columns", "text=1, intent=2").stdout
    refused = run("import", "a.csv", "--columns", "text")
    assert refused.exit_code == 2
    assert "--columns takes COLUMN=NAME" in refused.stderr


def test_import_shows_the_first_problems_of_each_kind(bot: Path) -> None:
    """And how many more there are."""
    Path("a.csv").write_text("text,intent\n" + "hello,greet\n" * 20)

    assert "... and 14 more [duplicate-utterance]" in run("import", "a.csv").stdout
    assert len(json.loads(run("import", "a.csv", "--json").stdout)["problems"]) == 19


def test_import_says_what_it_does_not_know(bot: Path) -> None:
    """With what would be known."""
    Path("a.txt").write_text("hello")
    done = run("import", "a.txt")

    assert done.exit_code == 2
    assert "unknown format" in done.stderr
    assert "rasa" in done.stderr


def test_what_was_written_is_validated(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a format not keep its word, that is an error, and said."""
    monkeypatch.setattr(formats, "render", lambda registry, form: ({"a.yaml": "intents: {a: {utterances: []}}\n"}, []))
    done = run("import", "bot", "-o", "intents")

    assert done.exit_code == 2
    assert "intents/a.yaml:1:11: error [no-utterances]" in done.stdout


def test_export_writes_and_tells_what_is_lost(bot: Path) -> None:
    """With the place of it."""
    Path("a.yaml").write_text("intents:\n  a:\n    title: A\n    utterances: [hello]\n  b:\n    utterances: [bye]\n")
    done = run("export", "a.yaml", "--format", "csv", "-o", "a.csv")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "a.yaml:2:3: warning [not-expressed] this format cannot express `title` of 'a'",
        "a.csv: 2 intents, 2 utterances, languages: not stated; 1 problem",
    ]
    assert Path("a.csv").read_text() == "text,intent,language\nhello,a,\nbye,b,\n"
    assert run("export", "a.yaml", "--format", "csv", "-o", "a.csv").exit_code == 2


def test_export_needs_a_format_and_a_sound_registry(bot: Path) -> None:
    """Each is said."""
    Path("a.yaml").write_text("intents: {a: {utterances: []}}")
    lacking, unknown = run("export", "a.yaml", "-o", "x"), run("export", "a.yaml", "-o", "x", "-f", "rassa")

    assert (lacking.exit_code, unknown.exit_code) == (2, 2)
    assert "name the format with --format: intentmatch, rasa" in lacking.stderr
    assert "error [no-utterances]" in unknown.stderr


def test_formats_are_listed() -> None:
    """What is read and what is written."""
    lines = run("formats").stdout.splitlines()
    values = [json.loads(line) for line in run("formats", "--json").stdout.splitlines()]

    assert lines[0].split() == ["format", "read", "written", "what", "it", "is"]
    assert [value["format"] for value in values] == list(formats.formats())
    assert {"format": "json", "reads": True, "writes": False, "what": "JSON with a list of texts and intents"} in values
