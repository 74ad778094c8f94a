"""Reading test cases from each file type, and the location of every problem."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import InputError, IntentMatchError, Location, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.evaluation.cases import READERS, read_cases

PROBLEMS = yaml.safe_load(Path(__file__).with_name("case_problems.yaml").read_text(encoding="utf-8"))
KNOWN = ["greet", "book_flight"]

YAML = """\
language: en
tests:
  - text: hello there
    intent: greet
  - {text: hallo, intent: [greet, book_flight], language: de}
  - {text: tell me a joke, intent: out_of_scope}
"""
LINES = """\
{"text": "hello there", "intent": "greet", "language": "en", "split": "valid"}

{"text": "hallo", "intent": ["greet", "book_flight"], "lang": "de"}
{"text": "tell me a joke", "intent": null, "lang": "en"}
"""
CSV = 'Text, intent ,lang\r\nhello there,greet,en\r\n"hal\nlo",greet,de\r\n\r\ntell me a joke,out_of_scope,\r\n'
RASA = """\
version: "3.1"
nlu:
- intent: greet
  examples: |
    - hello
    - hi [there](place)
- synonym: Rome
  examples: |
    - roma
- intent: book_flight
  examples:
    - text: |
        - to [Rome]{"entity": "city", "role": "to"}
      metadata: {x: 1}
    - 'from [Oslo, Paris][{"entity": "city"}]'
- intent: nlu_fallback
  examples: |

    - tell me a joke
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def in_short(cases: tuple[Case, ...]) -> list[tuple]:
    return [(c.text, c.expected, c.language, f"{c.location.line}:{c.location.column}") for c in cases]


def test_yaml_tests_are_read(tmp_path: Path):
    assert in_short(read_cases(write(tmp_path, "t.yaml", YAML), KNOWN)) == [
        ("hello there", "greet", "en", "3:5"),
        ("hallo", ("greet", "book_flight"), "de", "5:5"),
        ("tell me a joke", None, "en", "6:5"),
    ]


def test_json_lines_are_read(tmp_path: Path):
    assert in_short(read_cases(write(tmp_path, "t.jsonl", LINES), KNOWN)) == [
        ("hello there", "greet", "en", "1:1"),
        ("hallo", ("greet", "book_flight"), "de", "3:1"),
        ("tell me a joke", None, "en", "4:1"),
    ]


@pytest.mark.parametrize(("name", "text"), [("t.csv", CSV), ("t.TSV", CSV.replace(",", "\t"))])
def test_csv_and_tsv_are_read(tmp_path: Path, name, text):
    """Header in any case, quoted line breaks, line numbers as in an editor, byte order mark."""
    assert in_short(read_cases(write(tmp_path, name, "\ufeff" + text), KNOWN)) == [
        ("hello there", "greet", "en", "2:1"),
        ("hal\nlo", "greet", "de", "3:1"),
        ("tell me a joke", None, None, "6:1"),
    ]


def test_rasa_nlu_data_is_read(tmp_path: Path):
    """Examples in a block or a list, without entity marks; synonyms hold no cases."""
    assert in_short(read_cases(write(tmp_path, "nlu.yml", RASA), KNOWN)) == [
        ("hello", "greet", None, "5:7"),
        ("hi there", "greet", None, "6:7"),
        ("to Rome", "book_flight", None, "12:13"),
        ("from Oslo, Paris", "book_flight", None, "15:7"),
        ("tell me a joke", None, None, "19:7"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *((name, *case) for name, cases in PROBLEMS.items() for case in cases),
        ("t.jsonl", "[" * 100_000, "t.jsonl:1:1: error [test-case]"),
        ("t.jsonl", b'{"text": "\xff"}', "t.jsonl:1:11: error [encoding] byte 0xFF is not UTF-8"),
    ],
)
def test_problem_has_path_line_and_column(tmp_path: Path, name, text, message):
    with pytest.raises(RegistryError) as caught:
        read_cases(write(tmp_path, name, text), KNOWN)

    assert message in str(caught.value)
    assert all(problem.hint or problem.rule == "yaml-syntax" for problem in caught.value.problems)


def test_rasa_test_stories_are_read(tmp_path: Path):
    """Beside an `nlu:` block or without one."""
    stories = (
        "stories:\n- steps:\n  - user: hi [Anna](name)\n    intent: greet\n  - user: x\n    intent: nlu_fallback\n"
    )

    assert in_short(read_cases(write(tmp_path, "test_stories.yml", stories), KNOWN)) == [
        ("hi Anna", "greet", None, "3:11"),
        ("x", None, None, "5:11"),
    ]
    nlu = "nlu:\n- intent: book_flight\n  examples: |\n    - to Rome\n"
    found = read_cases(write(tmp_path, "both.yml", stories + nlu), KNOWN)
    assert [case.text for case in found] == ["hi Anna", "x", "to Rome"]


def test_cases_of_unknown_intents_can_be_skipped(tmp_path: Path):
    lines = '{"text": "hi", "intent": "greet"}\n{"text": "x", "intent": "gret"}\n{"text": "y", "intent": null}\n'
    skipped: list[Problem] = []
    file = write(tmp_path, "t.jsonl", lines + '{"text": "z", "intent": ["greet", "gone"]}')

    assert [case.text for case in read_cases(file, KNOWN, skipped)] == ["hi", "y"]
    assert [(p.location.line, p.severity, p.rule) for p in skipped] == [
        (2, "warning", "unknown-intent"),
        (4, "warning", "unknown-intent"),
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [('{"text": "x", "intent": "gone"}', "unknown-intent"), ("\n", "no-tests"), ('{"text": "x"}', "test-case")],
)
def test_file_without_a_usable_case_is_an_error(tmp_path: Path, text: str, rule: str):
    skipped: list[Problem] = []
    with pytest.raises(RegistryError, match=rf"error \[{rule}\]"):
        read_cases(write(tmp_path, "t.jsonl", text), KNOWN, skipped)

    assert skipped == []


def test_all_problems_of_a_file_are_reported_together(tmp_path: Path):
    file = write(tmp_path, "t.jsonl", '{"text": "x"}\n{}\n{"text": "fine", "intent": null}\nno\n')

    with pytest.raises(RegistryError) as caught:
        read_cases(file, KNOWN)

    assert [p.location for p in caught.value.problems] == [
        Location(str(file), 1),
        Location(str(file), 2),
        Location(str(file), 4),
    ]


@pytest.mark.parametrize("name", ["t.txt", "tests"])
def test_unsupported_suffix_lists_the_supported_ones(tmp_path: Path, name):
    with pytest.raises(InputError, match=r"read from \.yaml, \.yml, \.jsonl, \.csv, \.tsv"):
        read_cases(write(tmp_path, name, ""), KNOWN)


@pytest.mark.parametrize("suffix", READERS)
def test_missing_file_is_reported_by_name(tmp_path: Path, suffix):
    with pytest.raises(InputError, match="gone"):
        read_cases(tmp_path / f"gone{suffix}", KNOWN)


@given(text=st.text(st.sampled_from("{}[]\"',:-|\n\t textinulgr\\&*\0é")), suffix=st.sampled_from(list(READERS)))
def test_any_content_raises_only_intentmatch_errors(tmp_path_factory, text, suffix):
    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_bytes(text.encode())

    with contextlib.suppress(IntentMatchError):
        assert read_cases(file, KNOWN)
