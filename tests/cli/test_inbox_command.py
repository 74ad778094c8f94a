"""`intentmatch inbox`: from what was missed, through groups and edits, to a registry that understands it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from terminal import in_a_terminal

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox

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
    """A folder with a small bot, and an inbox beside it with what it missed."""
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
def test_it_shows_groups_with_proposals(shop: Path, words: tuple[str, ...]) -> None:
    """Of the file that is named, or that the settings name; nothing is changed."""
    done = run(*words)

    assert done.exit_code == 0
    assert done.stdout.startswith(
        "4 messages, said 4 times, in 2 groups\n\n#1  “do you ship to norway”  said 3 times, 20"
    )
    assert "  → new intent do_you_ship_to_norway: said 3 times; " in done.stdout
    assert "       1  can you ship it to norway\n" in done.stdout
    assert "  → ignore: said once; " in done.stdout
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_it_speaks_json(shop: Path) -> None:
    """A group a line."""
    first, second = map(json.loads, run("--json").stdout.splitlines())

    assert (first["cluster"], first["name"], first["count"]) == (1, "do you ship to norway", 3)
    assert first["proposal"]["action"] == "new"
    assert [message["text"] for message in second["messages"]] == ["quantum chromodynamics"]


def test_a_new_intent_is_made_and_answers(shop: Path) -> None:
    """The whole way: missed, grouped, shown, compared, written; then it is understood, and gone from the inbox."""
    done = run("apply", "--cluster", "1", "--yes")

    assert (done.exit_code, done.stderr) == (0, "")
    assert "+++ shop/shop.yaml" in done.stdout
    assert "+  do_you_ship_to_norway:\n" in done.stdout
    assert "the intents now against with these edits" in done.stdout
    assert done.stdout.index("logged messages") < done.stdout.index("shop/shop.yaml is written.")
    assert "3 messages added, and out of the inbox.\n" in done.stdout
    assert left() == ["quantum chromodynamics"]
    written = shop.read_text(encoding="utf-8")
    assert written.startswith(YAML)
    assert Matcher.load("shop").match("Do you ship to Norway?").intent == "do_you_ship_to_norway"
    keep(*MISSED)
    assert left() == ["quantum chromodynamics"]


def test_messages_go_where_the_user_says(shop: Path) -> None:
    """To an intent that is there, to the letter, beside what its author wrote; a cluster by any of its messages."""
    keep("is {order} [there] yet or not")
    number = str(Inbox("inbox.sqlite").messages()[-1].id)

    done = run("apply", "-c", "3", "-c", number, "--intent", "cancel", "--yes")

    assert done.exit_code == 0
    lines = shop.read_text(encoding="utf-8").splitlines()
    assert "      - cancel my order        # the usual way" in lines
    matcher = Matcher.load("shop")
    assert matcher.match("is {order} [there] yet or not").intent == "cancel"
    assert "do you ship to iceland" in [utterance.text for utterance in matcher.registry["cancel"].utterances]
    assert left() == ["quantum chromodynamics"]


def test_what_is_ignored_leaves_for_good(shop: Path) -> None:
    """Without a question, because nothing is written; and nothing is said about answers."""
    done = run("apply", "--cluster", "4", "--ignore")

    assert done.stdout == "1 message ignored, and out of the inbox.\n"
    assert shop.read_text(encoding="utf-8") == YAML
    keep("quantum chromodynamics")
    assert left() == list(MISSED[:3])


def test_corrections_decide(shop: Path) -> None:
    """What a user said is what is proposed, and what is applied."""
    inbox = Inbox("inbox.sqlite")
    inbox.correct("any news of the thing I bought", "status")
    inbox.flush()

    assert "→ add to status: 1 of 1 corrections say so" in run().stdout
    assert "any news of the thing I bought   corrected: 1× status" in run().stdout
    assert run("apply", "-c", "5", "--yes").exit_code == 0
    assert Matcher.load("shop").match("any news of the thing I bought").intent == "status"


def test_a_dry_run_only_shows(shop: Path) -> None:
    """The edit and what it does, and nothing is written or taken out."""
    done = run("apply", "--cluster", "1", "--new", "shipping", "--dry-run")

    assert (done.exit_code, "+  shipping:" in done.stdout) == (0, True)
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("apply", "--cluster", "99"), 2, "there is no cluster 99 in the inbox; there are 1, 4"),
        (("apply", "--cluster", "1"), 2, "say --yes to write it"),
        (("apply",), 2, "there is nobody to ask"),
        (("apply", "--new", "a"), 2, "go with --cluster"),
        (("apply", "-c", "1", "--new", "a", "--ignore"), 2, "Choose one of"),
        (("apply", "-c", "1", "--intent", "cancl", "--yes"), 2, "Did you mean 'cancel'?"),
        (("apply", "-c", "1", "--new", "cancel", "--yes"), 2, "the intent 'cancel' already exists"),
        (("apply", "-c", "1", "--lang", "no code", "--yes"), 2, "is not a language code"),
        (("none.sqlite",), 2, "there is no inbox at none.sqlite"),
        (("shop/shop.yaml",), 2, "is no inbox, or it is damaged"),
        (("--set", "inbox=off"), 2, "name the file of the inbox"),
    ],
)
def test_mistakes_are_explained(shop: Path, words: tuple[str, ...], code: int, said: str) -> None:
    """With the code of their error; and nothing is touched."""
    done = run(*words)

    assert done.exit_code == code
    assert said in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_an_edit_that_would_break_the_files_is_refused(shop: Path) -> None:
    """What stands in another intent already cannot be added, and the inbox keeps it."""
    inbox = Inbox("inbox.sqlite")
    inbox.correct("cancel my order", "status")
    inbox.flush()

    done = run("apply", "--cluster", "5", "--yes")

    assert (done.exit_code, "conflicting-utterance" in done.stderr) == (2, True)
    assert shop.read_text(encoding="utf-8") == YAML
    assert "cancel my order" in left()


def test_an_artefact_cannot_be_edited(shop: Path) -> None:
    """But its messages can be looked at."""
    CliRunner().invoke(cli, ["build", "shop", "-o", "shop.intentmatch"], catch_exceptions=False)

    assert run("--intents", "shop.intentmatch").stdout == run().stdout
    done = run("apply", "--intents", "shop.intentmatch", "-c", "1")
    assert (done.exit_code, "edit the folder that it was built from" in done.stderr) == (2, True)


def test_hashes_are_counted(shop: Path) -> None:
    """There is nothing else to be said of them."""
    Path("inbox.sqlite").unlink()
    keep(*MISSED, *MISSED, mode="hashed")

    done = run()

    assert done.stdout.startswith(
        "0 messages, said 0 times, in 0 groups\n\n4 messages of which only hashes were kept:\n"
    )
    assert "out_of_scope" in done.stdout
    assert len(run("--json").stdout.splitlines()) == 4


def test_in_a_terminal_it_asks(shop: Path) -> None:
    """About each group, and before it writes: another name, a mistake, and a group that is left for later."""
    answers = b"new\nshipping\ncancl\nskip\ny\n"

    code, shown = in_a_terminal("inbox", "apply", typed=answers)

    assert code == 0, shown.decode()
    assert b"Did you mean 'cancel'?" in shown
    assert b"Write this?" in shown
    assert "shipping" in [intent.name for intent in Matcher.load("shop").registry]
    assert left() == ["quantum chromodynamics"]


@pytest.mark.parametrize("answers", [b"stop\n", b"skip\nskip\n", b"\n\nn\n", b"\n\x04"])
def test_in_a_terminal_one_may_change_ones_mind(shop: Path, answers: bytes) -> None:
    """Until it is written, nothing has happened."""
    in_a_terminal("inbox", "apply", typed=answers)

    assert shop.read_text(encoding="utf-8") == YAML
    assert left() == list(MISSED)


def test_in_a_terminal_enter_means_yes(shop: Path) -> None:
    """What is proposed for each group, or an intent by its name."""
    code, shown = in_a_terminal("inbox", "apply", typed=b"status\n\ny\n")

    assert code == 0, shown.decode()
    assert left() == []
    assert "do you ship to norway" in [u.text for u in Matcher.load("shop").registry["status"].utterances]
