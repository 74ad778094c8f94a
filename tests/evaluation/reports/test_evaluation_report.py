"""Reports: JSON round trips and errors for invalid files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answers import outcome

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation import Report, ReportPart, evaluate, read_report
from intentmatch.evaluation.reports.report import to_json


def test_report_round_trip_through_a_file(tmp_path: Path, matcher: Matcher):
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


def test_report_of_test_cases_round_trip(matcher: Matcher):
    report = evaluate(matcher, tests=[Case("x", ("status", "cancel")), Case("?", None, "pt-BR")])

    assert Report.from_dict(json.loads(to_json(report))) == report


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a report of `intentmatch eval --json`"),
        ("[]", "is not a report"),
        ("{}", "is not a report"),
        ('{"schema": 99}', "its schema is 99, but this release reads schema 1"),
        ('{"schema": 1, "parts": [{"name": "x"}], "learning_curve": [], "facts": {}}', "unknown part 'x'"),
        ('{"schema": 1, "parts": 3, "learning_curve": [], "facts": {}}', "is not a report"),
        ('{"schema": 1, "parts": [], "learning_curve": [], "facts": {}}', "it has no parts"),
        ('{"schema": 1, "parts": [], "learning_curve": [{"x": 1}], "facts": {}}', "is not a report"),
        ("\udcff", "is not a report"),
        ("[" * 100_000, "is not a report"),
    ],
)
def test_invalid_report_is_refused_with_a_reason(tmp_path: Path, text, message):
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(InputError, match=r"report\.json") as caught:
        read_report(file)
    assert message in str(caught.value)


def test_a_missing_report_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_report(tmp_path / "gone.json")


def test_calibration_error_of_held_out_cases_uses_in_scope_cases_only():
    outcomes = (outcome("a", "a", confidence=1.0), outcome(None, "a", confidence=1.0))

    assert ReportPart("held_out", outcomes).numbers.ece == 0.0
    assert ReportPart("tests", outcomes).numbers.ece == 0.5


def test_parts_are_found_by_name():
    first, last = ReportPart("held_out", ()), ReportPart("tests", ())
    report = Report((first, last))

    assert (report.part("held_out"), report.headline) == (first, last)
    assert Report((first,)).part("tests") is None
