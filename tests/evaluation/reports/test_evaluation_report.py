"""A report survives its file, and what is no report is refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answers import outcome

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation import Part, Report, evaluate, read_report
from intentmatch.evaluation.reports.report import to_json


def test_a_report_survives_its_file(tmp_path: Path, matcher: Matcher):
    """Every case, number and hint is the same after reading; the file is plain JSON with a schema."""
    report = evaluate(matcher, curve=True)
    file = tmp_path / "report.json"
    file.write_text(to_json(report), encoding="utf-8")

    again = read_report(file)

    assert again == report
    assert again.to_dict() == report.to_dict()
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["schema"] == 1
    assert written["parts"][0]["numbers"]["overall"] == report.headline.numbers.overall
    assert len(written["parts"][0]["cases"]) == report.headline.numbers.cases


def test_a_report_of_test_cases_survives_its_file(matcher: Matcher):
    """Pairs, refusals and missing places too."""
    report = evaluate(matcher, tests=[Case("x", ("status", "cancel")), Case("?", None, "pt-BR")])

    assert Report.from_dict(json.loads(to_json(report))) == report


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no report of `intentmatch eval --json`"),
        ("[]", "is no report"),
        ("{}", "is no report"),
        ('{"schema": 99}', "it has schema 99, and this release reads 1"),
        ('{"schema": 1, "parts": [{"name": "x"}], "learning_curve": [], "facts": {}}', "unknown part 'x'"),
        ('{"schema": 1, "parts": 3, "learning_curve": [], "facts": {}}', "is no report"),
        ('{"schema": 1, "parts": [], "learning_curve": [], "facts": {}}', "it has no parts"),
        ('{"schema": 1, "parts": [], "learning_curve": [{"x": 1}], "facts": {}}', "is no report"),
        ("\udcff", "is no report"),
        ("[" * 100_000, "is no report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text, said):
    """With the file's name and the reason."""
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(InputError, match=r"report\.json") as caught:
        read_report(file)
    assert said in str(caught.value)


def test_a_missing_report_is_refused(tmp_path: Path):
    """As the operating system says it."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_report(tmp_path / "gone.json")


def test_confidence_is_held_against_cases_in_scope_only_where_strangers_are_as_many():
    """Of held-out utterances; of test cases all count."""
    outcomes = (outcome("a", "a", confidence=1.0), outcome(None, "a", confidence=1.0))

    assert Part("held_out", outcomes).numbers.ece == 0.0
    assert Part("tests", outcomes).numbers.ece == 0.5


def test_parts_are_found_by_name():
    """And the last one is the headline."""
    first, last = Part("held_out", ()), Part("tests", ())
    report = Report((first, last))

    assert (report.part("held_out"), report.headline) == (first, last)
    assert Report((first,)).part("tests") is None
