"""Tests for tables: columns, quotes, locations and skipped rows."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from contracts.format import Subject, contract

from intentmatch import formats
from intentmatch.core.errors import InputError, IntentMatchError, RegistryError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.formats import delimited, records, spreadsheet
from intentmatch.formats.kit.archive import zip_files

SUBJECTS = [
    Subject(
        delimited.FORMAT, {"faq.csv": 'Question,Intent,Lang\n"hello, you",greet,en\nhallo,greet,de\nbye,leave,en\n'}
    ),
    Subject(spreadsheet.FORMAT),
    Subject(
        records.LINES,
        {"log.jsonl": '{"text": "hello", "intent": "greet", "lang": "en"}\n{"text": "bye", "intent": "b"}\n'},
    ),
    Subject(records.LIST, {"data.json": '{"lang": "en", "sentences": [{"text": "hello", "intent": "greet", "n": 3}]}'}),
    Subject(
        records.PATTERNS,
        {"intents.json": '{"intents": [{"tag": "greet", "patterns": ["hello"], "responses": ["Hi!"], "set": [""]}]}'},
    ),
]
test_obeys_contract = contract(*SUBJECTS)


def read(folder: Path, text: str, name: str = "a.csv", **more: Any) -> formats.Imported:
    """Import a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return formats.read(folder / name, **more)


def in_short(found: formats.Imported) -> list[tuple]:
    return [(i.name, u.text, u.language, u.location.line) for i in found.registry for u in i.utterances]


@pytest.mark.parametrize(
    "text",
    [
        "text,intent\nhello,a\nbye,b\n",
        "Intent;Utterance\na;hello\nb;bye\n",
        "﻿label\tsentence\r\na\thello\r\nb\tbye\r\n",
        "class|message|score\na|hello|1\nb|bye|2\n",
        "\ntext,intent\nhello,a\nbye,b\n,,\n",
    ],
)
def test_columns_are_recognised_by_common_names(tmp_path: Path, text: str) -> None:
    assert [(name, utterance) for name, utterance, _, _ in in_short(read(tmp_path, text))] == [
        ("a", "hello"),
        ("b", "bye"),
    ]


def test_line_numbers_count_line_breaks_in_cells(tmp_path: Path) -> None:
    found = read(tmp_path, 'text,intent,lang\n"hel\nlo",a,en\nbye,b,\n')

    assert in_short(found) == [("a", "hel\nlo", "en", 2), ("b", "bye", None, 4)]


def test_lone_quotes_in_tsv_are_text(tmp_path: Path) -> None:
    assert in_short(read(tmp_path, "text\tintent\n5\" screen, isn't it\ta\n", "a.tsv"))[0][1] == "5\" screen, isn't it"


@pytest.mark.parametrize(
    "text",
    [
        'text\tintent\n"say ""hi""\nto them"\tgreet\nbye\tleave\n',
        'text\tintent\r\n"say ""hi""\nto them"\tgreet\r\nbye\tleave\r\n',
        'intent\ttext\ngreet\t"say ""hi""\nto them"\nleave\tbye\n',
        'sep=\t\ntext\tintent\n"say ""hi""\nto them"\tgreet\nbye\tleave\n',
        'sep=;\r\nintent;text\r\ngreet;"say ""hi""\nto them"\r\nleave;bye\r\n',
        '"sep=|"\nintent|text\ngreet|"say ""hi""\nto them"\nleave|bye\n',
    ],
)
def test_cells_are_read_as_spreadsheets_write_them(tmp_path: Path, text: str) -> None:
    """Cells in quotes with line breaks and quotes inside, and the line that tells Excel the delimiter."""
    found = read(tmp_path, text, "a.tsv")

    first = 3 if "sep=" in text else 2
    assert in_short(found) == [("greet", 'say "hi"\nto them', None, first), ("leave", "bye", None, first + 2)]
    assert in_short(formats.read_bytes(text.encode())) == in_short(found)


@pytest.mark.parametrize("text", ['"Hi" to you\ta\nbye "you"\tb\n', '"hi\ta\nbye"\tb\n', '5" wide\ta\n6"\tb\n'])
def test_quotes_that_people_type_in_tsv_are_text(tmp_path: Path, text: str) -> None:
    rows = [tuple(line.split("\t")) for line in text.splitlines()]

    found = read(tmp_path, f"text\tintent\n{text}", "a.tsv")
    assert [(line, name) for name, line, _, _ in in_short(found)] == rows


@pytest.mark.parametrize("text", ["{}\tintent\nhello\ta\n", "text\tintent\nhello\ta\n{}\tb\n"])
def test_cell_without_end_is_an_error_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(RegistryError, match="cannot be read as a table"):
        read(tmp_path, text.format("x" * 140_000), format="csv")


def test_tsv_of_pandas_comes_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    rows = [('He said "hi",\nand left', "greet"), ("a\ttab", "other"), ('"all"', "other")]
    pandas.DataFrame(rows, columns=["text", "intent"]).to_csv(tmp_path / "a.tsv", sep="\t", index=False)

    assert [(line, name) for name, line, _, _ in in_short(formats.read(tmp_path / "a.tsv"))] == rows


def test_query_log_of_luis_names_the_top_intents(tmp_path: Path) -> None:
    """As LUIS exports endpoint logs, in versions 2 and 3; never the JSON as a response."""
    answers = [
        {"query": "a", "intents": [{"intent": "None", "score": 0.1}, {"intent": "Book", "score": 0.8}], "entities": []},
        {"query": "b", "topScoringIntent": {"intent": "Price", "score": 0.6}, "intents": []},
        {"query": "c", "prediction": {"topIntent": "Book", "intents": {"Book": {"score": 0.9}}, "entities": {}}},
        {"query": "d", "prediction": {"intents": {"Price": {"score": 0.9}, "Book": {"score": 0.2}}}},
        {"query": "e", "error": "no answer"},
    ]
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["Query", "UTC DateTime", "Response", "SecondaryId", "Region"])
    table.writerows([[a["query"], "03/29/2022 23:34:22", json.dumps(a), "PRODUCTION", "WestUS"] for a in answers])
    found = read(tmp_path, out.getvalue())

    assert [row[:2] for row in in_short(found)] == [("Book", "a"), ("Book", "c"), ("Price", "b"), ("Price", "d")]
    assert not any(intent.responses for intent in found.registry)
    assert {"predicted-intents", "incomplete-row"} <= {problem.rule for problem in found.problems}


def test_user_can_name_or_number_columns(tmp_path: Path) -> None:
    named = read(
        tmp_path,
        "Frage,Thema,Sprache\nhallo,a,de\n",
        columns={"text": "frage", "intent": "Thema", "language": "Sprache"},
    )
    numbered = read(tmp_path, "a,x,hello\nb,x,bye\n", columns={"text": "3", "intent": "1"})

    assert in_short(named) == [("a", "hallo", "de", 2)]
    assert in_short(numbered) == [("a", "hello", None, 1), ("b", "bye", None, 2)]


@pytest.mark.parametrize("columns", [{"text": "gone", "intent": "b"}, {"text": "0", "intent": "1"}, {"txt": "a"}])
def test_unknown_columns_raise(tmp_path: Path, columns: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"there is no column|unknown column .* in --columns"):
        read(tmp_path, "a,b\nx,y\n", columns=columns)


def test_question_answer_table_has_an_intent_per_answer(tmp_path: Path) -> None:
    """Named after its first question, which becomes its title."""
    found = read(tmp_path, "question,answer\nWhere are you?,In Rome.\nWhere?,In Rome.\nwhere are you,At home.\n")

    assert [(intent.name, intent.title, dict(intent.responses)) for intent in found.registry] == [
        ("where_are_you", "Where are you?", {"": "In Rome."}),
        ("where_are_you_", "where are you", {"": "At home."}),
    ]


def test_skipped_rows_and_columns_are_reported(tmp_path: Path) -> None:
    found = read(tmp_path, "text,intent,score,notes\nhello,a,1,\n,a,1,\nbye,,1,\n")

    assert [str(problem).partition(": ")[2] for problem in found.problems] == [
        "warning [not-expressed] columns that are not imported: score, notes",
        "warning [incomplete-row] a row without a message is skipped",
        "warning [incomplete-row] a row without an intent is skipped",
    ]


def test_table_without_columns_is_an_error_only_if_alone(tmp_path: Path) -> None:
    (alone,) = read(tmp_path, "one,two\nx,y\n", "b.csv").problems
    (tmp_path / "a.csv").write_text("text,intent\nhello,a\n")
    (beside,) = formats.read(tmp_path).problems

    assert (alone.severity, beside.severity) == ("error", "warning")


@pytest.mark.parametrize("text", ["", "\n\n", "text,intent\n"])
def test_table_without_rows_has_no_intents(tmp_path: Path, text: str) -> None:
    assert len(read(tmp_path, text, format="csv").registry) == 0


def test_every_sheet_with_the_columns_is_read(tmp_path: Path) -> None:
    """Locations name the sheet."""
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    for title, rows in {
        "faq": [["text", "intent"], ["hello", "a"], [None, None], [42, "b"]],
        "x": [["intent", "text"], [1.5, "=1+1"]],
    }.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book["x"]["B2"].data_type = "s"
    book.save(tmp_path / "a.xlsx")
    found = formats.read(tmp_path / "a.xlsx")

    assert in_short(found) == [("a", "hello", None, 2), ("b", "42", None, 4), ("1.5", "=1+1", None, 2)]
    assert found.registry["a"].location.path == str(tmp_path / "a.xlsx" / "faq")
    assert [problem.rule for problem in found.problems] == ["no-column"]


def test_control_characters_are_reported(tmp_path: Path) -> None:
    (problem,) = formats.write(Registry((Intent("a", (Utterance("be\x07ep"),)),)), "xlsx", tmp_path / "a.xlsx")

    assert problem.rule == "not-expressed"
    assert in_short(formats.read(tmp_path / "a.xlsx"))[0][1] == "beep"


def test_damaged_spreadsheet_is_refused(tmp_path: Path) -> None:
    formats.write(Registry((Intent("a", (Utterance("x"),)),)), "xlsx", tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        files = {name: book.read(name) for name in book.namelist()}
    for name in files:
        for damaged in (b"", b"<", files[name][: len(files[name]) // 2]):
            (tmp_path / "b.xlsx").write_bytes(zip_files({**files, name: damaged}))
            with suppress(IntentMatchError):
                formats.read(tmp_path / "b.xlsx")


def test_invalid_json_line_is_an_error_with_its_location(tmp_path: Path) -> None:
    found = read(tmp_path, '{"text": "x", "intent": "a"}\n{"text": }\n[]\n{"text": "y"}\n', "a.jsonl")

    assert in_short(found) == [("a", "x", None, 1)]
    assert [(p.location.line, p.location.column, p.severity) for p in found.problems] == [
        (2, 10, "error"),
        (3, 1, "warning"),
        (3, 1, "warning"),
        (4, 1, "warning"),
    ]


@pytest.mark.parametrize("tag", ["tag", "intent", "label", "name"])
@pytest.mark.parametrize("responses", ["responses", "answers"])
def test_patterns_format_accepts_key_variants(tmp_path: Path, tag: str, responses: str) -> None:
    """Empty unknown keys are no loss."""
    text = (
        f'{{"intents": [{{"{tag}": "a", "patterns": ["hi"], "{responses}": ["Hello"], "context": [""], "set": []}}]}}'
    )
    found = read(tmp_path, text, "a.json")

    assert in_short(found) == [("a", "hi", None, 1)]
    assert found.registry["a"].responses == {"": "Hello"}
    assert found.problems == ()


def test_guessed_columns_are_named_in_a_note(tmp_path: Path) -> None:
    """With the way to name others."""
    found = read(tmp_path, "Frage;Thema\nWo ist es?;a\nWie weit ist es?;a\nHallo du;b\n")

    assert in_short(found) == [
        ("a", "Wo ist es?", None, 2),
        ("a", "Wie weit ist es?", None, 3),
        ("b", "Hallo du", None, 4),
    ]
    (note,) = found.problems
    assert (note.severity, note.rule, note.location.line) == ("info", "guessed-columns", 1)
    assert "text is column 1 ('Frage'), intent is column 2 ('Thema')" in note.message
    assert "--columns text=NAME,intent=NAME" in note.hint


def test_note_says_which_of_several_known_columns_is_taken(tmp_path: Path) -> None:
    """Unless the user named it."""
    text = "text,category,intent\nhello,x,a\n"
    notes = [problem.message for problem in read(tmp_path, text).problems if problem.rule == "guessed-columns"]
    named = read(tmp_path, text, columns={"intent": "category"})

    assert notes == ["the intent is taken from 'intent', not from category"]
    assert in_short(named) == [("x", "hello", None, 2)]
    assert "guessed-columns" not in {problem.rule for problem in named.problems}


def test_each_column_is_an_intent_in_a_spreadsheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["order_status", "greet"], ["where is it", "hi"], [None, "hello"]]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    found = formats.read(tmp_path / "a.xlsx")

    assert in_short(found) == [
        ("order_status", "where is it", None, 2),
        ("greet", "hi", None, 2),
        ("greet", "hello", None, 3),
    ]
    assert [problem.message for problem in found.problems] == ["each column is read as an intent: order_status, greet"]


def test_groups_of_a_spreadsheet_keep_their_empty_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["order_status"], ["where is it"], [None], ["greet_user"], ["hi"]]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")

    assert in_short(formats.read(tmp_path / "a.xlsx")) == [
        ("order_status", "where is it", None, 2),
        ("greet_user", "hi", None, 5),
    ]


def test_user_can_say_that_each_column_is_an_intent(tmp_path: Path) -> None:
    """A cell below no name is reported."""
    found = read(tmp_path, "one,two,\nhello,bye,x\n", columns={"text": "*"})

    assert in_short(found) == [("one", "hello", None, 2), ("two", "bye", None, 2)]
    assert [problem.rule for problem in found.problems] == ["guessed-columns", "incomplete-row"]
    assert [p.rule for p in read(tmp_path, "one,two\n", columns={"text": "*"}).problems] == ["no-column"]


@pytest.mark.parametrize(
    ("text", "columns", "messages"),
    [
        ("text\nhello\nhi, you\n", {}, ["hello", "hi, you"]),
        ("hello\nhi, you\n", {"text": "1"}, ["hello", "hi, you"]),
        ("Nachricht\nhello\nhi, you\n", {"text": "Nachricht"}, ["hello", "hi, you"]),
        ("hi, you\nwell, hello\nbye\n", {}, ["hi, you", "well, hello", "bye"]),
    ],
)
def test_column_of_messages_alone_is_one_intent(
    tmp_path: Path, text: str, columns: dict[str, str], messages: list[str]
) -> None:
    """Named after the file. A comma in a sentence is punctuation."""
    found = read(tmp_path, text, "greet.csv", columns=columns)

    assert [(name, message) for name, message, _, _ in in_short(found)] == [("greet", text) for text in messages]
    assert [problem.rule for problem in found.problems] == ["guessed-columns"]


def test_column_of_intents_alone_is_its_own_utterances(tmp_path: Path) -> None:
    assert in_short(read(tmp_path, "intent\nwhere is it\n")) == [("where is it", "where is it", None, 2)]


def test_nothing_is_guessed_beside_a_table_with_known_columns(tmp_path: Path) -> None:
    """Its neighbours are notes and legends."""
    (tmp_path / "b.csv").write_text("order_status,greet\nwhere is it,hi\n,hello\n")
    (tmp_path / "a.csv").write_text("text,intent\nhello,a\n")
    found = formats.read(tmp_path)

    assert [intent.name for intent in found.registry] == ["a"]
    assert [problem.rule for problem in found.problems] == ["no-column"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi, you, there\tgreet\nhello\tgreet\nwhere is it\tstatus\n", ["Hi, you, there", "hello", "where is it"]),
        ('"two\nlines"\tgreet\nhello\tgreet\nwhere is it\tstatus\n', ["two\nlines", "hello", "where is it"]),
        ('"quoted" word\tgreet\nhello\tgreet\nwhere is it\tstatus\n', ['"quoted" word', "hello", "where is it"]),
        ("text\tintent\r\nhello\tgreet\r\n", ["hello"]),
        ("hello, you\nwhere is it\n", ["hello, you", "where is it"]),
    ],
)
def test_pasted_table_is_read(text: str, expected: list[str]) -> None:
    """Separated by tabs, whatever else its cells have; a list has one column."""
    found = formats.read_bytes(text.encode())

    assert found.format == "csv"
    assert [utterance.text for utterance in found.registry.utterances] == expected
    assert {utterance.location.path for utterance in found.registry.utterances} == {"<stdin>"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"<stdin>: unknown format\. Files found: <stdin>"),
        (b"foo:\n  bar: 1\n", r"<stdin> has the keys foo\."),
        (b'{"foo": }', r"<stdin>:1:9: error \[json-syntax\]"),
        (b"PK\3\4 no zip", "<stdin>"),
    ],
)
def test_unknown_standard_input_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        formats.read_bytes(data)


def test_standard_input_may_be_a_zip_or_another_format(tmp_path: Path) -> None:
    nlu = "nlu:\n- intent: greet\n  examples: |\n    - hello\n"
    found = formats.read_bytes(nlu.encode())
    zipped = formats.read_bytes(zip_files({"a.csv": b"text,intent\nhello,greet\n"}), place="bot.zip")

    assert (found.format, found.registry.utterances[0].location.line) == ("rasa", 4)
    assert (zipped.format, zipped.registry.utterances[0].location.path) == ("csv", "bot.zip/a.csv")
