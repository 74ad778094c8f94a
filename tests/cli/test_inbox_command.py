"""`intentmatch inbox`: show messages that were not understood, and add them to intents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from terminal import in_a_terminal

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox
from intentmatch.registry import read_registry

YAML = """\
version: 1   # of the grammar
language: en

# The shop.
intents:
  status:
    utterances: [where is my order, 'track my parcel', has it been shipped yet]   # three
  cancel:
    utterances:
      - cancel my order        # the usual way
      - I do not want it any more
      - call off my purchase
"""
MISSED = ("do you ship to norway", "do you ship to iceland", "can you ship it to norway", "quantum chromodynamics")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small registry, and an inbox with four messages that the registry does not understand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTENTMATCH_INTENTS", "shop")
    monkeypatch.setenv("INTENTMATCH_INBOX", "inbox.sqlite")
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    keep(*MISSED)
    return file


def keep(*messages: str, mode: str = "redacted") -> None:
    matcher, inbox = Matcher.load("shop"), Inbox("inbox.sqlite", mode=mode)
    for message in messages:
        inbox.record(matcher.match(message))
    assert inbox.flush()


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["inbox", *words], catch_exceptions=False)


def left() -> list[str | None]:
    return [message.text for message in Inbox("inbox.sqlite").messages()]


@pytest.mark.parametrize("words", [(), ("show",), ("inbox.sqlite",), ("show", "inbox.sqlite"), ("--intents", "shop")])
def test_show_prints_groups_with_proposals(shop: Path, words: tuple[str, ...]) -> None:
    """`show` is the default; the inbox is named by the argument or the setting; nothing changes."""
    done = run(*words)

    assert done.exit_code == 0
    assert done.stdout.startswith(
        "4 messages, received 4 times, in 2 groups\n\nRequests\n\n#1  “do you ship to norway”  received 3 times, 20"
    )
    assert "  ? new intent do_you_ship_to_norway? received 3 times; " in done.stdout
    assert "       1  can you ship it to norway\n" in done.stdout
    assert ", or none of these? received once; " in done.stdout
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_json_prints_one_line_per_group(shop: Path) -> None:
    first, second = map(json.loads, run("--json").stdout.splitlines())

    assert (first["cluster"], first["name"], first["count"]) == (1, "do you ship to norway", 3)
    assert first["proposal"]["action"] == "new"
    assert [message["text"] for message in second["messages"]] == ["quantum chromodynamics"]


def test_question_is_not_applied_without_an_answer(shop: Path) -> None:
    done = run("apply", "--cluster", "1", "--yes")

    assert done.exit_code == 2
    assert "cluster 1 is a question (received 3 times; " in done.stderr
    assert "answer it by --intent " in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_refusal_is_what_the_intent_must_not_match(shop: Path) -> None:
    keep("please never cancel my order")
    number = str(Inbox("inbox.sqlite").messages()[-1].id)

    assert "Refusals: " in run().stdout
    done = run("apply", "--cluster", number, "--not", "cancel", "--yes")

    assert done.exit_code == 0, done.output
    assert [line.text for line in read_registry(shop)["cancel"].negatives] == ["please never cancel my order"]
    assert left() == list(MISSED)


def test_apply_creates_the_proposed_intent(shop: Path) -> None:
    """The messages are shown, compared and written; then they match, leave the inbox and do not come back."""
    done = run("apply", "--cluster", "1", "--new", "do_you_ship_to_norway", "--yes")

    assert (done.exit_code, done.stderr) == (0, "")
    assert "+++ shop/shop.yaml" in done.stdout
    assert "+  do_you_ship_to_norway:\n" in done.stdout
    assert "intents before against intents after" in done.stdout
    assert done.stdout.index("logged messages") < done.stdout.index("shop/shop.yaml is written.")
    assert "3 messages added and removed from the inbox.\n" in done.stdout
    assert left() == ["quantum chromodynamics"]
    written = shop.read_text(encoding="utf-8")
    assert written.startswith(YAML)
    assert Matcher.load("shop").match("Do you ship to Norway?").intent == "do_you_ship_to_norway"
    keep(*MISSED)
    assert left() == ["quantum chromodynamics"]


def test_apply_adds_messages_literally_to_the_named_intent(shop: Path) -> None:
    """Brackets are no template; the number of any message names its group; the author's lines stay."""
    keep("can {dogs} [sleep] here or not")
    number = str(Inbox("inbox.sqlite").messages()[-1].id)

    done = run("apply", "-c", "3", "-c", number, "--intent", "cancel", "--yes")

    assert done.exit_code == 0
    lines = shop.read_text(encoding="utf-8").splitlines()
    assert "      - cancel my order        # the usual way" in lines
    matcher = Matcher.load("shop")
    assert matcher.match("can {dogs} [sleep] here or not").intent == "cancel"
    assert "do you ship to iceland" in [utterance.text for utterance in matcher.registry["cancel"].utterances]
    assert left() == ["quantum chromodynamics"]


def test_ignored_messages_do_not_come_back(shop: Path) -> None:
    """No confirmation and no comparison, because the YAML does not change."""
    done = run("apply", "--cluster", "4", "--ignore")

    assert done.stdout == "1 message ignored and removed from the inbox.\n"
    assert shop.read_text(encoding="utf-8") == YAML
    keep("quantum chromodynamics")
    assert left() == list(MISSED[:3])


def test_groups_become_tests(shop: Path) -> None:
    """Without an intent they are expected to be out of scope; the other groups stay in the inbox."""
    ignored = run("apply", "--cluster", "4", "--ignore", "--as-tests", "--yes")
    added = run("apply", "--cluster", "1", "--intent", "status", "--as-tests", "--lang", "de", "--yes")

    tests = read_registry(shop).tests
    assert (ignored.exit_code, added.exit_code, left()) == (0, 0, [])
    assert shop.read_text(encoding="utf-8").startswith(YAML)
    assert [(case.text, case.expected) for case in tests[:1]] == [(MISSED[3], None)]
    assert {(case.text, case.expected, case.language) for case in tests[1:]} == {
        (m, "status", "de") for m in MISSED[:3]
    }
    assert "1 message added and removed from the inbox." in ignored.stdout


def test_corrections_of_users_become_the_proposal(shop: Path) -> None:
    inbox = Inbox("inbox.sqlite")
    inbox.correct("any news of the thing I bought", "status")
    inbox.flush()

    assert "? add to status? 1 of 1 corrections say so" in run().stdout
    assert "any news of the thing I bought   corrected: 1× status" in run().stdout
    assert run("apply", "-c", "5", "--yes").exit_code == 2
    assert run("apply", "-c", "5", "--intent", "status", "--yes").exit_code == 0
    assert Matcher.load("shop").match("any news of the thing I bought").intent == "status"


def test_dry_run_changes_neither_yaml_nor_inbox(shop: Path) -> None:
    done = run("apply", "--cluster", "1", "--new", "shipping", "--dry-run")

    assert (done.exit_code, "+  shipping:" in done.stdout) == (0, True)
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_dry_run_says_what_would_be_ignored(shop: Path) -> None:
    done = run("apply", "--cluster", "4", "--ignore", "--dry-run")

    assert (done.exit_code, "would be ignored and removed from the inbox" in done.stdout) == (0, True)
    assert left() == list(MISSED)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("apply", "--cluster", "99"), 2, "the inbox has no cluster 99; its clusters are 1, 4"),
        (("apply", "--cluster", "1", "--new", "shipping"), 2, "add --yes to write"),
        (("apply",), 2, "standard input is no terminal to ask"),
        (("apply", "--new", "a"), 2, "need --cluster"),
        (("apply", "-c", "1", "--new", "a", "--ignore"), 2, "Choose one of"),
        (("apply", "-c", "1", "--new", "a", "--as-tests"), 2, "--as-tests and --new do not go together"),
        (("apply", "-c", "1", "--intent", "cancl", "--as-tests", "--yes"), 2, "Did you mean 'cancel'?"),
        (("apply", "-c", "1", "--not", "cancl", "--yes"), 2, "Did you mean 'cancel'?"),
        (("apply", "-c", "1", "--not", "cancel", "--as-tests"), 2, "write --ignore --as-tests, not --not"),
        (("apply", "-c", "1", "--ignore", "--as-tests", "--file", "a.txt", "--yes"), 2, "is not part of the registry"),
        (("apply", "-c", "1", "--intent", "cancl", "--yes"), 2, "Did you mean 'cancel'?"),
        (("apply", "-c", "1", "--new", "cancel", "--yes"), 2, "the intent 'cancel' already exists"),
        (("apply", "-c", "1", "--new", "a", "--lang", "no code", "--yes"), 2, "is not a language code"),
        (("apply", "-c", "1", "--new", "a", "--lang", "english", "--yes"), 2, "did you mean 'en'?"),
        (("none.sqlite",), 2, "there is no inbox at none.sqlite"),
        (("shop/shop.yaml",), 2, "is no inbox, or it is damaged"),
        (("--set", "inbox=off"), 2, "there is no inbox to open: name its file, or set `inbox`"),
    ],
)
def test_invalid_input_is_explained_and_nothing_changes(
    shop: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    done = run(*words)

    assert done.exit_code == code
    assert message in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_edit_that_breaks_the_registry_is_refused(shop: Path) -> None:
    """An utterance of another intent cannot be added, and stays in the inbox."""
    inbox = Inbox("inbox.sqlite")
    inbox.correct("cancel my order", "status")
    inbox.flush()

    done = run("apply", "--cluster", "5", "--intent", "status", "--yes")

    assert (done.exit_code, "conflicting-utterance" in done.stderr) == (2, True)
    assert shop.read_text(encoding="utf-8") == YAML
    assert "cancel my order" in left()


def test_artefact_can_be_shown_and_not_edited(shop: Path) -> None:
    CliRunner().invoke(cli, ["build", "shop", "-o", "shop.intentmatch"], catch_exceptions=False)

    assert run("--intents", "shop.intentmatch").stdout == run().stdout
    done = run("apply", "--intents", "shop.intentmatch", "-c", "1")
    assert (done.exit_code, "edit the folder that the artefact was built from" in done.stderr) == (2, True)


def test_hashed_messages_are_counted(shop: Path) -> None:
    Path("inbox.sqlite").unlink()
    keep(*MISSED, *MISSED, mode="hashed")

    done = run()

    assert done.stdout.startswith(
        "0 messages, received 0 times, in 0 groups\n\n4 messages stored as hashes, without text:\n"
    )
    assert "out_of_scope" in done.stdout
    assert len(run("--json").stdout.splitlines()) == 4


def test_terminal_is_asked_about_each_group_and_before_writing(shop: Path) -> None:
    """The replies: a new name, a misspelled intent, and skip."""
    answers = b"new\nshipping\ncancl\nskip\ny\n"

    code, shown = in_a_terminal("inbox", "apply", typed=answers)

    assert code == 0, shown.decode()
    assert b"Did you mean 'cancel'?" in shown
    assert b"Write this?" in shown
    assert "shipping" in [intent.name for intent in Matcher.load("shop").registry]
    assert left() == ["quantum chromodynamics"]


@pytest.mark.parametrize("answers", [b"stop\n", b"skip\nskip\n", b"\n\nn\n", b"\n\x04"])
def test_terminal_can_stop_before_anything_is_written(shop: Path, answers: bytes) -> None:
    in_a_terminal("inbox", "apply", typed=answers)

    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_enter_skips_a_question_and_a_name_chooses_an_intent(shop: Path) -> None:
    code, shown = in_a_terminal("inbox", "apply", typed=b"status\n\ny\n")

    assert code == 0, shown.decode()
    assert left() == ["quantum chromodynamics"]
    assert "do you ship to norway" in [u.text for u in Matcher.load("shop").registry["status"].utterances]


def test_enter_accepts_what_is_sure(shop: Path) -> None:
    """Two users said what the message means."""
    inbox = Inbox("inbox.sqlite")
    for _ in range(2):
        inbox.correct("any news of the thing I bought", "status")
    inbox.flush()

    code, shown = in_a_terminal("inbox", "apply", typed=b"\nstop\ny\n")

    assert code == 0, shown.decode()
    assert left() == list(MISSED)
    assert "any news of the thing I bought" in [u.text for u in Matcher.load("shop").registry["status"].utterances]
