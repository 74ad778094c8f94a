"""HTML pages and JUnit XML, for any message text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from answers import outcome

from intentmatch import Matcher
from intentmatch.core.errors import Location
from intentmatch.core.types import Case
from intentmatch.evaluation import Report, ReportPart, evaluate
from intentmatch.evaluation.gate import Check
from intentmatch.evaluation.reports.html import to_html
from intentmatch.evaluation.reports.junit import to_junit
from intentmatch.evaluation.robustness import RobustnessPart, TriedVariation
from intentmatch.evaluation.traits import TraitRow

NASTY = "</script><img src=x onerror=alert(1)>\"'&]]>\x00\x1b\ud800 नमस्ते"
CHECKS = [Check("fail-under", True, "fine"), Check("max-drop", False, "a < b")]
VOID = {"meta"}


class Reader(HTMLParser):
    """Records tags and attributes, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture
def report(matcher: Matcher) -> Report:
    tests = [Case(NASTY, "status"), Case("cancel my order", "cancel", "en"), Case("my order", None, "de")]
    own, given = evaluate(matcher, curve=True), evaluate(matcher, tests=tests)
    return Report((*own.parts, *given.parts), own.curve, {"encoder": "<b>fake</b>", "folds": 5}, given.robustness)


def test_page_is_self_contained(report: Report):
    page = to_html(report, CHECKS)

    reader = read(page)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in reader.tags}
    assert [attributes for tag, attributes in reader.tags if tag == "script"] == [{}], "one script, inside the page"
    for _, attributes in reader.tags:
        assert not {"src", "xlink:href", "srcset"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import|https?:", page)


def test_page_has_plots_with_titles_and_descriptions(report: Report):
    page = to_html(report)

    titles = [attributes["aria-label"] for tag, attributes in read(page).tags if tag == "svg"]
    assert set(titles) == {
        "Precision by coverage", "Intents, worst first", "Confusions", "Learning curve", "Robustness",
    }  # fmt: skip
    assert page.count("<svg") == page.count("<desc>") == len(titles)
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r'(?:x|y|cx|cy|r|width|height)="-?(?:nan|inf)', page)


def test_page_plots_reliability_if_there_is_confidence():
    part = ReportPart("tests", tuple(outcome("a", "a", confidence=n / 20) for n in range(20)))

    assert 'aria-label="Reliability of the confidence"' in to_html(Report((part,)))


def test_page_escapes_texts_and_shows_locations_and_checks(report: Report):
    page = to_html(report, CHECKS)

    reader = read(page)
    assert "onerror=alert(1)>" in reader.text
    assert "<b>fake</b>" in reader.text
    assert "shop.yaml:" in reader.text
    assert "Failed: a < b" in reader.text
    page.encode("utf-8", "replace")


@pytest.mark.parametrize("part", [ReportPart("held_out", (), not_asked=2), ReportPart("tests", (outcome(None, None),))])
def test_page_of_an_empty_report_shows_dashes(part):
    assert "–" in read(to_html(Report((part,)))).text


def test_confusion_plot_needs_a_confused_single_intent():
    part = ReportPart("tests", (outcome(("a", "b"), "a"), outcome("a", "a")))

    page = to_html(Report((part,)))

    assert 'aria-label="Confusions"' not in page
    assert "a / b answered with a: 1" in read(page).text


def test_junit_suites_and_counts(report: Report):
    root = ET.fromstring(to_junit(report, CHECKS))

    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["held-out utterances", "test cases", "robustness", "gate"]
    for suite in root:
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert suites["held-out utterances"].get("failures") == "0"
    wrong = [o for o in report.headline.outcomes if not o.right]
    assert int(suites["test cases"].get("failures")) == len(wrong)
    assert suites["gate"].find("testcase/failure").get("message") == "a < b"


def test_junit_failure_has_location_and_reason():
    part = ReportPart("tests", (outcome("a", "b", text="x\x00y"), outcome("a", "a")))

    case = ET.fromstring(to_junit(Report((part,)))).find("testsuite/testcase")

    assert (case.get("name"), case.get("classname")) == ("x\ufffdy", "a")
    assert (case.get("file"), case.get("line")) == ("tests.yaml", "7")
    assert case.find("failure").get("message") == (
        "expected a, got b (score 0.50), nearest “the nearest” at shop.yaml:3"
    )


def test_junit_names_files_in_characters_of_xml():
    case = replace(outcome("a", "a").case, location=Location("te\x01st\udcff.yaml", 7, 1))
    part = ReportPart("tests", (replace(outcome("a", "a"), case=case),))

    written = to_junit(Report((part,))).encode()

    assert ET.fromstring(written).find("testsuite/testcase").get("file") == "te\ufffdst\ufffd.yaml"


def test_junit_without_checks_has_no_gate_suite(report: Report):
    names = [suite.get("name") for suite in ET.fromstring(to_junit(report))]
    assert names == ["held-out utterances", "test cases", "robustness"]


@pytest.fixture
def mistyped() -> Report:
    trials = (
        TriedVariation(
            outcome("status", "cancel", confidence=0.93, text="where is my ordre <b>"), "where is my order", True
        ),
        TriedVariation(outcome("status", "status", text="track my parcle"), "track my parcel", True),
    )
    noise = (TriedVariation(outcome(None, "status", text="xq zzv")),)
    parts = (RobustnessPart("typos1", trials), RobustnessPart("accents", ()), RobustnessPart("noise", noise))
    return Report((ReportPart("tests", (outcome("a", "a"),)),), robustness=parts)


def test_page_shows_the_share_of_each_part_and_its_worst_messages(mistyped: Report):
    page = to_html(mistyped)

    text = read(page).text
    assert "25.0 %: the mean of the shares below" in text
    assert "One typing mistake: 1 answered wrongly" in text
    assert "where is my ordre <b>where is my ordertests.yaml:7cancel93%" in text
    assert "xq zzvstatus50%“the nearest” shop.yaml:3" in text
    assert "without accents" not in text, "no message has any"
    assert "one typing mistake: 50.0% of 2 messages answered rightly" in page
    assert "one typing mistake: 100.0% of the same messages were answered rightly as written" in page


def test_page_says_the_share_that_is_assumed_and_shows_messages_that_are_accepted():
    trials = (
        TriedVariation(outcome(None, "status", confidence=0.91, text="will it rain?")),
        TriedVariation(outcome(None, None, text="who won?")),
        TriedVariation(outcome(None, ("status", "cancel"), text="asked about, not accepted")),
    )
    facts = {"out_of_scope_share": 0.2, "out_of_scope_share_from": "shop.yaml:3"}
    parts = (RobustnessPart("noise", ()), RobustnessPart("everyday", trials))

    text = read(to_html(Report((ReportPart("tests", (outcome("a", "a"),)),), facts=facts, robustness=parts))).text

    assert "20% of all messages are assumed to be out of scope (out_of_scope_share: shop.yaml:3)." in text
    assert "Everyday talk: 1 of 3 accepted" in text
    accepted = text.partition("Everyday talk: 1 of 3 accepted #")[2].partition("Robustness")[0]
    assert "will it rain?" in accepted
    assert "asked about" not in accepted
    assert "Noise:" not in text, "nothing was tried"


@pytest.mark.parametrize(("count", "said"), [(25, False), (27, True)])
def test_page_says_how_many_messages_it_leaves_out(count: int, said: bool):
    trials = tuple(TriedVariation(outcome(None, "status", text=f"message {number}")) for number in range(count))
    parts = (RobustnessPart("everyday", trials),)

    text = read(to_html(Report((ReportPart("tests", (outcome("a", "a"),)),), robustness=parts))).text

    accepted = text.partition(f"Everyday talk: {count} of {count} accepted #")[2].partition("Robustness")[0]
    assert ("and 2 more" in accepted) is said


def test_page_shows_how_each_question_is_answered():
    rows = (TraitRow("urgent <b>", 16, 0.75, 0.125, 0.06, None), TraitRow("mood", 0, 0.0, 0.0, None, 0.5))

    page = to_html(Report((), questions=rows))

    reader = read(page)
    assert [attributes["aria-label"] for tag, attributes in reader.tags if tag == "svg"] == ["Questions"]
    assert "urgent <b>: 12.5% of 16 lines no answer" in reader.text
    assert "urgent <b>1675.0 %12.5 %0.060–" in reader.text
    assert "mood00.0 %0.0 %–50.0 %" in reader.text
    assert "Questions" not in to_html(Report(()))


def test_report_of_an_earlier_release_has_no_share():
    assert "assumed" not in to_html(Report((ReportPart("tests", (outcome("a", "a"),)),)))


def test_report_without_robustness_has_no_section():
    report = Report((ReportPart("tests", (outcome("a", "a"),)),))

    assert "Robustness" not in to_html(report)
    assert [suite.get("name") for suite in ET.fromstring(to_junit(report))] == ["test cases"]


def test_junit_lists_wrong_messages_of_each_part_without_failing(mistyped: Report):
    suite = next(suite for suite in ET.fromstring(to_junit(mistyped)) if suite.get("name") == "robustness")

    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    says = {case.get("name"): case.find("system-out").text for case in suite}
    assert says["one typing mistake"].startswith("1 of 2 right\n“where is my ordre <b>”: expected status, got cancel")
    assert says["without accents"] == "0 of 0 right"
