"""The commands, run in-process, and once as a real process."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from terminal import in_a_terminal

import intentmatch
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox

YAML = """\
intents:
  status:
    title: Where is it?
    response: {en: On its way., de: Ist unterwegs.}
    utterances:
      en: [where is my order, track my parcel, has it been shipped yet]
      de: [wo ist meine Bestellung, wann kommt mein Paket]
  cancel:
    title: Cancel it
    utterances: {en: [cancel my order, I do not want it any more], de: [Bestellung stornieren]}
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop.yaml").write_text(YAML, encoding="utf-8")
    return str(tmp_path)


BOOKING = """\
slots:
  city: {values: {Munich: {de: [München]}, Rome: [Roma]}}
  code: {pattern: '[A-Z]{2}\\d{4}'}
intents:
  book:
    response: {en: Booked.}
    slots:
      city: {required: true, ask: {en: In which city?, de: In welcher Stadt?}}
      guests: {type: number}
      wish: {type: any}
    utterances:
      en: ["book a table [for {guests}] [in {city}] [{code}]", "book a table and {wish}"]
      de: ["einen Tisch [für {guests}] [in {city}] buchen"]
  greet: {utterances: {en: [hello]}}
"""


@pytest.fixture
def booking(tmp_path: Path) -> str:
    (tmp_path / "booking.yaml").write_text(BOOKING, encoding="utf-8")
    return str(tmp_path)


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, words, input=stdin, catch_exceptions=False)


def test_match_shows_what_the_decision_rests_on(shop: str) -> None:
    """Intent, title, confidence or its absence, score, threshold, nearest utterance with its place, runners-up."""
    done = run("match", "-i", shop, "where is the order of mine")

    assert done.exit_code == 0
    assert done.stdout.startswith("status  Where is it?\n")
    assert "threshold 0.40 (the default; too few utterances to learn one)" in done.stdout
    assert f"“where is my order”  {shop}/shop.yaml:6" in done.stdout
    assert "runners-up" in done.stdout
    assert "cancel" in done.stdout
    assert "\x1b" not in done.stdout


def test_match_explains_when_asked(shop: str) -> None:
    """`--why` adds the explanation and a line for each stage."""
    done = run("match", "-i", shop, "--why", "where is the order of mine")

    assert "Matched: status has a score of 0." in done.stdout
    assert all(stage in done.stdout for stage in ("language", "exact", "fuzzy", "encode", "dense", "decide"))


@pytest.mark.parametrize(("message", "code"), [("cancel my order", 0), ("my order", 3), ("quantum chromodynamics", 4)])
def test_match_tells_a_script_the_verdict(shop: str, message: str, code: int) -> None:
    """The exit code of a single message is its verdict."""
    assert run("match", "-i", shop, "--set", "margin=0.2", "--set", "threshold=0.45", message).exit_code == code


def test_match_speaks_json(shop: str) -> None:
    """One line of JSON for each message, whatever came before it."""
    done = run("match", "-i", shop, "--json", "cancel my order", "где мой заказ")
    first, second = map(json.loads, done.stdout.splitlines())

    assert done.exit_code == 0
    assert (first["verdict"], first["intent"], first["score"]) == ("matched", "cancel", 1.0)
    assert second["message"] == "где мой заказ"


@pytest.mark.parametrize("words", [(), ("-",)])
def test_match_reads_standard_input(shop: str, words: tuple[str, ...]) -> None:
    """Without messages, or with a dash, each line is one."""
    done = run("match", "-i", shop, "--json", *words, stdin="cancel my order\r\ntrack my parcel\n")

    assert [json.loads(line)["intent"] for line in done.stdout.splitlines()] == ["cancel", "status"]


def test_match_does_not_wait_for_a_person_to_type(shop: str) -> None:
    """Without messages and with nothing piped in, the usage is shown."""
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "match", "-i", shop], stdin=follower, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip
    os.close(leader)
    os.close(follower)

    assert (done.returncode, "Give a message" in done.stderr) == (2, True)


def test_match_takes_settings_and_allow_list(shop: str) -> None:
    """`--set` reaches the settings and `--allow` the allow list; mistakes in either are explained with code 2."""
    assert run("match", "-i", shop, "--set", "threshold=1", "where is the order of mine").exit_code == 4
    assert "cancel" in run("match", "-i", shop, "--allow", "cancel", "--set", "threshold=0", "where is my order").stdout
    for words, message in [
        (("--set", "threshold=7"), "setting 'threshold' cannot be '7'"),
        (("--set", "threshold"), "--set takes NAME=VALUE"),
        (("--allow", "cancle"), "Did you mean 'cancel'?"),
        (("--top-k", "0"), "Invalid value"),
    ]:
        done = run("match", "-i", shop, *words, "hello")
        assert done.exit_code == 2
        assert message in done.stderr


def test_errors_go_to_stderr_with_their_exit_code(shop: str) -> None:
    """A registry with problems lists them all (2); a model that is not there says how to get it (5)."""
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


def test_chat_answers_explains_and_reloads(shop: str) -> None:
    """A conversation over a pipe: the response in the user's language, the reason, and an edit taken over."""
    done = run(
        "chat",
        shop,
        stdin="/why\nwo ist meine Bestellung\n/why\n/reload\nquantum chromodynamics\n\n/quit\nnever read\n",
    )

    assert done.exit_code == 0
    assert "Nothing was said yet." in done.stdout
    assert "bot> Ist unterwegs." in done.stdout
    assert "an utterance of status" in done.stdout
    assert "2 intents." in done.stdout
    assert "out of scope" in done.stdout
    assert "never read" not in done.stdout


def test_chat_asks_which_is_meant_and_takes_the_answer(shop: str) -> None:
    """By number or by words; a number asks the matcher nothing, and chat says so."""
    done = run(
        "chat", shop, "--set", "margin=0.9", "--set", "threshold=0.2", stdin="my order\n2\n/why\nmy order\n3\n/quit\n"
    )

    asked = done.stdout.partition("bot> ")[2].splitlines()
    assert asked[0] == "Did you mean:"
    assert sorted(asked[1:3]) == sorted(["     1. Where is it?", "     2. Cancel it"])
    assert asked[3] == "     3. None of these"
    assert asked[4].startswith("     ambiguous: ")
    assert "by the question before" in done.stdout
    assert "It is one of the answers to the question before; nothing was matched." in done.stdout
    assert "none of these: by the question before" in done.stdout
    assert "out of scope" in done.stdout


def test_chat_refuses_a_language_that_is_none(shop: str) -> None:
    """Before anything is said."""
    done = run("chat", shop, "--language", "english!")

    assert (done.exit_code, "'english!' is not a language code" in done.stderr) == (2, True)


def test_chat_speaks_the_language_it_is_told(booking: str) -> None:
    """Where the message does not tell."""
    assert "bot> In welcher Stadt?" in run("chat", booking, stdin="einen Tisch buchen\n").stdout


def test_chat_survives_a_broken_edit(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reload of broken files is reported and the old intents go on."""

    def lines() -> list[str]:
        Path(shop, "shop.yaml").write_text("intents: [", encoding="utf-8")
        return ["/reload", "cancel my order"]

    monkeypatch.setattr(sys.modules["intentmatch.cli.chat"], "_lines", lines)
    done = run("chat", shop)

    assert "yaml-syntax" in done.stderr
    assert "The intents from before go on answering." in done.stderr
    assert "bot> Cancel it" in done.stdout


def test_validate_reports_for_people(shop: str) -> None:
    """A sound registry is counted; problems are listed with hints; errors exit with 2, warnings with 0."""
    sound = run("validate", shop)
    assert (sound.exit_code, "2 intents, 8 utterances, languages: de en" in sound.stdout) == (0, True)
    assert "no problems" in sound.stdout
    Path(shop, "shop.yaml").write_text(YAML + "  again: {utterances: [hello, Hello!]}\n", encoding="utf-8")
    warned = run("validate", shop)
    assert (warned.exit_code, "warning [duplicate-utterance]" in warned.stdout) == (0, True)
    Path(shop, "shop.yaml").write_text(YAML + "  again: {utterances: [cancel my order]}\n", encoding="utf-8")
    refused = run("validate", shop)
    assert (refused.exit_code, "shop.yaml:11:24: error [conflicting-utterance]" in refused.stdout) == (2, True)
    assert "1 error, 0 warnings" in refused.stdout


def test_validate_reports_for_github_and_programs(shop: str) -> None:
    """Annotations escape what would end them; JSON carries every field."""
    Path(shop, "shop.yaml").write_text('intents:\n  a: {utterances: ["100%\\nreal", "100% real"]}\n', encoding="utf-8")
    github = run("validate", shop, "--format", "github").stdout
    assert github == (
        f"::warning file={shop}/shop.yaml,line=2,col=34,title=duplicate-utterance::"
        f"“100%25 real” already stands at {shop}/shop.yaml:2%0Ahint: remove one of the two\n"
    )
    found = json.loads(run("validate", shop, "--format", "json").stdout)
    assert (found["ok"], found["intents"], found["utterances"]) == (True, 1, 2)
    assert found["problems"][0] == {
        "path": f"{shop}/shop.yaml", "line": 2, "column": 34, "severity": "warning", "rule": "duplicate-utterance",
        "message": f"“100% real” already stands at {shop}/shop.yaml:2", "hint": "remove one of the two",
    }  # fmt: skip


def test_build_writes_what_match_reads(shop: str, tmp_path: Path) -> None:
    """The artefact answers without the YAML."""
    target = str(tmp_path / "out" / "shop.intentmatch")

    done = run("build", shop, "-o", target)
    Path(shop, "shop.yaml").unlink()

    assert done.exit_code == 0
    assert "2 intents, 8 utterances" in done.stdout
    assert run("match", "-i", target, "cancel my order").stdout.startswith("cancel")


def test_build_warns_of_languages_not_covered(shop: str, tmp_path: Path) -> None:
    """What the encoder was not trained on is said with its place, and the file is written all the same."""
    more = "intents:\n  hi:\n    utterances: {en: [hello], ln: [mbote]}\n"
    Path(shop, "more.yaml").write_text(more, encoding="utf-8")
    target = tmp_path / "shop.intentmatch"

    done = run("build", shop, "-o", str(target))

    assert (done.exit_code, target.exists()) == (0, True)
    assert "more.yaml:3:36: warning [language-not-covered] static was not trained on ln" in done.stdout


def test_every_command_has_help() -> None:
    """`--help` works everywhere and the main ones show an example."""
    for name in cli.list_commands(click.Context(cli)):
        done = run(name, "--help")
        assert done.exit_code == 0
        assert "Usage:" in done.stdout
    for name in ("match", "validate", "build", "serve", "eval"):
        assert "Example" in run(name, "--help").stdout
    assert intentmatch.__version__ in run("--version").stdout


def test_nothing_is_searched_for_garbage_at_the_end() -> None:
    """Whatever the exit code; the objects of a registry are all that there is by then."""
    program = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 0)); "
        "from intentmatch.cli import main; sys.argv = ['intentmatch', 'no-such-command']; main()"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "True")


def test_no_command_waits_for_the_others() -> None:
    """What only other commands need is not imported: `match` is to answer soon."""
    program = (
        "import sys; from intentmatch.cli.commands import cli; "
        "cli.main(['match', '--help'], standalone_mode=False); "
        "print(*(name for name in sys.modules if name.startswith('intentmatch.')))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    loaded = done.stdout.splitlines()[-1].split()
    assert {name for name in loaded if name.startswith("intentmatch.cli.")} == {
        "intentmatch.cli.commands",
        "intentmatch.cli.show",
    }
    assert not {"intentmatch.artefact.build", "intentmatch.matching.matcher", "intentmatch.registry"} & {*loaded}


def test_runs_as_a_process(shop: str) -> None:
    """The installed entry point and `python -m` agree, in UTF-8, with bytes that are no text in the arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "match", "-i", shop, "--json", b"wo ist \xff mein Paket"],
        capture_output=True,
        check=False,
    )

    assert done.returncode in (0, 3, 4)
    assert json.loads(done.stdout.decode("utf-8"))["verdict"]


def test_colours_and_rules_only_in_a_terminal(shop: str) -> None:
    """In a terminal the table has rules and the verdict its colour."""
    _, shown = in_a_terminal("match", "-i", shop, "where is the order of mine")

    assert b"\x1b[32m" in shown
    assert "─".encode() in shown


def test_match_shows_what_was_found_and_what_is_missing(booking: str) -> None:
    """Each slot with its value, the words it comes from where they differ, and the question."""
    found = run("match", "-i", booking, "-l", "en", "book a table for 2 in MÜNCHEN ab1234")
    missing = run("match", "-i", booking, "einen Tisch für zwei buchen")

    assert found.exit_code == missing.exit_code == 0
    assert "  guests: 2  “2”\n  city: Munich  “MÜNCHEN”\n  code: ab1234\n" in found.stdout
    assert "  guests: 2  “zwei”\n  city: missing  “In welcher Stadt?”\n" in missing.stdout


def test_match_as_json_has_entities(booking: str) -> None:
    """With their places."""
    answer = json.loads(run("match", "-i", booking, "--json", "book a table in Roma").stdout)

    assert answer["entities"] == [{"slot": "city", "value": "Rome", "text": "Roma", "start": 16, "end": 20}]
    assert answer["missing"] == []


def test_match_explains_the_slots(booking: str) -> None:
    """In a sentence and in the line of their stage."""
    done = run("match", "-i", booking, "--why", "book a table and bring my dog")

    assert "Found: wish=bring my dog.\nMissing: city." in done.stdout
    assert re.search(r"slots +\d+ µs  found wish=bring my dog; missing city", done.stdout)


def test_chat_asks_for_what_is_missing(booking: str) -> None:
    """As a bot would, instead of its response; the next line is the answer."""
    done = run("chat", booking, stdin="book a table for 3\nRoma\nbook a table in Rome\n/quit\n")

    assert "bot> In which city?" in done.stdout
    assert "     city: missing  “In which city?”" in done.stdout
    assert done.stdout.count("bot> Booked.\n") == 2
    assert "     guests: 3  “3”\n     city: Rome  “Roma”\n" in done.stdout


def test_chat_keeps_no_answer_in_the_inbox(booking: str, tmp_path: Path) -> None:
    """What answers a question was understood, whatever it would mean on its own."""
    inbox = tmp_path / "inbox.sqlite"
    said = "book a table\nRoma\nquantum chromodynamics\n/quit\n"
    assert run("chat", booking, "--set", f"inbox={inbox}", stdin=said).exit_code == 0

    assert [message.text for message in Inbox(inbox).messages()] == ["quantum chromodynamics"]


def test_a_built_file_finds_what_the_yaml_did(booking: str, tmp_path: Path) -> None:
    """Slots, and the words around them, are part of it."""
    built = str(tmp_path / "booking.intentmatch")
    assert run("build", booking, "-o", built).exit_code == 0

    for message in ("book a table for three in Munchen", "book a table and bring my dog", "einen Tisch in Roma buchen"):
        fresh, kept = (json.loads(run("match", "-i", where, "--json", message).stdout) for where in (booking, built))
        assert fresh["entities"]
        assert (fresh["entities"], fresh["missing"]) == (kept["entities"], kept["missing"])
