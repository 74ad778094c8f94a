"""`intentmatch add`, `move`, `rename`, `remove` and `format`: shown first, written when that is wanted."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli

YAML = """\
version: 1
language: en
intents:
  # Where things are.
  status:
    utterances:
      - where is my order     # the classic
      - 'track my parcel'
  cancel:
    utterances: {en: [cancel my order, cancel], de: [stornieren]}
  yes:
    utterances: ["yes"]
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one file of the folder `intents` below the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "intents").mkdir()
    file = tmp_path / "intents" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    return file


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words], catch_exceptions=False)


def test_a_change_is_shown_and_written(shop: Path) -> None:
    """As a diff, and then the file that was written."""
    done = run("add", "status", "any news: today?", "--yes")

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "--- intents/shop.yaml",
        "+++ intents/shop.yaml",
        "@@ -6,6 +6,7 @@",
        "     utterances:",
        "       - where is my order     # the classic",
        "       - 'track my parcel'",
        '+      - "any news: today?"',
        "   cancel:",
        "     utterances: {en: [cancel my order, cancel], de: [stornieren]}",
        "   yes:",
        "intents/shop.yaml is written.",
    ]
    assert shop.read_text(encoding="utf-8") == YAML.replace("parcel'\n", 'parcel\'\n      - "any news: today?"\n')


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (("add", "cancel", "weg", "weg damit", "--lang", "de"), "[stornieren]", "[stornieren, weg, weg damit]"),
        (("add", "cancel", "no visit", "--not", "-l", "en"), "  yes:\n", "    not: [no visit]\n  yes:\n"),
        (("add", "yes", "yes [please]", "--template"), '["yes"]', '["yes", "yes [please]"]'),
        (("add", "no", "no", "--new"), '["yes"]\n', '["yes"]\n  "no":\n    utterances:\n      - "no"\n'),
        (("rename", "cancel", "stop"), "  cancel:", "  stop:"),
        (("remove", "stornieren"), ", de: [stornieren]", ""),
        (("remove", "cancel", "--from", "cancel"), ", cancel", ""),
        (("remove", "status"), YAML[YAML.index("  # Where") : YAML.index("  cancel:")], ""),
        (("remove", "cancel", "--intent"), YAML[YAML.index("  cancel:") : YAML.index("  yes:")], ""),
    ],
)
def test_what_each_command_does(shop: Path, words: tuple[str, ...], old: str, new: str) -> None:
    """To the one place, in the way of the file."""
    done = run(*words, "-y")

    assert (done.exit_code, done.stderr) == (0, "")
    assert shop.read_text(encoding="utf-8") == YAML.replace(old, new)


def test_a_line_is_moved_to_another_intent(shop: Path) -> None:
    """From the one that has it, or from the one that is named; its language and its comment go with it."""
    for words in (("where is my order", "cancel"), ("stornieren", "cancel", "yes")):
        assert run("move", *words, "-y").exit_code == 0

    assert (
        shop.read_text(encoding="utf-8").partition("status:\n")[2]
        == """\
    utterances:
      - 'track my parcel'
  cancel:
    utterances:
      en:
        - cancel my order
        - cancel
        - where is my order     # the classic
  yes:
    utterances:
      en: ["yes"]
      de: [stornieren]
"""
    )


def test_it_can_only_be_looked_at(shop: Path) -> None:
    """Even where nobody is to be asked."""
    done = run("rename", "status", "where", "--dry-run")

    assert done.exit_code == 0
    assert "-  status:\n+  where:\n" in done.stdout
    assert shop.read_text(encoding="utf-8") == YAML


def test_nothing_is_written_where_nobody_can_be_asked(shop: Path) -> None:
    """It is shown, and how to write it is said."""
    done = run("rename", "status", "where")

    assert done.exit_code == 2
    assert "+  where:\n" in done.stdout
    assert done.stderr == "error: nothing was written, and there is nobody to ask: say --yes to write it\n"
    assert shop.read_text(encoding="utf-8") == YAML


@pytest.mark.parametrize(("answer", "code", "written"), [(b"y\n", 0, True), (b"n\n", 1, False), (b"\n", 1, False)])
def test_in_a_terminal_it_asks(shop: Path, answer: bytes, code: int, written: bool) -> None:
    """Only a yes is one."""
    leader, follower = pty.openpty()
    os.write(leader, answer)
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "rename", "status", "where"],
        stdin=follower, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    os.close(follower)
    os.close(leader)

    assert done.returncode == code
    assert b"Write this? [y/N]: " in done.stderr
    assert (shop.read_text(encoding="utf-8") != YAML) == written


def test_a_diff_is_coloured_in_a_terminal(shop: Path) -> None:
    """What goes is red, what comes is green."""
    done = CliRunner().invoke(cli, ["rename", "status", "where", "-n"], color=True)

    assert "\x1b[31m-  status:" in done.stdout
    assert "\x1b[32m+  where:" in done.stdout


def test_what_would_not_load_is_not_written(shop: Path) -> None:
    """The diff, and what is wrong with it."""
    done = run("add", "status", "cancel", "--yes")

    assert done.exit_code == 2
    assert "+      - cancel\n" in done.stdout
    assert "[conflicting-utterance] “cancel” already belongs to 'status' (intents/shop.yaml:9)" in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_what_looks_like_a_mistake_is_said_and_written(shop: Path) -> None:
    """A warning is the author's to judge."""
    done = run("add", "status", "where (is", "--template", "--yes")

    assert done.exit_code == 0
    assert "warning [unbalanced-template]" in done.stdout
    assert "where (is" in shop.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "statu", "x"), "Did you mean 'status'? A new one is begun with --new"),
        (("add", "no", "x", "--new", "--not"), "--new does not go with --not"),
        (("add", "status", "x", "--file", "a.yaml"), "--file goes with --new"),
        (
            ("add", "no", "x", "--new", "--file", "a.yaml"),
            "a.yaml is not part of the registry: choose a .yaml file in intents",
        ),
        (("add", "status"), "Missing argument 'UTTERANCES...'"),
        (("add", "status", "x", "-i", "nowhere"), "unknown intent 'status'"),
        (("move", "x", "a", "b", "c"), "Name one intent to move to, or two"),
        (("move", "stornieren", "statu"), "unknown intent 'statu'"),
        (
            ("remove", "cancel"),
            "'cancel' is an intent, and an utterance at intents/shop.yaml:10: say --intent",
        ),
        (("remove", "cancel", "--intent", "--not"), "--intent is about a whole intent"),
        (("remove", "nonsense"), "“nonsense” is not among the utterances"),
        (("remove", "stornieren", "--from", "nonsense"), "unknown intent 'nonsense'"),
        (("remove", "nonsense", "--intent"), "unknown intent 'nonsense'"),
        (("remove", "yes", "--from", "yes"), "intent 'yes' has no utterances"),
    ],
)
def test_mistakes_are_explained(shop: Path, words: tuple[str, ...], said: str) -> None:
    """And nothing is written."""
    done = run(*words, *(["--yes"] if "UTTERANCES" not in said else []))

    assert done.exit_code == 2
    assert said in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_an_intent_that_tests_expect_is_not_removed(shop: Path) -> None:
    """They would fail without it."""
    shop.write_text(f"{YAML}tests:\n  - {{text: x, intent: status}}\n", encoding="utf-8")

    done = run("remove", "status", "--yes")

    assert done.exit_code == 2
    assert "tests expect 'status' at intents/shop.yaml:14: change or remove them first" in done.stderr


def test_a_new_file_is_begun(shop: Path) -> None:
    """In a folder of its own, if that is wanted; and even where there is no registry yet."""
    assert run("add", "no", "nope", "--new", "--file", "intents/more/no.yaml", "--lang", "en", "-y").exit_code == 0
    assert run("add", "no", "nope", "--new", "--file", "new/no.yaml", "-i", "new", "-y").exit_code == 0

    assert Path("intents/more/no.yaml").read_text() == (
        'version: 1\nintents:\n  "no":\n    utterances:\n      en:\n        - nope\n'
    )
    assert Path("new/no.yaml").read_text() == 'version: 1\nintents:\n  "no":\n    utterances:\n      - nope\n'


def test_files_are_put_into_one_layout(shop: Path) -> None:
    """Looked at first, if that is wanted: for CI."""
    checked = run("format", "--check")
    assert (checked.exit_code, shop.read_text(encoding="utf-8")) == (1, YAML)
    assert "-      - 'track my parcel'\n+      - track my parcel\n" in checked.stdout

    written = run("format")
    assert (written.exit_code, written.stdout) == (0, "intents/shop.yaml is written.\n")
    assert shop.read_text(encoding="utf-8") == YAML.replace("'", "")

    again = run("format", "intents/shop.yaml", "--check")
    assert (again.exit_code, again.stdout) == (0, "Nothing to change.\n")


def test_a_broken_file_is_not_formatted(shop: Path) -> None:
    """What is wrong with it is said."""
    shop.write_text("intents: [", encoding="utf-8")

    done = run("format")

    assert done.exit_code == 2
    assert "[yaml-syntax]" in done.stderr
