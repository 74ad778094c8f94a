"""`intentmatch eval`: output, reports and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from terminal import in_a_terminal

from intentmatch.cli.commands import cli
from intentmatch.cli.render import evaluation
from intentmatch.evaluation.second_opinion import SecondOpinion

YAML = """\
language: en
intents:
  status:
    utterances: [where is my order, track my parcel, has it been shipped yet, when does my parcel arrive]
  cancel:
    utterances: [cancel my order, I do not want it any more, please stop the purchase, call off my purchase]
    not: [cancel my appointment, end my subscription]
  agent:
    utterances: [talk to a human]
"""
REFUSES_ALL = ("--set", "threshold=1", "--set", "fuzzy=1")
TESTS = """\
tests:
  - {text: where is my order right now, intent: status}
  - {text: what a lovely day, intent: out_of_scope}
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop.yaml").write_text(YAML, encoding="utf-8")
    return str(tmp_path)


@pytest.fixture
def tests_csv(tmp_path: Path) -> str:
    file = tmp_path / "messages.csv"
    file.write_text("text,intent\ncancel my order,cancel\ntrack my parcel,status\nquantum physics,status\n")
    return str(file)


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["eval", *words], catch_exceptions=False)


def test_utterances_are_held_out_without_a_test_set(shop: str) -> None:
    done = run(shop, "--folds", "2")

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("Held-out utterances: 8 in scope, 9 left out with their intent\n")
    for words in ("overall accuracy", "macro F1", "out-of-scope recall", "AUROC", "coverage", "latency p50", "µs"):
        assert words in done.stdout
    assert "1 utterance not measured" in done.stdout
    assert "of 2 negative utterances" in done.stdout
    assert "Intents, the worst first" in done.stdout
    assert "\x1b" not in done.stdout


def test_refused_is_no_share_of_messages_in_scope(shop: str) -> None:
    """`explain-thresholds` has the share of out-of-scope messages below this word."""
    rows = [line.split() for line in run(shop, "--folds", "2").stdout.splitlines() if line.strip()]

    assert not [row for row in rows if row[0] == "refused"]
    assert [row[3:] for row in rows if row[0] == "lost"] == [["of", "those", "in", "scope:", "wrongly", "refused"]]
    assert [row[4] for row in rows if row[:2] == ["intent", "cases"]] == ["lost"]


def test_tests_of_the_yaml_are_measured_as_well(shop: str) -> None:
    Path(shop, "tests.yaml").write_text(TESTS, encoding="utf-8")

    done = run(shop)

    assert "Held-out utterances:" in done.stdout
    assert "Test cases: 1 in scope, 1 out of scope" in done.stdout


def test_files_of_cases_replace_held_out_utterances(shop: str, tests_csv: str, tmp_path: Path) -> None:
    """Several files of different formats; wrong answers are shown with their places."""
    more = tmp_path / "more.jsonl"
    more.write_text('{"text": "where is my order", "intent": "cancel", "lang": "en"}\n', encoding="utf-8")

    done = run(shop, "--tests", tests_csv, "-t", str(more))

    assert done.stdout.startswith("Test cases: 4 in scope, 0 out of scope\n")
    assert "Held-out" not in done.stdout
    assert f"“where is my order” {more}:1  nearest: “where is my order” {shop}/shop.yaml:4" in done.stdout
    assert "Languages" in done.stdout


def test_learning_curve_has_four_shares(shop: str) -> None:
    done = run(shop, "--learning-curve", "--folds", "loo")

    assert all(share in done.stdout for share in ("25%", "50%", "75%", "100%"))


def test_cases_of_other_intents_are_reported_and_skipped(shop: str, tmp_path: Path) -> None:
    """The places of the first five, then how many there are."""
    file = tmp_path / "cases.csv"
    file.write_text("text,intent\ncancel my order,cancel\n" + "x,gone\n" * 7, encoding="utf-8")

    done = run(shop, "--tests", str(file), "--no-robustness")

    assert done.exit_code == 0
    assert done.stderr.count("expects 'gone', which is not an intent") == 5
    assert f"{file}: 7 of 8 test cases skipped: the registry does not have their intents" in done.stderr
    assert done.stdout.startswith("Test cases: 1 in scope")


def test_json_junit_and_html_are_written(shop: str, tests_csv: str, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "html")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]

    done = run(shop, "--tests", tests_csv, *options, "--fail-under", "90")

    assert done.exit_code == 1
    assert json.loads(files["json"].read_text(encoding="utf-8"))["schema"] == 1
    suites = ET.parse(files["junit"]).getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [
        ("test cases", "1"),
        ("robustness", "0"),
        ("gate", "1"),
    ]
    page = files["html"].read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page


def test_robustness_is_shown_with_the_lines_of_its_worst_mistakes(shop: str) -> None:
    done = run(shop, *REFUSES_ALL)

    assert "\nRobustness: " in done.stdout
    for words in ("one typing mistake", "two typing mistakes", "negated", "noise", "everyday talk"):
        assert f"\n  {words} " in done.stdout
    wrong = r"“.*” answered with out_of_scope  written as: “.+” .*shop\.yaml:[46]\n"
    assert re.search(wrong, done.stdout)
    assert re.search(r"noise: 0 of \d+ accepted", done.stdout)
    assert "are assumed to be out of scope (out_of_scope_share: " in done.stdout


def test_robustness_can_be_left_out(shop: str) -> None:
    assert "Robustness" not in run(shop, "--no-robustness").stdout


@pytest.mark.parametrize(
    ("minima", "failed"),
    [
        (["robustness=0", "robustness.noise=100", "robustness.negated=100", "overall=0"], []),
        (["robustness=100"], ["robustness is "]),
        (["0", "robustness.typos1=1", "robustness.typos2=1"], ["robustness (one typing", "robustness (two typing"]),
        (["robustness=100", "robustness=0"], []),
    ],
)
def test_robustness_is_a_gate(shop: str, minima: list[str], failed: list[str]) -> None:
    """Each minimum is a gate of its own; the last one of a name counts."""
    done = run(shop, *REFUSES_ALL, *(word for minimum in minima for word in ("--fail-under", minimum)))

    assert done.exit_code == bool(failed)
    assert done.stderr.count("gate failed: ") == len(failed)
    assert all(f"gate failed: {words}" in done.stderr for words in failed)


@pytest.mark.parametrize(("percent", "code"), [("60", 0), ("66.6", 0), ("67", 1), ("100", 1)])
def test_fail_under_is_a_gate(shop: str, tests_csv: str, percent: str, code: int) -> None:
    """Two of three answers are right; a failed gate prints the accuracy on standard error."""
    done = run(shop, "--tests", tests_csv, "--fail-under", percent)

    assert done.exit_code == code
    assert ("gate failed: overall accuracy of the test cases is 66.7 %" in done.stderr) is bool(code)
    assert ("passed:" in done.stdout) is not bool(code)


def test_baseline_is_a_gate(shop: str, tests_csv: str, tmp_path: Path) -> None:
    """The same registry passes; a worse one fails, and the error names the intents that lost most."""
    baseline = str(tmp_path / "main.json")
    run(shop, "--tests", tests_csv, "--json", baseline)

    assert run(shop, "--tests", tests_csv, "--baseline", baseline).exit_code == 0
    worse = run(shop, "--tests", tests_csv, "--baseline", baseline, "--set", "threshold=1", "--set", "fuzzy=1")
    assert worse.exit_code == 0
    Path(shop, "shop.yaml").write_text(YAML.replace("cancel my order, ", ""), encoding="utf-8")
    worse = run(shop, "--tests", tests_csv, "--baseline", baseline, "--set", "threshold=1")
    assert worse.exit_code == 1
    assert "a drop of 33.3 points; allowed: 0.5. Largest drops: cancel (100% to 0%)" in worse.stderr
    allowed = run(shop, "--tests", tests_csv, "--baseline", baseline, "--max-drop", "40", "--set", "threshold=1")
    assert allowed.exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--folds", "1"), "neither a whole number from 2 nor `loo`"),
        (("--folds", "few"), "neither a whole number from 2 nor `loo`"),
        (("--fail-under", "101"), "Invalid value"),
        (("--fail-under", "much"), "'much' is not a number from 0 to 100"),
        (("--fail-under", "robustness=nan"), "'nan' is not a number from 0 to 100"),
        (("--fail-under", "mood=3"), "'mood' is not one of overall, robustness, robustness.typos1"),
        (("--fail-under", "robustness=3", "--no-robustness"), "--fail-under robustness= needs --robustness"),
        (("--max-drop", "1"), "--max-drop needs --baseline"),
        (("--baseline", "{tests}"), "is not a report of `intentmatch eval --json`"),
        (("--tests", "gone.csv"), "does not exist"),
        (("--tests", "{yaml}"), "[no-tests]"),
        (("--tests", "{wrong}"), "wrong.jsonl:1:1: error [unknown-intent]"),
        (("--html", "{folder}/no/such/folder.html"), "cannot be written: No such file"),
        (("--set", "threshold=7"), "setting 'threshold' cannot be '7'"),
    ],
)
def test_invalid_input_is_explained_with_code_2(
    shop: str, tests_csv: str, words: tuple[str, ...], message: str
) -> None:
    Path(shop, "wrong.jsonl").write_text('{"text": "x", "intent": "statsu"}')
    names = {"tests": tests_csv, "yaml": f"{shop}/shop.yaml", "wrong": f"{shop}/wrong.jsonl", "folder": shop}

    done = run(shop, *(word.format(**names) for word in words))

    assert done.exit_code == 2
    assert message in done.stderr


def test_problems_of_the_registry_are_reported(shop: str) -> None:
    """Here a test case that expects an unknown intent."""
    Path(shop, "tests.yaml").write_text("tests:\n  - {text: hello, intent: statu}\n", encoding="utf-8")

    done = run(shop)

    assert done.exit_code == 2
    assert "tests.yaml:2:5: error [unknown-intent]" in done.stderr
    assert "hint: did you mean `status`?" in done.stderr


def test_artefact_can_be_measured(shop: str, tmp_path: Path) -> None:
    """An artefact has utterances and vectors, and no `tests:`."""
    Path(shop, "tests.yaml").write_text(TESTS, encoding="utf-8")
    target = str(tmp_path / "shop.intentmatch")
    CliRunner().invoke(cli, ["build", shop, "-o", target], catch_exceptions=False)

    done = run(target)

    assert done.exit_code == 0
    assert "Held-out utterances: 8 in scope" in done.stdout
    assert "Test cases" not in done.stdout


def test_terminal_gets_table_rules(shop: str) -> None:
    code, shown = in_a_terminal("eval", shop)

    assert code == 0
    assert "─".encode() in shown
    assert b"Held-out utterances" in shown


_DOUBTFUL = """
settings: {threshold: 0.3, band: 0.4, cache: 'off', reranker_seconds: 5}
intents:
  status: {utterances: [where is my order, track my order now please, has my parcel left]}
  cancel: {utterances: [cancel my order, stop my order now please, i want no parcel]}
  greet: {utterances: [hello there, good morning to you, hi]}
"""


def test_eval_prints_gain_share_and_cost(tmp_path: Path) -> None:
    bot = tmp_path / "bot.yaml"
    bot.write_text(_DOUBTFUL, encoding="utf-8")
    done = run(str(bot), "--reranker", "words", "--no-robustness", "--folds", "2")

    assert done.exit_code == 0
    assert "With the reranker words" in done.stdout
    assert "without, " in done.stdout
    assert re.search(r"asked about \d+\.\d% of the messages: \d+\.\d% of those in scope, ", done.stdout)
    assert re.search(r"\d+ calls, \d+\.\d ms each", done.stdout)


def test_reranker_without_an_answer_is_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    monkeypatch.setenv("no_proxy", "*")
    bot = tmp_path / "bot.yaml"
    bot.write_text(_DOUBTFUL, encoding="utf-8")
    done = run(str(bot), "--reranker", "remote:http://127.0.0.1:1/rerank", "--no-robustness", "--folds", "2")

    assert done.exit_code == 0
    assert "without an answer: there the verdict stood" in done.stdout
    assert "at http://127.0.0.1:1/rerank gives no answer: it cannot be reached" in done.stdout
    assert "reranker_budget" not in done.stdout


def test_used_up_budget_names_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    found = SecondOpinion(
        "remote:x", (), calls=90, unanswered=30, reason="why", used_up=True, seconds=0.1, requests=60, tokens=0
    )
    evaluation.second_opinion(found)

    assert "raise it to measure all: --set reranker_budget=minute=5000" in capsys.readouterr().out


def test_missing_reranker_is_an_error(tmp_path: Path) -> None:
    bot = tmp_path / "bot.yaml"
    bot.write_text(_DOUBTFUL, encoding="utf-8")
    done = run(str(bot), "--reranker", "./missing", "--no-robustness", "--folds", "2")

    assert done.exit_code == 5
    assert "no folder" in done.stderr


def test_promise_of_the_target_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from intentmatch.cli.render import evaluation
    from intentmatch.evaluation.reports.report import Report

    evaluation.report(Report((), facts={"promise": "a precision of 95% is promised"}))

    assert capsys.readouterr().out == "\nA precision of 95% is promised.\n"
