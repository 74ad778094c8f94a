"""`intentmatch match`."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from terminal import in_a_terminal


def test_match_shows_intent_numbers_and_runners_up(shop: str) -> None:
    """The output also names the origin of the threshold and the place of the nearest utterance."""
    done = run("match", "-i", shop, "where is the order of mine")

    assert done.exit_code == 0
    assert done.stdout.startswith("status  Where is it?\n")
    assert "(threshold 0.32, the default; too few utterances to learn one)" in done.stdout
    assert f"“where is my order”  {shop}/shop.yaml:6" in done.stdout
    assert "runners-up" in done.stdout
    assert "cancel" in done.stdout
    assert "\x1b" not in done.stdout


def test_several_requests_are_shown_with_what_each_asks_for(shop: str) -> None:
    done = run("match", "-i", shop, "--set", "several_intents=true", "cancel my order. where is my order")

    assert "  “cancel my order”: cancel" in done.stdout
    assert "  “where is my order”: status" in done.stdout


def test_intent_that_the_user_has_to_confirm_says_so(tmp_path: Path) -> None:
    bot = tmp_path / "bot.yaml"
    bot.write_text("intents:\n  cancel:\n    confirm: true\n    utterances: [cancel my order]\n", encoding="utf-8")

    assert "to be confirmed by the user" in run("match", "-i", str(bot), "cancel my order").stdout


def test_why_adds_explanation_and_stages(shop: str) -> None:
    done = run("match", "-i", shop, "--why", "where is the order of mine")

    assert "Matched: status has a score of 0." in done.stdout
    assert all(stage in done.stdout for stage in ("language", "exact", "fuzzy", "encode", "dense", "decide"))


@pytest.mark.parametrize(("message", "code"), [("cancel my order", 0), ("my order", 3), ("quantum chromodynamics", 4)])
def test_exit_code_of_a_single_message_is_its_verdict(shop: str, message: str, code: int) -> None:
    assert run("match", "-i", shop, "--set", "margin=0.2", "--set", "threshold=0.45", message).exit_code == code


def test_json_prints_one_line_per_message(shop: str) -> None:
    done = run("match", "-i", shop, "--json", "cancel my order", "где мой заказ")
    first, second = map(json.loads, done.stdout.splitlines())

    assert done.exit_code == 0
    assert (first["verdict"], first["intent"], first["score"]) == ("matched", "cancel", 1.0)
    assert second["message"] == "где мой заказ"


@pytest.mark.parametrize("words", [(), ("-",)])
def test_without_messages_each_line_of_standard_input_is_one(shop: str, words: tuple[str, ...]) -> None:
    done = run("match", "-i", shop, "--json", *words, stdin="cancel my order\r\ntrack my parcel\n")

    assert [json.loads(line)["intent"] for line in done.stdout.splitlines()] == ["cancel", "status"]


def test_without_messages_in_a_terminal_shows_usage(shop: str) -> None:
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "match", "-i", shop], stdin=follower, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip
    os.close(leader)
    os.close(follower)

    assert (done.returncode, "Give a message" in done.stderr) == (2, True)


def test_settings_and_allowed_intents_are_applied(shop: str) -> None:
    assert run("match", "-i", shop, "--set", "threshold=1", "where is the order of mine").exit_code == 4
    assert "cancel" in run("match", "-i", shop, "--allow", "cancel", "--set", "threshold=0", "where is my order").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "threshold=7"), "setting 'threshold' cannot be '7'"),
        (("--set", "threshold"), "--set takes NAME=VALUE"),
        (("--allow", "cancle"), "Did you mean 'cancel'?"),
        (("--top-k", "0"), "Invalid value"),
    ],
)
def test_invalid_options_are_explained_with_code_2(shop: str, words: tuple[str, ...], message: str) -> None:
    done = run("match", "-i", shop, *words, "hello")

    assert done.exit_code == 2
    assert message in done.stderr


def test_errors_go_to_stderr_with_their_exit_code(shop: str) -> None:
    """A registry with problems lists all of them (code 2); a missing model says how to get it (code 5)."""
    Path(shop, "more.yaml").write_text("intents:\n  a: {utterances: []}\n  b: {utterence: [x]}\n", encoding="utf-8")
    broken = run("match", "-i", shop, "hello")
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert "more.yaml:2:3: error [no-utterances]" in broken.stderr
    assert "more.yaml:3:7: error [unknown-key]" in broken.stderr
    assert "hint: did you mean `utterances`?" in broken.stderr
    missing = run("match", "-i", "no-such-folder", "hello")
    assert (missing.exit_code, "not-found" in missing.stderr) == (2, True)
    absent = run("match", "--set", "encoder=static:/no/such/folder", "-i", str(Path(shop, "shop.yaml")), "hello")
    assert (absent.exit_code, "is not a static model" in absent.stderr) == (5, True)


def test_process_accepts_bytes_that_are_not_utf8(shop: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "match", "-i", shop, "--json", b"wo ist \xff mein Paket"],
        capture_output=True,
        check=False,
    )

    assert done.returncode in (0, 3, 4)
    assert json.loads(done.stdout.decode("utf-8"))["verdict"]


def test_terminal_gets_colours_and_table_rules(shop: str) -> None:
    _, shown = in_a_terminal("match", "-i", shop, "where is the order of mine")

    assert b"\x1b[32m" in shown
    assert "─".encode() in shown


def test_slots_are_shown_with_values_and_questions(booking: str) -> None:
    """The words of the message are shown where they differ from the value."""
    found = run("match", "-i", booking, "-l", "en", "book a table for 2 in MÜNCHEN ab1234")
    missing = run("match", "-i", booking, "einen Tisch für zwei buchen")

    assert found.exit_code == missing.exit_code == 0
    assert "  guests: 2  “2”\n  city: Munich  “MÜNCHEN”\n  code: ab1234\n" in found.stdout
    assert "  guests: 2  “zwei”\n  city: missing  “In welcher Stadt?”\n" in missing.stdout


def test_json_has_entities_with_their_places(booking: str) -> None:
    answer = json.loads(run("match", "-i", booking, "--json", "book a table in Roma").stdout)

    assert answer["entities"] == [{"slot": "city", "value": "Rome", "text": "Roma", "start": 16, "end": 20}]
    assert answer["missing"] == []


def test_why_explains_the_slots(booking: str) -> None:
    done = run("match", "-i", booking, "--why", "book a table and bring my dog")

    assert "Found: wish=bring my dog.\nMissing: city." in done.stdout
    assert re.search(r"slots +\d+ µs  found wish=bring my dog; missing city", done.stdout)


def test_answers_to_several_messages_name_the_messages(shop: str) -> None:
    assert "> " not in run("match", "-i", shop, "cancel my order").stdout
    lines = run("match", "-i", shop, "cancel my order", "track my parcel").stdout.splitlines()

    assert [line for line in lines if line.startswith("> ")] == ["> cancel my order", "> track my parcel"]
