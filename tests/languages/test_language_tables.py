"""Languages' files: every section has its shape, errors name file and line, and nothing is read before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from intentmatch.languages import files
from intentmatch.languages.files import LanguageFileError
from intentmatch.languages.sections import SECTIONS, STRUCTURE
from intentmatch.languages.structure import structure_of
from intentmatch.languages.tables import Table, codes, read_section, sections_of
from intentmatch.text.normalize import language_code


@pytest.mark.parametrize("code", codes())
def test_every_section_of_a_language_has_its_shape(code):
    """The file is named after the code of its language, and has sections in the order of `SECTIONS`."""
    assert language_code(code) == code
    assert [name for name in SECTIONS if name in sections_of(code)] == list(sections_of(code))
    assert all(read_section(code, name) for name in sections_of(code))


def test_a_table_has_the_languages_that_have_its_section():
    table = Table[str]("question_mark")

    assert table["ar"] == "؟"
    assert table.get("en") is None
    assert "en" not in table
    assert set(table) == {code for code in codes() if "question_mark" in sections_of(code)}
    assert len(table) == len(list(table))


def test_a_language_picks_its_structure_by_name():
    assert structure_of("ja") > {"unspaced"}
    assert structure_of("pl") == frozenset()
    assert {name for code in codes() for name in structure_of(code)} == set(STRUCTURE)


def test_a_language_without_a_file_has_no_section():
    """Codes of messages come from outside: none leads out of the folder."""
    assert sections_of("tlh") == ()
    assert read_section("../languages/pl", "names") is None


@pytest.mark.parametrize(
    ("text", "section", "why"),
    [
        ("names: polish\nstop_words: [a]\n", "stop_words", "2: stop_words: expected words with spaces"),
        ("names: [\n", "names", "2: names: did not find expected"),
        ("cents:\n  {a: USD,\n   b: EUR, a: EUR}\n", "cents", "3: cents: 'a' stands here twice"),
        ("clock:\n  before: [um]\n  past: {nach: eins}\n", "clock", "3: clock: expected a number, found 'eins'"),
        ("clock:\n\n  befor: [um]\n", "clock", "3: clock: unknown key 'befor': known are before,"),
        ("clock: {before: [a|b]}\n", "clock", "1: clock: a phrase may not contain a bar"),
        ("clock: {endings: 'a['}\n", "clock", "1: clock: invalid regular expression"),
        ("clock: {parts_first: maybe}\n", "clock", "1: clock: expected true or false, found 'maybe'"),
        ("cardinals: {compounding: [vigesima]}\n", "cardinals", "1: cardinals: unknown name 'vigesima': known are one"),
        ("days: heute\n", "days", "1: days: expected a map"),
        ("ordinals: [a]\n", "ordinals", "1: ordinals: expected a map with some of words,"),
        ("weekdays: a\n", "weekdays", "1: weekdays: expected a list such as"),
        ("number_forms: {fixed: {a: 1/0}}\n", "number_forms", "1: number_forms: expected a number, found '1/0'"),
        ("# Polish\nmonth: a\n", "months", "2: unknown section 'month': known are names,"),
        ("months: a\n\nmonths: b\n", "months", "3: the section 'months' stands here twice"),
    ],
)
def test_an_invalid_file_is_reported_with_file_and_line(tmp_path, text, section, why):
    file = tmp_path / "xx.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(LanguageFileError) as error:
        files.read_section(file, section)

    assert str(error.value).startswith(f"{file}:{why}")


def test_texts_keep_what_yaml_would_convert(tmp_path):
    """Norwegian, times and octal numbers are texts unless the section wants a number."""
    file = tmp_path / "xx.yaml"
    file.write_text("shorthand: {no: nei, y: 12:00, o7: 010}\nnumber_forms: {fixed: {a: 2/3, b: -1_000, c: 0.5}}\n")

    assert files.read_section(file, "shorthand") == {"no": "nei", "y": "12:00", "o7": "010"}
    assert files.read_section(file, "number_forms") == {"fixed": {"a": 2 / 3, "b": -1000, "c": 0.5}}


def test_importing_the_package_reads_no_language():
    """Start-up pays for no language; a message pays for the sections of its own."""
    program = (
        "from intentmatch import Matcher, slots\n"
        "from intentmatch.slots import money, moments, ordinals, numbers\n"
        "from intentmatch.languages import files\n"
        "print(files.section_texts.cache_info().currsize)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "0\n"


def test_one_language_is_read_without_the_others(monkeypatch):
    read = []
    known = files.section_texts
    monkeypatch.setattr(files, "section_texts", lambda path: read.append(path.stem) or known(path))

    assert Table[str]("degrees")["pl"]

    assert set(read) == {"pl"}
