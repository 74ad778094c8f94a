"""`intentmatch explain-thresholds`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli
from intentmatch.core.settings import USUAL_SHARE

INTENTS = Path(__file__).parents[2] / "intents"
TINY = """\
version: 1
intents:
  greet: {utterances: {en: [hello, hi there]}, threshold: 0.7}
  leave: {utterances: {en: [goodbye, see you]}}
"""


def run(*words: str) -> Result:
    done = CliRunner().invoke(cli, ["explain-thresholds", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows_of(*words: str) -> dict[str, dict[str, Any]]:
    return {row["for"]: row for row in json.loads(run(*words, "--json").stdout)["thresholds"]}


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "bot.yaml").write_text(TINY, encoding="utf-8")
    return str(tmp_path)


@pytest.fixture(scope="module")
def shipped() -> dict[str, dict[str, Any]]:
    return rows_of(str(INTENTS))


def test_learned_thresholds_have_measured_effects(shipped: dict[str, dict[str, Any]]) -> None:
    """There is a default, one per language and one per intent with enough cases, all on the in-scope probability."""
    common = shipped["everything else"]

    assert common["on"] == "in_scope"
    assert 0.5 < common["precision"] < 1
    assert 0.5 < common["coverage"] < 1
    assert 0 < common["refused"] < 1
    assert common["cases"] > 1000
    assert {"language en", "language de"} <= set(shipped)
    assert any(name.startswith("intent ") for name in shipped)
    assert all(row["cases"] >= 60 for row in shipped.values())


def test_higher_target_precision_raises_the_threshold_and_lowers_coverage(shipped: dict[str, dict[str, Any]]) -> None:
    strict = rows_of(str(INTENTS), "--set", "target=precision=0.95")["everything else"]
    common = shipped["everything else"]

    assert strict["threshold"] > common["threshold"]
    assert strict["precision"] >= 0.95 > common["precision"]
    assert strict["coverage"] < common["coverage"]
    assert "95%" in common["note"]


def test_authors_threshold_has_its_place_and_no_measured_effect(tiny: str) -> None:
    """It applies to the score; a tiny registry learns no threshold."""
    rows = rows_of(tiny)

    assert rows["intent greet"]["threshold"] == 0.7
    assert "bot.yaml:3" in rows["intent greet"]["from"]
    assert (rows["everything else"]["threshold"], rows["everything else"]["on"]) == (0.32, "score")
    assert all(row["precision"] is row["cases"] is None for row in rows.values())


def test_percentage_of_an_author_is_on_the_confidence() -> None:
    rows = rows_of(str(INTENTS / "orders.yaml"), "--set", "threshold=90%,de=0.4")
    shown = run(str(INTENTS / "orders.yaml"), "--set", "threshold=90%,de=0.4").stdout

    assert (rows["everything else"]["threshold"], rows["everything else"]["on"]) == (0.9, "confidence")
    assert (rows["language de"]["threshold"], rows["language de"]["on"]) == (0.4, "score")
    lines = [line.split() for line in shown.splitlines()]
    assert ["everything", "else", "90.0%", "confidence"] in [line[:4] for line in lines]
    assert ["language", "de", "0.400", "score"] in [line[:4] for line in lines]


def test_table_follows_target_and_margin_with_their_origins(tiny: str) -> None:
    shown = run(tiny, "--set", "margin=0.1").stdout

    assert "target: precision 0.95, give_up 0.005 (default)" in shown
    assert "out of scope: 10% of all messages (default)" in shown
    assert "margin: 0.100 of the score (argument)" in shown
    assert "everything else" in shown
    assert "precision" in shown


@pytest.mark.parametrize(("share", "says"), [("0.9", True), ("0.5", False)])
def test_labelled_tests_with_another_share_are_mentioned(tmp_path: Path, share: str, says: bool) -> None:
    """From 30 test cases on, if their interval does not hold the share in use."""
    tests = "".join(f"  - {{text: t{n}, intent: {'out_of_scope' if n % 2 else 'a'}}}\n" for n in range(40))
    (tmp_path / "bot.yaml").write_text(
        f"version: 1\nintents:\n  a: {{utterances: [x]}}\n  b: {{utterances: [y]}}\ntests:\n{tests}"
    )
    options = [str(tmp_path), "--set", f"out_of_scope_share={share}"]

    shown, found = run(*options).stdout, json.loads(run(*options, "--json").stdout)

    assert ("`tests:` say 50% (35% to 65%) of 40 labelled messages" in shown) is says
    assert found["out_of_scope_share"] == float(share)
    assert found["labelled_share"]["cases"] == 40


def bot_with_tests(folder: Path, count: int) -> str:
    """A bot of eight intents whose tests are out of scope every other time."""
    words = ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]
    starts = ["cancel", "show", "find", "where is", "change", "send"]
    intents = "".join(f"  {w}: {{utterances: [{', '.join(f'{s} the {w}' for s in starts)}]}}\n" for w in words)
    tests = "".join(
        f"  - {{text: message {n} about my {w}, intent: {'out_of_scope' if n % 2 else w}}}\n"
        for n, w in enumerate((words * count)[:count])
    )
    (folder / "bot.yaml").write_text(
        f"version: 1\nsettings: {{out_of_scope_share: tests}}\nintents:\n{intents}tests:\n{tests}"
    )
    return str(folder)


def test_share_learned_from_tests_is_shown_with_its_interval(tmp_path: Path) -> None:
    bot = bot_with_tests(tmp_path, 40)

    shown, found = run(bot).stdout, json.loads(run(bot, "--json").stdout)

    assert "out of scope: 50% of all messages (" in shown
    assert "bot.yaml:2)" in shown
    assert "share and confidence curve learned from your `tests:`: 50% (35% to 65%) of 40 labelled messages" in shown
    assert "learned from this registry and 40 labelled messages" in shown
    assert (found["out_of_scope_share"], found["learned_from_tests"]) == (pytest.approx(0.5), True)


def test_number_wins_over_the_tests(tmp_path: Path) -> None:
    bot = bot_with_tests(tmp_path, 40)

    shown = run(bot, "--set", "out_of_scope_share=0.2").stdout

    assert "out of scope: 20% of all messages (argument)" in shown
    assert "your `tests:` say 50%" in shown
    assert "and 40 labelled messages" not in shown


@pytest.mark.parametrize(("count", "needed"), [(29, "1 more is needed"), (0, "30 more are needed")])
def test_too_few_tests_are_counted(tmp_path: Path, count: int, needed: str) -> None:
    shown = run(bot_with_tests(tmp_path, count)).stdout

    assert f"out of scope: {USUAL_SHARE:.0%} of all messages" in shown
    assert f"the usual share, until `tests:` has 30 messages: {needed}" in shown


def test_other_languages_have_a_row_of_their_own(shipped: dict[str, dict[str, Any]], tiny: str) -> None:
    """A registry too small to calibrate has none."""
    row = shipped["other languages"]

    assert (row["on"], row["from"]) == ("in_scope", "learned for other languages")
    assert row["precision"] < shipped["everything else"]["precision"]
    assert "other languages" not in rows_of(tiny)


def log(tmp_path: Path, count: int) -> str:
    lines = [f"where is my order {number}" for number in range(count - count // 4)]
    lines += [f"the {number} cats of Uluru sing opera" for number in range(count // 4)]
    (tmp_path / "log.txt").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "log.txt")


def test_share_of_logged_messages_is_guessed_and_changes_nothing(tmp_path: Path) -> None:
    plain, guessed = (
        json.loads(run(str(INTENTS), *words, "--json").stdout) for words in ((), ("--messages", log(tmp_path, 200)))
    )

    assert plain["guessed_share"] is None
    assert guessed["guessed_share"]["messages"] == 200
    assert guessed["guessed_share"]["low"] <= guessed["guessed_share"]["value"] <= guessed["guessed_share"]["high"]
    assert {**guessed, "guessed_share": None} == plain


def test_guess_says_that_it_is_one(tmp_path: Path) -> None:
    shown = run(str(INTENTS), "--messages", log(tmp_path, 200)).stdout

    assert "a guess: " in shown
    assert " of your 200 different messages look out of scope" in shown


def test_guess_needs_messages_and_confidences(tmp_path: Path, tiny: str) -> None:
    few = run(str(INTENTS), "--messages", log(tmp_path, 40)).stdout
    without = run(tiny, "--messages", log(tmp_path, 200)).stdout

    assert "no guess from your messages: it needs 100 of them, and a registry with confidences" in few
    assert "no guess from your messages" in without


SAID = ("where is my package now", "I want to cancel the order", "send me the invoice", "is it still on the way?")


@pytest.fixture
def promised(tmp_path: Path) -> str:
    """The shipped orders, with a few tests."""
    tests = "".join(
        f"  - {{text: {text!r}, intent: {intent}}}\n"
        for text, intent in zip(SAID, ("order_status", "order_cancel", "invoice_request", "order_status"), strict=True)
    )
    text = (INTENTS / "orders.yaml").read_text(encoding="utf-8") + f"tests:\n{tests}"
    (tmp_path / "orders.yaml").write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_kept_promise_is_printed_with_its_counts(promised: str) -> None:
    """A precision of 0.5 with a confidence of 0.7 takes two right answers: 0.5 ** 2 is below 0.3."""
    target = ("--set", "target=precision=0.5,confidence=0.7")
    shown = run(promised, *target).stdout
    found = json.loads(run(promised, *target, "--json").stdout)

    assert "  a precision of 50% with a confidence of 70% is promised: 4 labelled messages, " in shown
    assert (found["promise"]["kept"], found["promise"]["cases"], found["promise"]["more"]) == (True, 4, 0)
    assert found["thresholds"][0]["from"] == "learned as the promise of 4 labelled messages"
    assert [row["for"] for row in found["thresholds"] if row["for"].startswith(("language", "intent"))] == []


def test_promise_without_enough_tests_says_how_many_are_missing(promised: str) -> None:
    words = (promised, "--set", "target=precision=0.95,confidence=0.9", "--set", "out_of_scope_share=tests")
    shown = run(*words).stdout

    assert "  everything else: a precision of 95% with a confidence of 90% cannot be promised yet: 4 labelled" in shown
    assert "the usual share: `tests:` that a precision is promised by shape nothing else" in shown
    assert json.loads(run(*words, "--json").stdout)["promise"]["more"] > 40


def test_a_bot_too_small_to_learn_is_warned_that_refusals_cannot_be_trusted(tmp_path: Path):
    (tmp_path / "bot.yaml").write_text("intents: {hi: {utterances: [hello]}, bye: {utterances: [good bye]}}\n")

    shown = run(str(tmp_path)).stdout

    assert "warning: refusals cannot be trusted yet, because 2 utterances are too few" in shown
    assert "eight utterances each" in shown
    (tmp_path / "bot.yaml").write_text("intents: {hi: {utterances: [hello]}}\n")
    assert "because 1 utterance is too few" in run(str(tmp_path)).stdout
    assert "cannot be trusted" not in run(str(INTENTS / "orders.yaml")).stdout


@pytest.mark.parametrize(
    ("target", "warning", "hint"),
    [
        ("false_accept=0.0001", "the bot answers only ", "choose a softer `target`"),
        (
            "precision=0.2",
            "the threshold refuses 0.0% of the utterances whose intent was left out",
            "a stricter `target`",
        ),
        ("precision=0.95", None, None),
    ],
)
def test_threshold_that_answers_or_refuses_hardly_anything_is_warned_of(
    target: str, warning: str | None, hint: str | None
) -> None:
    shown = run(str(INTENTS / "orders.yaml"), "--set", f"target={target}").stdout

    assert ("warning: " in shown) == (warning is not None)
    assert f"warning: {warning or ''}" in shown or warning is None
    assert (hint or "") in shown


def test_bot_whose_messages_are_all_in_scope_needs_no_refusals() -> None:
    words = ("--set", "target=precision=0.2", "--set", "out_of_scope_share=0")

    assert "warning: the threshold refuses" not in run(str(INTENTS / "orders.yaml"), *words).stdout
