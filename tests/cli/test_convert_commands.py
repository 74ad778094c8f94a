"""`intentmatch import`, `export` and `formats`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from terminal import in_a_terminal

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


def test_import_without_output_reports_and_writes_nothing(bot: Path) -> None:
    done = run("import", "bot")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "bot/nlu.yml:5:7: info [duplicate-utterance] “Hello!” is already at bot/nlu.yml:4; it is imported once",
        "bot/nlu.yml:8:7: info [learned-slot] the values of the slot 'city' were collected from labelled utterances",
        "  hint: add any values that are missing",
        "bot/nlu.yml:9:7: warning [conflicting-utterance] “hello” of 'book' already belongs to 'greet'; it is skipped",
        "rasa: 2 intents, 4 utterances, languages: not stated, slots: city",
        "  to be written with --output  lines",
        "  intents.yaml                 15",
        "0 errors, 1 warning, 2 notes",
    ]
    assert [path.name for path in Path().iterdir()] == ["bot"]


def test_import_creates_the_folder_and_writes_yaml(bot: Path) -> None:
    done = run("import", "bot", "-o", "new/intents", "--language", "EN")

    assert done.exit_code == 0
    assert "written to new/intents" in done.stdout
    found = read_registry("new/intents", expand=False)
    assert [(u.text, u.language) for u in found.utterances] == [("hello", "en"), ("to Rome", "en")]


def test_import_prints_one_json_value(bot: Path) -> None:
    """The counts are those of the imported files, before conflicting utterances are left out."""
    value = json.loads(run("import", "bot", "--json").stdout)

    assert {key: value[key] for key in ("format", "intents", "utterances", "languages", "entities")} == {
        "format": "rasa",
        "intents": 2,
        "utterances": 4,
        "languages": [],
        "entities": ["city"],
    }
    assert [(p["rule"], p["severity"], p["path"], p["line"]) for p in value["problems"]] == [
        ("duplicate-utterance", "info", "bot/nlu.yml", 5),
        ("learned-slot", "info", "bot/nlu.yml", 8),
        ("conflicting-utterance", "warning", "bot/nlu.yml", 9),
    ]
    assert set(value) == {"format", "intents", "utterances", "languages", "entities", "problems"}


def test_import_overwrites_only_with_force(bot: Path) -> None:
    Path("intents").mkdir()
    Path("intents/mine.txt").write_text("mine")
    refused = run("import", "bot", "-o", "intents")

    assert refused.exit_code == 2
    assert "intents already exists" in refused.stderr
    assert run("import", "bot", "-o", "intents", "--force").exit_code == 0
    assert sorted(path.name for path in Path("intents").iterdir()) == ["intents.yaml", "mine.txt"]


def test_import_writes_nothing_after_an_error(bot: Path) -> None:
    Path("a.csv").write_text("one,two\nx,y\n")
    done = run("import", "a.csv", "-o", "intents")

    assert done.exit_code == 2
    assert "error [no-column]" in done.stdout
    assert not Path("intents").exists()


def test_columns_of_a_table_can_be_numbers(bot: Path) -> None:
    Path("a.csv").write_text("hello,greet\nbye,leave\n")

    assert "2 intents, 2 utterances" in run("import", "a.csv", "--columns", "text=1, intent=2").stdout
    refused = run("import", "a.csv", "--columns", "text")
    assert refused.exit_code == 2
    assert "--columns takes COLUMN=NAME" in refused.stderr


def test_import_shows_five_problems_per_rule(bot: Path) -> None:
    """The number of the others follows; JSON has all of them."""
    Path("a.csv").write_text("text,intent\n" + "hello,greet\n" * 20)

    assert "... and 14 more [duplicate-utterance]" in run("import", "a.csv").stdout
    assert len(json.loads(run("import", "a.csv", "--json").stdout)["problems"]) == 19


def test_import_of_an_unknown_format_lists_the_known_ones(bot: Path) -> None:
    Path("a.txt").write_text("hello")
    done = run("import", "a.txt")

    assert done.exit_code == 2
    assert "unknown format" in done.stderr
    assert "rasa" in done.stderr


def test_import_validates_the_written_yaml(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "render", lambda registry, form: ({"a.yaml": "intents: {a: {utterances: []}}\n"}, []))
    done = run("import", "bot", "-o", "intents")

    assert done.exit_code == 2
    assert "intents/a.yaml:1:11: error [no-utterances]" in done.stdout


def test_export_reports_what_the_format_cannot_express(bot: Path) -> None:
    Path("a.yaml").write_text("intents:\n  a:\n    title: A\n    utterances: [hello]\n  b:\n    utterances: [bye]\n")
    done = run("export", "a.yaml", "--format", "csv", "-o", "a.csv")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "a.yaml:2:3: warning [not-expressed] this format cannot express `title` of 'a'",
        "a.csv: 2 intents, 2 utterances, languages: not stated; 1 problem",
    ]
    assert Path("a.csv").read_text() == "text,intent,language\nhello,a,\nbye,b,\n"
    assert run("export", "a.yaml", "--format", "csv", "-o", "a.csv").exit_code == 2


def test_export_reports_each_kind_of_loss_once(bot: Path) -> None:
    """With the number, and the places of the others; a name with an apostrophe is a name too."""
    names = ["a", "it's", "c"]
    Path("a.yaml").write_text("intents:\n" + "".join(f"  {n}: {{title: T, utterances: [to {n}]}}\n" for n in names))

    assert run("export", "a.yaml", "--format", "csv", "-o", "a.csv").stdout.splitlines() == [
        "a.yaml:2:3: warning [not-expressed] this format cannot express `title` of 'a' "
        "(3 times, also at a.yaml:3, a.yaml:4)",
        "a.csv: 3 intents, 3 utterances, languages: not stated; 3 problems",
    ]


def test_export_needs_a_format_and_a_valid_registry(bot: Path) -> None:
    Path("a.yaml").write_text("intents: {a: {utterances: []}}")
    lacking, unknown = run("export", "a.yaml", "-o", "x"), run("export", "a.yaml", "-o", "x", "-f", "rassa")

    assert (lacking.exit_code, unknown.exit_code) == (2, 2)
    assert "name the format with --format, one of intentmatch, rasa" in lacking.stderr
    assert "error [no-utterances]" in unknown.stderr


def test_formats_are_listed_as_table_and_json() -> None:
    lines = run("formats").stdout.splitlines()
    values = [json.loads(line) for line in run("formats", "--json").stdout.splitlines()]

    assert lines[0].split() == ["format", "read", "written", "what", "it", "is"]
    assert [value["format"] for value in values] == list(formats.formats())
    assert {"format": "json", "reads": True, "writes": False, "what": "JSON with a list of texts and intents"} in values


def test_table_is_pasted_on_standard_input(bot: Path) -> None:
    """Tab-separated, as spreadsheets copy it."""
    text = "where is my order\torder_status\nhow long, please\torder_status\nhi\tgreet\n\tgreet\n"
    done = CliRunner().invoke(cli, ["import", "-", "-o", "pasted", "--language", "en"], input=text)

    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].startswith("<stdin>:1:1: info [guessed-columns] the columns are taken by their")
    assert "<stdin>:4:1: warning [incomplete-row] a row without a message is skipped" in done.stdout
    found = read_registry("pasted", expand=False)
    assert [(u.text, u.language) for u in found["order_status"].utterances] == [
        ("where is my order", "en"),
        ("how long, please", "en"),
    ]


def test_columns_of_a_pasted_table_can_be_named(bot: Path) -> None:
    done = CliRunner().invoke(cli, ["import", "-", "--columns", "text=2,intent=1"], input="a\tb\nc\td\n")

    assert "csv: 2 intents, 2 utterances" in done.stdout


def test_empty_standard_input_is_refused(bot: Path) -> None:
    done = CliRunner().invoke(cli, ["import", "-"], input="")

    assert done.exit_code == 2
    assert "<stdin>: unknown format" in done.stderr


def test_terminal_is_told_how_to_end_the_paste(bot: Path) -> None:
    code, printed = in_a_terminal("import", "-", typed=b"text\tintent\nhi\tgreet\n\x04")

    assert code == 0
    assert "Paste the table, then press Ctrl-D on an empty line." in printed.decode()
    assert "1 intent, 1 utterance" in printed.decode()


def test_import_of_a_missing_path_is_refused(bot: Path) -> None:
    done = run("import", "nowhere.csv")

    assert done.exit_code == 2
    assert "nowhere.csv: no such file or folder" in done.stderr
