"""The source line of a problem with a caret under its place."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from command_line import run
from rich.cells import cell_len

from intentmatch.cli.render import output
from intentmatch.cli.render.source import excerpt
from intentmatch.core.errors import Location, Problem, RegistryError

WRONG = "intents:\n  a:\n    utterances: [hi]\n    zzz: 1\n"


def shown(folder: Path, text: str | bytes, line: int, column: int) -> list[str]:
    file = folder / "bot.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return excerpt(Location(str(file), line, column))


def test_caret_is_under_the_place(tmp_path: Path):
    assert shown(tmp_path, "a:\n  - @home\n", 2, 5) == ["  2 |   - @home", "    |     ^"]


def test_caret_may_be_behind_the_last_character(tmp_path: Path):
    assert shown(tmp_path, "a: [\n", 1, 5) == ["  1 | a: [", "    |     ^"]


@pytest.mark.parametrize(
    ("line", "column", "width"),
    [("- 注文は @x", 7, 9), ("- ไทย กี่ @x", 11, 8), ("- ё́é @x", 7, 5), ("-\t@x", 3, 5), ("- 👩‍🚀 @x", 7, 5)],
)
def test_caret_counts_the_columns_of_a_terminal(tmp_path: Path, line, column, width):
    """Wide characters take two, accents none, and a tab is shown as four spaces."""
    text, caret = shown(tmp_path, line, 1, column)

    assert cell_len(text) - cell_len("@x") == len(caret) - 1
    assert len(caret) - 1 == len("  1 | ") + width


@pytest.mark.parametrize("column", [3, 150, 297])
def test_long_line_is_cut_to_the_terminal_around_the_caret(tmp_path: Path, monkeypatch, column):
    monkeypatch.setenv("COLUMNS", "60")
    line = "- " + "".join(chr(0x4E00 + number) for number in range(300))

    text, caret = shown(tmp_path, line, 1, column)

    assert cell_len(text) <= 60
    kept = next(n for n in range(len(text)) if cell_len(text[:n]) == len(caret) - 1)
    assert text[kept] == line[column - 1]
    assert ("…" in text[:10], text.endswith("…")) == (column > 100, column < 290)


def test_control_characters_are_not_sent_to_the_terminal(tmp_path: Path):
    text, _ = shown(tmp_path, "a: \x1b[31m\u202ered @x", 1, 14)

    assert text == "  1 | a: \ufffd[31m\ufffdred @x"


@pytest.mark.parametrize(
    ("text", "line", "column"), [("", 1, 1), ("a\n\nb", 2, 1), ("a", 2, 1), ("a", 1, 9), (b"\xff\xfe", 7, 1)]
)
def test_place_without_a_source_line_has_no_excerpt(tmp_path: Path, text, line, column):
    assert shown(tmp_path, text, line, column) == []


@pytest.mark.parametrize("path", ["nowhere.yaml", "registry", "HEAD:shop.yaml", "", "a\0b"])
def test_place_outside_files_has_no_excerpt(path):
    assert excerpt(Location(path)) == []


def test_folder_has_no_excerpt(tmp_path: Path):
    assert excerpt(Location(str(tmp_path))) == []


def test_changed_file_is_read_again(tmp_path: Path):
    shown(tmp_path, "a: @x\n", 1, 4)

    assert shown(tmp_path, "a: @other\n", 1, 4)[0] == "  1 | a: @other"


def test_lines_are_those_of_the_reader(tmp_path: Path):
    """A byte order mark is no column; \u2028 ends a line in YAML."""
    assert shown(tmp_path, "\ufeffa: 1\u2028b: @x\r\nc: 1\n", 2, 4)[0] == "  2 | b: @x"


@pytest.mark.parametrize(
    ("form", "full"), [("full", True), ("concise", False), ("human", False)], ids=["full", "concise", "pipe"]
)
@pytest.mark.parametrize("command", ["validate", "lint"])
def test_form_decides_whether_the_source_is_shown(shop: str, command, form, full):
    Path(shop, "shop.yaml").write_text(WRONG, encoding="utf-8")

    done = run(command, shop, "--format", form)

    assert ("  4 |     zzz: 1\n    |     ^\n" in done.stdout) == full
    assert f"{shop}/shop.yaml:4:5: error [unknown-key] unknown key" in done.stdout


def test_terminal_shows_the_source(shop: str, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    Path(shop, "shop.yaml").write_text(WRONG, encoding="utf-8")
    problem = Problem(Location(f"{shop}/shop.yaml", 4, 5), "error", "unknown-key", "unknown key", "a hint")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    output.problems([problem], "human")
    output.error(RegistryError([problem]))

    printed = capsys.readouterr()
    expected = (
        f"{shop}/shop.yaml:4:5: error [unknown-key] unknown key\n  4 |     zzz: 1\n    |     ^\n  hint: a hint\n\n"
    )
    assert click.unstyle(printed.out) == expected
    assert click.unstyle(printed.err) == f"{expected}1 error\n"


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_json_and_github_have_no_source_lines(shop: str, command):
    Path(shop, "shop.yaml").write_text(WRONG, encoding="utf-8")

    (found,) = [
        problem
        for problem in json.loads(run(command, shop, "--format", "json").stdout)["problems"]
        if problem["rule"] == "unknown-key"
    ]
    assert set(found) == {"path", "line", "column", "severity", "rule", "message", "hint"}
    assert "zzz: 1" not in run(command, shop, "--format", "github").stdout
