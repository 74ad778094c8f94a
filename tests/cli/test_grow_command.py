"""`intentmatch grow`: lines of a chat model, accepted one by one or all at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from line_server import LineServer, line_server
from terminal import in_a_terminal

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox

YAML = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase]}
"""
GOOD, BETTER, BAD = "can you track my order", "please cancel the order of mine", "track {parcel}\x1b[2J"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LineServer]:
    with line_server(monkeypatch, {"status": [GOOD, BAD], "cancel": [BETTER]}) as running:
        yield running


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTENTMATCH_INTENTS", "shop.yaml")
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    file = tmp_path / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    return file


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["grow", "--quiet", *words], catch_exceptions=False)


def test_yes_writes_all_kept_lines_with_a_comment(shop: Path, server: LineServer) -> None:
    done = run("--model", server.model, "--yes")

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("3 lines proposed in 2 requests: 2 kept, 1 left out\n")
    assert "  status, en: paraphrase: “track {parcel} [2J”: it has several lines or control characters\n" in done.stdout
    text = shop.read_text(encoding="utf-8")
    assert f"- {GOOD}  # grown: paraphrase, tiny\n" in text
    assert f"- {BETTER}  # grown: paraphrase, tiny\n" in text
    assert "parcel}" not in text
    assert Matcher.load(shop, cache="off").match(GOOD).intent == "status"


def test_dry_run_shows_the_diff_and_the_effect(shop: Path, server: LineServer) -> None:
    done = run("--model", server.model, "--dry-run", "--intent", "cancel")

    assert done.exit_code == 0
    assert f"+    - {BETTER}  # grown: paraphrase, tiny\n" in done.stdout or f"- {BETTER}  # grown" in done.stdout
    assert "fixed, " in done.stdout
    assert [task["request"] for task in server.tasks] == ["cancel"]
    assert shop.read_text(encoding="utf-8") == YAML


def test_json_prints_every_proposal_and_writes_nothing(shop: Path, server: LineServer) -> None:
    rows = [json.loads(line) for line in run("--model", server.model, "--json").stdout.splitlines()]

    assert {row["text"]: row["kept"] for row in rows} == {GOOD: True, BAD: False, BETTER: True}
    assert shop.read_text(encoding="utf-8") == YAML


def test_lines_are_accepted_one_by_one(shop: Path, server: LineServer) -> None:
    code, shown = in_a_terminal("grow", "--quiet", "--model", server.model, typed=b"n\nmaybe\ny\n")

    assert code == 0, shown
    assert shown.count(b"Add this line?") == 3
    text = shop.read_text(encoding="utf-8")
    assert (GOOD in text, BETTER in text) == (False, True)


@pytest.mark.parametrize(("typed", "written"), [(b"stop\n", []), (b"all\n", [GOOD, BETTER])])
def test_all_and_stop_end_the_questions(shop: Path, server: LineServer, typed: bytes, written: list[str]) -> None:
    code, shown = in_a_terminal("grow", "--quiet", "--model", server.model, typed=typed)

    assert code == 0, shown
    assert [line for line in (GOOD, BETTER) if line in shop.read_text(encoding="utf-8")] == written


def test_nobody_to_ask_is_told_before_the_model_is_asked(shop: Path, server: LineServer) -> None:
    done = run("--model", server.model)

    assert done.exit_code == 2
    assert "add --yes, --dry-run or --json" in done.stderr
    assert server.asked == []


def test_model_of_the_reranker_is_the_default(shop: Path, server: LineServer) -> None:
    shop.write_text(YAML + f"settings: {{reranker: '{server.model}'}}\n", encoding="utf-8")

    assert run("--json", "--intent", "status").exit_code == 0
    # The filter and the comparison do not ask for second opinions, only for the lines and whose they are.
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--yes"], "there is no chat model to ask: add --model chat:https"),
        (["--yes", "--model", "gpt"], "'gpt' is no chat model: write chat:"),
        (["--yes", "--model", "MODEL", "--intent", "statis"], "Did you mean 'status'?"),
        (["--yes", "--model", "MODEL", "--lang", "german"], "german"),
        (["--yes", "--model", "MODEL", "--kind", "paraphrase", "--lang", "de"], "add --kind translate"),
        (["--yes", "--model", "MODEL", "--inbox", "x.sqlite"], "--inbox needs --kind inbox"),
        (["--yes", "--model", "MODEL", "--kind", "inbox"], "there is no inbox to open"),
    ],
)
def test_wrong_options_are_told(shop: Path, server: LineServer, words: list[str], message: str) -> None:
    done = run(*[server.model if word == "MODEL" else word for word in words])

    assert done.exit_code == 2
    assert message in done.stderr
    assert server.asked == []


def test_model_that_is_away_is_an_error(shop: Path, server: LineServer) -> None:
    server.script = [(503, {}, b"")] * 2

    done = run("--model", server.model, "--yes")

    assert done.exit_code == 5
    assert "status 503" in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_half_an_answer_is_used_and_the_rest_told(shop: Path, server: LineServer) -> None:
    server.script = [(503, {}, b"")]

    done = run("--model", server.model, "--yes")

    assert done.exit_code == 0
    assert "  status, en: paraphrase: the chat model at http" in done.stderr
    assert BETTER in shop.read_text(encoding="utf-8")


def test_requests_are_limited(shop: Path, server: LineServer) -> None:
    done = run("--model", server.model, "--dry-run", "--requests", "1")

    assert "1 more request would be possible: see --requests" in done.stdout
    assert len(server.asked) == 1


def test_translations_are_written_under_their_language(shop: Path, server: LineServer) -> None:
    server.lines = {"cancel": ["ich möchte meine Bestellung stornieren", "cancel my whole order"]}

    run("--model", server.model, "--kind", "translate", "--lang", "de", "--intent", "cancel", "--yes")

    registry = Matcher.load(shop, cache="off").registry
    added = [(line.text, line.language) for line in registry["cancel"].utterances[3:]]
    assert server.tasks[0]["language"] == "de"
    assert added in ([], [("ich möchte meine Bestellung stornieren", "de")])


def test_messages_of_the_inbox_are_sent_only_when_asked_for(shop: Path, server: LineServer) -> None:
    inbox = Inbox("misses.sqlite", mode="plain")
    matcher = Matcher.load("shop.yaml", cache="off")
    for _ in range(2):
        inbox.correct("kill the thing I bought, mail anna@example.com", "cancel", "en")
    inbox.record(matcher.match("quantum chromodynamics"))
    assert inbox.flush()

    run("--model", server.model, "--json")
    assert all("kill" not in json.dumps(task) for task in server.tasks)
    server.asked.clear()
    run("--model", server.model, "--json", "--kind", "inbox", "--inbox", "misses.sqlite")

    assert [task["lines"] for task in server.tasks] == [["kill the thing I bought, mail ‹email›"]]
