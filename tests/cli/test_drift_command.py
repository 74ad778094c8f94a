"""`intentmatch drift`: the last day of a log against the weeks before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from embeddings_server import FakeServer, serving

from intentmatch.cli.commands import cli

YAML = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel]}
  order_cancel: {utterances: [cancel my order, call off my purchase]}
"""
NOW = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("INTENTMATCH_INTENTS", "shop.yaml")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    Path("shop.yaml").write_text(YAML, encoding="utf-8")


def write(last: Sequence[str], before: Sequence[str]) -> None:
    """A log whose messages of the weeks before are two days old."""
    times = [(NOW, text) for text in last] + [(NOW - timedelta(days=2), text) for text in before]
    lines = [json.dumps({"text": text, "time": time.isoformat()}) for time, text in times]
    Path("log.jsonl").write_text("\n".join([*lines, '{"text": "no time"}', "no JSON"]) + "\n", encoding="utf-8")


def drifted() -> None:
    write(["where is my order"] * 40 + ["cancel my order"] * 40, ["where is my order"] * 190 + ["cancel my order"] * 10)


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["drift", "log.jsonl", "--quiet", *words], catch_exceptions=False)


def test_change_is_told_with_messages(shop: None) -> None:
    drifted()
    done = run()

    assert done.exit_code == 1
    assert done.stdout.startswith("80 messages in the last day, 200 messages before\n")
    assert (
        "  order_cancel is asked 10.0 times as often (50.0% of the messages, 5.0% before), by messages such as "
        "“cancel my order”\n"
    ) in done.stdout


def test_no_change_is_told(shop: None) -> None:
    write(["where is my order", "cancel my order"] * 20, ["where is my order", "cancel my order"] * 100)
    done = run()

    assert done.exit_code == 0
    assert done.stdout.endswith("Nothing has changed more than by chance.\n")


def test_log_of_one_day_has_nothing_to_compare_with(shop: None) -> None:
    write(["where is my order"] * 3, [])
    done = run()

    assert done.exit_code == 0
    assert "There is nothing to compare with" in done.stdout


def test_json_and_metrics(shop: None) -> None:
    drifted()
    done = run("--json", "--metrics", "drift.prom")

    values = json.loads(done.stdout)
    assert (values["messages"], values["messages_before"]) == (80, 200)
    assert {"intent", "word"} <= {finding["kind"] for finding in values["findings"]}
    assert 'intentmatch_drift_findings{kind="intent"} 2\n' in Path("drift.prom").read_text(encoding="utf-8")


def test_webhook_is_called_only_if_something_changed(shop: None) -> None:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with serving(FakeServer()) as server:
        server.script = [(200, {}, b"ok")]
        drifted()
        assert run("--webhook", f"http://{server.host}/hook").exit_code == 1
        assert "order_cancel is asked 10.0 times as often" in server.asked[0]["text"]
        write(["where is my order"] * 3, ["where is my order"] * 9)
        assert run("--webhook", f"http://{server.host}/hook").exit_code == 0
        assert len(server.asked) == 1


def test_older_days_are_left_out(shop: None) -> None:
    drifted()

    assert "80 messages in the last day, 0 messages before" in run("--days", "1").stdout


def test_log_without_times_is_an_error(shop: None) -> None:
    Path("log.jsonl").write_text('{"text": "hello"}\n', encoding="utf-8")
    done = run()

    assert done.exit_code == 2
    assert "there are no messages with a time in log.jsonl" in done.stderr
