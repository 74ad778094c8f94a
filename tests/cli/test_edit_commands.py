"""`intentmatch add`, `move`, `rename`, `remove` and `format`."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox

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
    """The only file of the folder `intents` in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "intents").mkdir()
    file = tmp_path / "intents" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    return file


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words], catch_exceptions=False)


def test_change_is_shown_as_a_diff_and_written(shop: Path) -> None:
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
def test_command_changes_only_its_lines_in_the_style_of_the_file(
    shop: Path, words: tuple[str, ...], old: str, new: str
) -> None:
    done = run(*words, "-y")

    assert (done.exit_code, done.stderr) == (0, "")
    assert shop.read_text(encoding="utf-8") == YAML.replace(old, new)


def test_move_takes_language_and_comment_along(shop: Path) -> None:
    """The source intent is found, or named."""
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


def test_rename_in_a_copy_of_a_bot_of_a_database_says_that_its_inbox_stays(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTENTMATCH_INBOX", "database")

    done = run("rename", "status", "where", "--yes")

    assert done.exit_code == 0
    assert done.stderr.startswith("The inbox keeps the name 'status': `inbox: database` needs a bot in PostgreSQL")
    assert "  where:\n" in shop.read_text(encoding="utf-8")


def test_inbox_beside_the_files_follows_a_rename_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(f"settings: {{inbox: misses.sqlite}}\n{YAML}", encoding="utf-8")
    inbox = Inbox(tmp_path / "misses.sqlite")
    inbox.correct("any news", "status")
    inbox.flush()

    assert run("rename", "status", "where", "--intents", str(tmp_path), "--yes").exit_code == 0

    assert [message.corrections for message in inbox.messages()] == [{"where": 1}]


def test_dry_run_shows_the_change_and_writes_nothing(shop: Path) -> None:
    done = run("rename", "status", "where", "--dry-run")

    assert done.exit_code == 0
    assert "-  status:\n+  where:\n" in done.stdout
    assert shop.read_text(encoding="utf-8") == YAML


def test_nothing_is_written_without_yes_or_a_terminal(shop: Path) -> None:
    done = run("rename", "status", "where")

    assert done.exit_code == 2
    assert "+  where:\n" in done.stdout
    assert done.stderr == (
        "error: nothing was written, because standard input is no terminal to ask: add --yes to write\n"
    )
    assert shop.read_text(encoding="utf-8") == YAML


@pytest.mark.parametrize(("answer", "code", "written"), [(b"y\n", 0, True), (b"n\n", 1, False), (b"\n", 1, False)])
def test_terminal_is_asked_and_only_yes_writes(shop: Path, answer: bytes, code: int, written: bool) -> None:
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


def test_diff_is_coloured(shop: Path) -> None:
    """Removed lines are red, added lines green."""
    done = CliRunner().invoke(cli, ["rename", "status", "where", "-n"], color=True)

    assert "\x1b[31m-  status:" in done.stdout
    assert "\x1b[32m+  where:" in done.stdout


def test_change_that_breaks_the_registry_is_not_written(shop: Path) -> None:
    """The diff and the errors are shown."""
    done = run("add", "status", "cancel", "--yes")

    assert done.exit_code == 2
    assert "+      - cancel\n" in done.stdout
    assert "[conflicting-utterance] “cancel” already belongs to 'status' (intents/shop.yaml:9)" in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_change_with_a_warning_is_written(shop: Path) -> None:
    done = run("add", "status", "where (is", "--template", "--yes")

    assert done.exit_code == 0
    assert "warning [unbalanced-template]" in done.stdout
    assert "where (is" in shop.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "statu", "x"), "Did you mean 'status'? To create an intent, add --new"),
        (("add", "no", "x", "--new", "--not"), "--new cannot be used with --not"),
        (("add", "status", "x", "--file", "a.yaml"), "--file needs --new"),
        (("add", "status", "x", "--description", "y"), "--description needs --new"),
        (("add", "status", "--new"), "A new intent may have a --description instead"),
        (
            ("add", "no", "x", "--new", "--file", "a.yaml"),
            "a.yaml is not part of the registry: choose a .yaml file in intents",
        ),
        (("add", "status"), "Missing argument 'UTTERANCES...'"),
        (("add", "status", "x", "-i", "nowhere"), "nowhere:1:1: error [not-found] there is no such file or folder"),
        (("move", "x", "a", "b", "c"), "Name one intent (TO) or two (FROM TO)."),
        (("move", "stornieren", "statu"), "unknown intent 'statu'"),
        (
            ("remove", "cancel"),
            "'cancel' is an intent, and an utterance at intents/shop.yaml:10: add --intent",
        ),
        (("remove", "cancel", "--intent", "--not"), "--intent removes a whole intent"),
        (("remove", "nonsense"), "“nonsense” is not among the utterances"),
        (("remove", "stornieren", "--from", "nonsense"), "unknown intent 'nonsense'"),
        (("remove", "nonsense", "--intent"), "unknown intent 'nonsense'"),
        (("remove", "yes", "--from", "yes"), "intent 'yes' has no utterances"),
    ],
)
def test_invalid_input_is_explained_and_nothing_is_written(shop: Path, words: tuple[str, ...], message: str) -> None:
    done = run(*words, *(["--yes"] if "UTTERANCES" not in message else []))

    assert done.exit_code == 2
    assert message in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_intent_that_tests_expect_is_not_removed(shop: Path) -> None:
    shop.write_text(f"{YAML}tests:\n  - {{text: x, intent: status}}\n", encoding="utf-8")

    done = run("remove", "status", "--yes")

    assert done.exit_code == 2
    assert "tests expect 'status' at intents/shop.yaml:14: change or remove them first" in done.stderr


def test_new_intent_can_get_a_new_file(shop: Path) -> None:
    """The file may be in a new folder, and there need not be a registry yet."""
    assert run("add", "no", "nope", "--new", "--file", "intents/more/no.yaml", "--lang", "en", "-y").exit_code == 0
    assert run("add", "no", "nope", "--new", "--file", "new/no.yaml", "-i", "new", "-y").exit_code == 0

    assert Path("intents/more/no.yaml").read_text() == (
        'version: 1\nintents:\n  "no":\n    utterances:\n      en:\n        - nope\n'
    )
    assert Path("new/no.yaml").read_text() == 'version: 1\nintents:\n  "no":\n    utterances:\n      - nope\n'


def test_format_writes_one_layout_and_check_only_compares(shop: Path) -> None:
    checked = run("format", "--check")
    assert (checked.exit_code, shop.read_text(encoding="utf-8")) == (1, YAML)
    assert "-      - 'track my parcel'\n+      - track my parcel\n" in checked.stdout

    written = run("format")
    assert (written.exit_code, written.stdout) == (0, "intents/shop.yaml is written.\n")
    assert shop.read_text(encoding="utf-8") == YAML.replace("'", "")

    again = run("format", "intents/shop.yaml", "--check")
    assert (again.exit_code, again.stdout) == (0, "Nothing to change.\n")


def test_format_reports_a_missing_folder(shop: Path) -> None:
    done = run("format", "no-such-folder", "--check")

    assert done.exit_code == 2
    assert "error [not-found]" in done.stderr


def test_format_reports_broken_yaml(shop: Path) -> None:
    shop.write_text("intents: [", encoding="utf-8")

    done = run("format")

    assert done.exit_code == 2
    assert "[yaml-syntax]" in done.stderr
