"""`intentmatch chat`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import run

from intentmatch.inbox import Inbox


def test_chat_answers_explains_and_reloads(shop: str) -> None:
    done = run(
        "chat",
        shop,
        stdin="/why\nwo ist meine Bestellung\n/why\n/reload\nquantum chromodynamics\n\n/quit\nnever read\n",
    )

    assert done.exit_code == 0
    assert "There is no answer to explain yet." in done.stdout
    assert "bot> Ist unterwegs." in done.stdout
    assert "an utterance of status" in done.stdout
    assert "2 intents." in done.stdout
    assert "out of scope" in done.stdout
    assert "never read" not in done.stdout


def test_chat_asks_which_intent_is_meant_and_takes_the_answer(shop: str) -> None:
    """The user answers with a number; then nothing is matched, and `/why` says so."""
    done = run(
        "chat", shop, "--set", "margin=0.9", "--set", "threshold=0.2", stdin="my order\n2\n/why\nmy order\n3\n/quit\n"
    )

    asked = done.stdout.partition("bot> ")[2].splitlines()
    assert asked[0] == "Did you mean:"
    assert sorted(asked[1:3]) == sorted(["     1. Where is it?", "     2. Cancel it"])
    assert asked[3] == "     3. None of these"
    assert asked[4].startswith("     ambiguous: ")
    assert ": your answer to the question" in done.stdout
    assert "Your message answered the bot's question, so no intent was matched." in done.stdout
    assert "none of these: your answer to the question" in done.stdout
    assert "out of scope" in done.stdout


def test_chat_refuses_an_invalid_language_code(shop: str) -> None:
    done = run("chat", shop, "--language", "english!")

    assert (done.exit_code, "'english!' is not a language code" in done.stderr) == (2, True)


def test_chat_asks_in_the_language_of_the_message(booking: str) -> None:
    assert "bot> In welcher Stadt?" in run("chat", booking, stdin="einen Tisch buchen\n").stdout


def test_chat_keeps_old_registry_on_a_broken_reload(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lines() -> list[str]:
        Path(shop, "shop.yaml").write_text("intents: [", encoding="utf-8")
        return ["/reload", "cancel my order"]

    monkeypatch.setattr(sys.modules["intentmatch.cli.chat"], "_lines", lines)
    done = run("chat", shop)

    assert "yaml-syntax" in done.stderr
    assert "The files are not used. The previous intents stay active." in done.stderr
    assert "bot> Cancel it" in done.stdout


def test_chat_asks_for_a_missing_slot(booking: str) -> None:
    """The question takes the place of the response; the next line is the answer."""
    done = run("chat", booking, stdin="book a table for 3\nRoma\nbook a table in Rome\n/quit\n")

    assert "bot> In which city?" in done.stdout
    assert "     city: missing  “In which city?”" in done.stdout
    assert done.stdout.count("bot> Booked.\n") == 2
    assert "     guests: 3  “3”\n     city: Rome  “Roma”\n" in done.stdout


def test_chat_keeps_no_answer_to_its_questions_in_the_inbox(booking: str, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox.sqlite"
    lines = "book a table\nRoma\nquantum chromodynamics\n/quit\n"
    assert run("chat", booking, "--set", f"inbox={inbox}", stdin=lines).exit_code == 0

    assert [message.text for message in Inbox(inbox).messages()] == ["quantum chromodynamics"]
