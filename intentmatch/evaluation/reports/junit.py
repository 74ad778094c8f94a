"""Render a report as JUnit XML for CI systems.

Each test case is one test. Held-out utterances are one test per intent, and the robustness is one test per part. These
never fail: `--fail-under` and `--max-drop` decide how many must be right. Each of these checks is a test too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from intentmatch.evaluation.gate import Check
from intentmatch.evaluation.metrics import intent_rows
from intentmatch.evaluation.outcomes import Outcome, expected_name
from intentmatch.evaluation.reports.report import HELD_OUT, TITLES, Report, ReportPart
from intentmatch.evaluation.robustness import TITLES as ROBUSTNESS_TITLES
from intentmatch.evaluation.robustness import RobustnessPart

# Characters that XML 1.0 cannot represent.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(report: Report, checks: Sequence[Check] = ()) -> str:
    """Render the XML document as text, to be written in UTF-8."""
    root = ET.Element("testsuites", name="intentmatch eval")
    for part in report.parts:
        suite = _suite(root, TITLES[part.name])
        if part.name == HELD_OUT:
            _intents(suite, part)
        else:
            for outcome in part.outcomes:
                _case(suite, outcome)
        _count(suite)
    if report.robustness:
        suite = _suite(root, "robustness")
        for tried in report.robustness:
            _robustness(suite, tried)
        _count(suite)
    if checks:
        suite = _suite(root, "gate")
        for check in checks:
            case = ET.SubElement(suite, "testcase", classname="gate", name=check.name)
            if check.passed:
                ET.SubElement(case, "system-out").text = check.says
            else:
                _fail(case, check.says)
        _count(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def describe(outcome: Outcome) -> str:
    """Describe the expected answer, the given answer and the nearest utterance in one line."""
    answer = f"expected {expected_name(outcome.case)}, got {outcome.answer} (score {outcome.score:.2f})"
    if outcome.nearest is None:
        return answer
    place = f" at {outcome.nearest.location.short}" if outcome.nearest.location else ""
    return f"{answer}, nearest “{outcome.nearest.text}”{place}"


def _suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=name)


def _count(suite: ET.Element) -> None:
    # Readers of JUnit files show these counts and do not count themselves.
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", "0")


def _case(suite: ET.Element, outcome: Outcome) -> None:
    place = outcome.case.location
    where = {"file": _text(place.path), "line": str(place.line)} if place else {}
    name = _text(outcome.case.text)
    case = ET.SubElement(suite, "testcase", {"classname": _text(expected_name(outcome.case)), "name": name, **where})
    if not outcome.right:
        _fail(case, describe(outcome))


def _intents(suite: ET.Element, part: ReportPart) -> None:
    for row in intent_rows(part.outcomes):
        case = ET.SubElement(suite, "testcase", classname=suite.get("name", ""), name=_text(row.intent))
        wrong = [o for o in part.outcomes if o.case.expected == row.intent and not o.right]
        lines = [f"{row.right} of {row.cases} right", *(f"“{o.case.text}”: {describe(o)}" for o in wrong)]
        ET.SubElement(case, "system-out").text = _text("\n".join(lines))


def _robustness(suite: ET.Element, part: RobustnessPart) -> None:
    case = ET.SubElement(suite, "testcase", classname="robustness", name=ROBUSTNESS_TITLES[part.name])
    wrong = part.worst()
    lines = [f"{len(part.trials) - len(wrong)} of {len(part.trials)} right"]
    lines += [f"“{trial.outcome.case.text}”: {describe(trial.outcome)}" for trial in wrong]
    ET.SubElement(case, "system-out").text = _text("\n".join(lines))


def _fail(case: ET.Element, message: str) -> None:
    ET.SubElement(case, "failure", message=_text(message)).text = _text(message)


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
