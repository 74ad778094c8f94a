"""`intentmatch review`: judge sampled answers by keyboard, see the numbers, and add tests."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.cli.render import review as render
from intentmatch.inbox import Inbox
from intentmatch.registry import read_registry
from intentmatch.review import questions_of

YAML = """\
version: 1
language: en
intents:
  status:
    utterances: [where is my order, track my parcel, has it been shipped yet]
  cancel:
    utterances: [cancel my order, I do not want it any more, call off my purchase]
"""
SAID = ("where is my order", "track the parcel", "quantum chromodynamics")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small registry, and an inbox with three sampled answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTENTMATCH_INTENTS", "shop")
    monkeypatch.setenv("INTENTMATCH_INBOX", "inbox.sqlite")
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    keep(*SAID)
    return file


def keep(*messages: str, mode: str = "redacted") -> None:
    matcher, inbox = Matcher.load("shop"), Inbox("inbox.sqlite", mode=mode, sample=1.0)
    for message in messages:
        inbox.record(matcher.match(message))
    assert inbox.flush()


def run(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(cli, ["review", *words], input=typed, catch_exceptions=False)


def judged() -> dict[str | None, tuple[str | None, str | None]]:
    return {one.text: (one.judged, one.expected) for one in Inbox("inbox.sqlite").sampled()}


def asked(done: Result) -> list[str]:
    """Return the messages in the order of the questions."""
    return [line.split("“")[1].split("”")[0] for line in done.stdout.splitlines() if "“" in line]


def test_replies_are_kept_and_the_rest_is_asked_next_time(shop: Path) -> None:
    done = run(typed="cancel\no\n")
    first, second, third = asked(done)

    assert done.exit_code == 0
    assert judged() == {first: ("meant", "cancel"), second: ("meant", None), third: (None, None)}
    assert "2 judged messages of 20" in done.stdout
    assert "1 question open" in done.stdout
    assert "28 more" in done.stdout
    assert asked(run(typed="q\n")) == [third]


def test_enter_says_that_the_answer_is_right(shop: Path) -> None:
    run(typed="\n\n\n")

    assert judged()["where is my order"] == ("meant", "status")
    assert judged()["quantum chromodynamics"] == ("meant", None)


def test_undo_asks_again_and_skip_goes_on(shop: Path) -> None:
    done = run(typed="status\nu\ns\nq\n")
    first, second, again, then = asked(done)

    assert first == again != second == then
    assert judged()[first] == ("skipped", None)
    assert "1 skipped" in done.stdout


def test_undo_at_the_first_question_keeps_what_another_judged(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another reviewer judges the first message while it is asked about here.
    inbox = Inbox("inbox.sqlite")
    first = questions_of(inbox.sampled()).open[0]
    shown = render.question

    def judge_meanwhile(*args: object) -> None:
        shown(*args)
        inbox.judge(first.number, "meant", "cancel")

    monkeypatch.setattr(render, "question", judge_meanwhile)
    done = run(typed="u\nq\n")

    assert "There is nothing to undo." in done.stderr
    assert judged()[first.text] == ("meant", "cancel")


def test_unknown_intent_is_refused_with_a_hint_and_a_number_is_the_nearest_one(shop: Path) -> None:
    Path("inbox.sqlite").unlink()
    keep("quantum chromodynamics")
    done = run(typed="statu\n7\n1\n")

    assert "There is no intent 'statu'. Did you mean 'status'?" in done.stderr
    assert "There is no intent '7'." in done.stderr
    nearest = Inbox("inbox.sqlite").sampled()[0].nearest[0]
    assert f"1: {nearest}" in done.stdout
    assert judged() == {"quantum chromodynamics": ("meant", nearest)}


def test_question_of_the_bot_has_no_right_answer(shop: Path, tmp_path: Path) -> None:
    Path("inbox.sqlite").unlink()
    inbox = Inbox("inbox.sqlite", sample=1.0)
    inbox.record(Matcher.load("shop", margin=0.9, scorer="cosine").match("cancel or track my order"))
    assert inbox.flush()
    done = run(typed="\n2\n")

    assert "asked which is meant" in done.stdout
    assert "The bot asked. Which intent does the message mean?" in done.stderr
    ((how, expected),) = judged().values()
    assert (how, expected in ("status", "cancel")) == ("meant", True)


def test_numbers_from_thirty_messages_on(shop: Path) -> None:
    keep(*(f"where is my order {letter}" for letter in string.ascii_lowercase))
    keep("where is the parcel", "parcel please")
    done = run(typed="status\n" * 40)

    assert "31 judged messages" in done.stdout
    assert done.stdout.splitlines()[-4].split()[:3] == ["for", "precision", "coverage"]
    assert "all messages" in done.stdout
    assert "intent status" in done.stdout
    found = json.loads(run("--json").stdout)
    assert (found["judged"], found["open"], found["overall"]["out_of_scope"]["value"]) == (31, 0, 0.0)


def test_report_asks_nothing(shop: Path) -> None:
    done = run("--report", typed="cancel\n")

    assert "0 judged messages; 3 questions open" in done.stdout
    assert set(judged().values()) == {(None, None)}


def test_empty_and_hashed_samples_are_explained(shop: Path) -> None:
    Path("inbox.sqlite").unlink()
    keep("nice day", mode="hashed")
    assert "1 answer stored as hashes, without text" in run(typed="").stdout
    Path("inbox.sqlite").unlink()
    inbox = Inbox("inbox.sqlite")
    inbox.record(Matcher.load("shop").match("nice day"))
    inbox.flush()
    assert "The sample is empty. The setting `inbox_sample`" in run("--report").stdout


def test_judged_messages_become_tests_once(shop: Path) -> None:
    assert run("--as-tests", "--yes").stdout == "No judged message can be added yet: answer more questions.\n"
    run(typed="\n\n\n")
    assert "+" in run("--as-tests", "--dry-run").stdout
    assert read_registry("shop").tests == ()
    done = run("--as-tests", "--yes")

    assert done.exit_code == 0
    tests = {case.text: case.expected for case in read_registry("shop").tests}
    assert tests["quantum chromodynamics"] is None
    assert set(tests) == set(SAID)
    assert "No judged message can be added" in run("--as-tests", "--yes").stdout


@pytest.mark.parametrize("words", [["--yes"], ["--dry-run"], ["--file", "a.yaml"]])
def test_options_of_as_tests_need_it(shop: Path, words: list[str]) -> None:
    done = run(*words)

    assert (done.exit_code, "need --as-tests" in done.stderr) == (2, True)


def test_tests_cannot_be_added_to_an_artefact(shop: Path) -> None:
    from intentmatch.artefact.store import save_artefact

    save_artefact(Matcher.load("shop").artefact, "shop.intentmatch")
    done = run("--as-tests", "--intents", "shop.intentmatch")

    assert (done.exit_code, "is not YAML" in done.stderr) == (2, True)
