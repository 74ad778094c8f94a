"""The daily check for drift: once a day for all processes, told in the log, to a webhook and by the metrics."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from embeddings_server import HANG_UP, FakeServer, serving

from intentmatch import Matcher
from intentmatch.inbox import Inbox
from intentmatch.server.bots import daily_drift
from intentmatch.server.bots.daily_drift import DailyDrift, last_due

NOON = datetime(2026, 3, 29, 12, tzinfo=timezone.utc)
SAMPLE = {"share": 1, "messages": 5000}
TEXT = """\
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase]}
"""


class Bot:
    """A matcher with an inbox, and a clock."""

    def __init__(self, folder, monkeypatch, mode: str = "redacted", **settings) -> None:
        (folder / "a.yaml").write_text(TEXT, encoding="utf-8")
        given = {"inbox": str(folder / "inbox.sqlite"), "inbox_mode": mode, "inbox_sample": SAMPLE, "cache": "off"}
        self.matcher = Matcher.load(folder / "a.yaml", **{"drift": "06:30", **given, **settings})
        self.now = NOON
        monkeypatch.setattr(time, "time", self.clock)

    def clock(self) -> float:
        return self.now.timestamp()

    def check(self, name: str | None = None) -> DailyDrift:
        inbox = Inbox.from_settings(self.matcher.settings)
        return DailyDrift(lambda: self.matcher, lambda: inbox, name)

    def hear(self, days_ago: float, **texts: int) -> None:
        """Answer messages at a time before the check of NOON, which was due at 6:30."""
        inbox = Inbox.from_settings(self.matcher.settings)
        now, self.now = self.now, NOON.replace(hour=6, minute=30) - timedelta(days=days_ago)
        for intent, count in texts.items():
            result = self.matcher.match({"status": "where is my order", "cancel": "cancel my order"}[intent])
            for _ in range(count):
                inbox.record(result)
        assert inbox.flush()
        self.now = now


@pytest.fixture
def bot(tmp_path, monkeypatch) -> Bot:
    bot = Bot(tmp_path, monkeypatch)
    bot.hear(5, status=190, cancel=10)
    bot.hear(0.5, status=40, cancel=10)
    bot.hear(-0.1, status=1000)  # after the check was due
    return bot


def test_check_compares_the_day_before_it_was_due(bot):
    check = bot.check()
    found = check.look()

    assert (found.now, found.before) == (50, 200)
    assert "cancel is asked 4.0 times as often" in found.findings[0].text
    assert check.last["checked"] == NOON.replace(hour=6, minute=30).timestamp()
    assert check.last["messages"] == 50


def test_one_of_several_processes_checks_and_all_know(bot):
    one, two = bot.check(), bot.check()

    assert one.look() is not None
    assert two.look() is None
    assert one.look() is None
    assert one.last == two.last
    assert one.last["messages"] == 50

    bot.now += timedelta(days=1)
    assert two.look().now == 1000
    assert one.look() is None
    assert one.last == two.last


def test_check_begins_again_if_words_are_erased_meanwhile(bot, monkeypatch):
    """What it has read has the words, and would bring them back."""
    inbox, find, found = Inbox.from_settings(bot.matcher.settings), daily_drift.find_drift, []

    def find_and_erase(*arguments, **options):
        found.append(find(*arguments, **options))
        if len(found) == 1:
            inbox.erase("cancel my order")
            bot.now += timedelta(seconds=1)
        return found[-1]

    monkeypatch.setattr(daily_drift, "find_drift", find_and_erase)
    check = bot.check()
    check.look()

    assert [one.now for one in found] == [50, 40]
    assert "cancel my order" not in str(check.last)


@pytest.mark.parametrize("settings", [{"inbox": "off"}, {"inbox_sample": {"share": 0, "messages": 10}}])
def test_without_a_sample_of_answers_there_is_one_warning(tmp_path, monkeypatch, caplog, settings):
    check = Bot(tmp_path, monkeypatch, **settings).check("shop")
    monkeypatch.setattr(daily_drift, "SECONDS_BETWEEN_LOOKS", 0.001)
    looks: list[int] = []
    monkeypatch.setattr(daily_drift.DailyDrift, "look", lambda self, look=check.look: looks.append(1) or look())

    follow(check, lambda: len(looks) > 3)

    (warning,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warning.startswith("the check of shop for drift failed: no answers are kept to compare: set inbox")


@pytest.mark.parametrize("settings", [{"drift": "off"}, {"inbox": "not-there.sqlite"}])
def test_nothing_is_checked_without_a_time_or_messages(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    check = Bot(tmp_path, monkeypatch, **settings).check()

    assert check.look() is None
    assert check.last is None


def test_hashed_answers_are_compared_without_their_words(tmp_path, monkeypatch):
    bot = Bot(tmp_path, monkeypatch, "hashed")
    bot.hear(5, status=190, cancel=10)
    bot.hear(0.5, status=40, cancel=10)
    found = bot.check().look()

    assert {finding.kind for finding in found.findings} >= {"intent"}
    assert not {finding.kind for finding in found.findings} & {"word", "rare"}
    assert all(not any(finding.examples) for finding in found.findings)


@pytest.fixture
def webhook(monkeypatch) -> Iterator[FakeServer]:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(daily_drift, "SECONDS_BEFORE_RETRIES", (0.0, 0.0))
    monkeypatch.setattr(daily_drift, "SECONDS_BETWEEN_LOOKS", 0.005)
    with serving(FakeServer()) as running:
        yield running


def follow(check: DailyDrift, until) -> None:
    """Run the check in the background until a condition holds."""

    async def run() -> None:
        task = asyncio.create_task(check.follow())
        while not until():
            assert not task.done()
            await asyncio.sleep(0.005)
        task.cancel()

    asyncio.run(asyncio.wait_for(run(), 60))


def test_webhook_is_told_again_if_it_does_not_answer(bot, webhook, caplog):
    caplog.set_level(logging.INFO)
    webhook.script = [(500, {}, b""), HANG_UP, (204, {}, b"")]
    bot.matcher = Matcher.load(bot.matcher.path, **_like(bot), drift_webhook=f"http://{webhook.host}/hook")
    follow(bot.check("shop"), lambda: len(webhook.asked) == 3)

    assert webhook.asked[0] == webhook.asked[2]
    assert webhook.asked[2]["bot"] == "shop"
    assert "cancel is asked 4.0 times as often" in webhook.asked[2]["text"]
    assert any(message.startswith("shop: drift: cancel is asked") for message in caplog.messages)


def test_webhook_that_never_answers_is_one_warning(bot, webhook, caplog):
    webhook.script = [(500, {}, b"")] * 9
    bot.matcher = Matcher.load(bot.matcher.path, **_like(bot), drift_webhook=f"http://{webhook.host}/hook")
    check = bot.check()
    follow(check, lambda: any("failed" in message for message in caplog.messages))

    assert len(webhook.asked) == 3
    assert check.last["findings"]


def test_damaged_inbox_is_one_warning_and_the_next_check_comes(bot, monkeypatch, caplog):
    monkeypatch.setattr(daily_drift, "SECONDS_BETWEEN_LOOKS", 0.005)
    file = bot.matcher.path.with_name("inbox.sqlite")
    whole = file.read_bytes()
    file.write_bytes(b"nonsense" * 1000)
    check = bot.check()
    follow(check, lambda: any("failed" in message for message in caplog.messages))
    assert check.last is None
    file.write_bytes(whole)
    follow(check, lambda: check.last is not None)

    assert sum("failed" in message for message in caplog.messages) == 1


def _like(bot: Bot) -> dict[str, object]:
    names = ("inbox", "inbox_sample", "drift", "cache")
    return {name: getattr(bot.matcher.settings, name) for name in names}


@pytest.mark.parametrize(
    ("now", "due"),
    [
        ("2026-03-01T06:30", "2026-03-01T06:30"),
        ("2026-03-01T06:29", "2026-02-28T06:30"),
        ("2026-03-01T23:59", "2026-03-01T06:30"),
    ],
)
def test_last_due(now, due):
    assert last_due("06:30", datetime.fromisoformat(f"{now}+00:00")) == datetime.fromisoformat(f"{due}+00:00")
