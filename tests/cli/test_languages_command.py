"""`intentmatch languages`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from languages_page import figures, page_with_table

import intentmatch
from intentmatch.cli.commands import cli
from intentmatch.languages.measured import FILE
from intentmatch.languages.sections import SECTIONS
from intentmatch.languages.tables import codes

PAGE = Path(intentmatch.__file__).parent / "guide" / "languages.md"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def test_languages_are_listed_as_table_and_json():
    head, *lines = run("languages").stdout.splitlines()
    rows = [json.loads(line) for line in run("languages", "--json").stdout.splitlines()]

    assert head.split()[:3] == ["code", "language", "chat"]
    assert [line.split()[0] for line in lines] == [row["code"] for row in rows] == list(codes())
    assert all({*row["sections"], *row["lacks"]} == set(SECTIONS) for row in rows)


def test_a_language_is_shown_with_an_example_of_each_section_and_what_it_lacks():
    lines = run("languages", "pl").stdout.splitlines()

    assert "durations yes pół godziny: PT30M" in [" ".join(line.split()) for line in lines]
    assert "elisions -" in [" ".join(line.split()) for line in lines]
    assert [line.split()[0] for line in lines[1:]] == list(SECTIONS)


def test_an_unknown_language_is_an_error_with_the_known_ones():
    done = run("languages", "tlh")

    assert done.exit_code == 2
    assert "unknown language 'tlh': known are " in done.stderr


def test_the_guide_prints_the_table():
    page = PAGE.read_text(encoding="utf-8")

    assert run("languages").stdout.rstrip() in page
    assert page_with_table(page) == page


def test_figures_are_those_of_the_model_card():
    """A language that was not measured has none: its figure is not guessed from a related one."""
    rows = {row["code"]: row for row in map(json.loads, run("languages", "--json").stdout.splitlines())}

    assert json.loads(FILE.read_text(encoding="utf-8")) == figures()
    assert {code: rows[code]["measured"] for code in ("de", "no", "sw", "en")} == {
        "de": 94.5,
        "no": 82.6,
        "sw": 31.9,
        "en": None,
    }
