"""`intentmatch chat`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import run
from terminal import in_a_terminal

from intentmatch import Matcher
from intentmatch.core.errors import InputError
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
    def lines(words: list[str]) -> list[str]:
        Path(shop, "shop.yaml").write_text("intents: [", encoding="utf-8")
        return ["/reload", "cancel my order"]

    monkeypatch.setattr(sys.modules["intentmatch.cli.chat"], "_lines", lines)
    done = run("chat", shop)

    assert "yaml-syntax" in done.stderr
    assert "The files are not used. The previous intents stay active." in done.stderr
    assert "bot> (cancel has no response: here your bot's own code acts)" in done.stdout


def test_chat_asks_for_a_missing_slot(booking: str) -> None:
    """The question takes the place of the response; the next line is the answer."""
    done = run("chat", booking, stdin="book a table for 3\nRoma\nbook a table in Rome\n/quit\n")

    assert "bot> In which city?" in done.stdout
    assert "     city: missing  “In which city?”" in done.stdout
    assert done.stdout.count("bot> Booked.\n") == 2
    assert "     guests: 3  “3”\n     city: Rome  “Roma”\n" in done.stdout


def test_chat_asks_to_confirm(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "intents:\n"
        "  erase: {confirm: true, title: Erase everything, utterances: {en: [wipe it]}, response: Erased.}\n"
        "  stop: {utterances: {en: [stop it now]}, response: Stopped.}\n",
        encoding="utf-8",
    )
    done = run("chat", str(tmp_path), stdin="wipe it\nno\nwipe it\nyes\n")

    assert done.stdout.count("bot> Erase everything?\n     1. Yes\n     2. No\n") == 2
    assert "     erase: to be confirmed\n" in done.stdout
    assert "bot> All right, I will not do that.\n     declined: your answer to the question\n" in done.stdout
    assert "bot> Erased.\n     erase: your answer to the question\n" in done.stdout


def test_chat_keeps_no_answer_to_its_questions_in_the_inbox(booking: str, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox.sqlite"
    lines = "book a table\nRoma\nquantum chromodynamics\n/quit\n"
    assert run("chat", booking, "--set", f"inbox={inbox}", stdin=lines).exit_code == 0

    assert [message.text for message in Inbox(inbox).messages()] == ["quantum chromodynamics"]


def test_correct_adds_the_last_message_and_shows_the_new_answer(shop: str) -> None:
    done = run("chat", shop, stdin="quantum chromodynamics\n/correct cancel\nquantum chromodynamics\n")

    assert "+    utterances: {en: [cancel my order, I do not want it any more, quantum chromodynamics]," in done.stdout
    assert "is now cancel (100%)." in done.stdout
    assert "quantum chromodynamics" in Path(shop, "shop.yaml").read_text(encoding="utf-8")


def test_correction_that_cannot_be_loaded_is_written_and_said_not_to_be_in_use(
    shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Matcher) -> None:
        raise InputError("the encoder is gone")

    monkeypatch.setattr(Matcher, "reload", refuse)
    done = run("chat", shop, stdin="quantum chromodynamics\n/correct cancel\n")

    assert "The files are written, but not in use: the encoder is gone" in done.stderr
    assert "is now" not in done.stdout


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("/correct cancel", "There is no message to add yet."),
        ("my order\n/correct", "Name the intent that was meant: /correct INTENT"),
        ("my order\n/correct cancle", "Did you mean 'cancel'?"),
        ("/wyh", "/wyh is no command; did you mean /why?"),
        ("/zzz", "/zzz is no command; /help lists the commands"),
        ("/context checkout", "No intent has `when: checkout`."),
    ],
)
def test_wrong_command_is_an_error_and_no_message(shop: str, lines: str, says: str) -> None:
    before = Path(shop, "shop.yaml").read_bytes()
    done = run("chat", shop, stdin=f"{lines}\ncancel my order\n")

    assert says in done.stderr
    assert done.stdout.count("bot> ") == 1 + lines.startswith("my order")
    assert Path(shop, "shop.yaml").read_bytes() == before


def test_slots_shows_what_is_known_and_what_is_missing(booking: str) -> None:
    done = run("chat", booking, stdin="/slots\nbook a table for 3\n/slots\n")

    assert "No slot is known." in done.stdout
    assert done.stdout.endswith("  guests: 3\n  city: missing\n")


def test_context_activates_intents(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "intents:\n"
        "  more: {when: [listing], utterances: {en: [show me more]}, response: Here is more.}\n"
        "  stop: {utterances: {en: [stop it now]}, response: Stopped.}\n",
        encoding="utf-8",
    )
    done = run("chat", str(tmp_path), stdin="show me more\n/context listing\nshow me more\n/context\nshow me more\n")

    assert done.stdout.count("bot> Here is more.") == 1
    assert "Active: listing." in done.stdout
    assert "Active: no tag." in done.stdout


def test_help_lists_every_command(shop: str) -> None:
    shown = run("chat", shop, stdin="/help\n").stdout

    for command in ("/why", "/correct INTENT", "/slots", "/context TAG", "/reload", "/help", "/quit"):
        assert f"\n      {command} " in f"\n{shown}"


def test_terminal_has_history_and_completion(shop: str) -> None:
    """Arrow up repeats the last line, and Tab completes a command, as in a shell."""
    code, shown = in_a_terminal("chat", shop, typed=b"cancel my order\r\x1b[A\r/he\t\r/quit\r")

    assert code == 0
    assert shown.count(b"cancel has no response") == 2
    assert b"to see this list" in shown
