"""Messages of a server's log: each text once, with its count and what was answered; other lines are skipped."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.evaluation.logs import read_log, read_times

SERVER = "intentmatch.server.messages"


def write(folder: Path, *lines: Any, name: str = "log.jsonl") -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder / name


def message(text: str, time: str = "2026-11-20T10:00:00.000+00:00", **more: Any) -> dict[str, Any]:
    return {"time": time, "logger": SERVER, "message": f"matched: {text}", "text": text, **more}


def test_each_text_is_counted_with_its_answers(tmp_path: Path) -> None:
    first = write(tmp_path, message("hi", verdict="matched", intent="greet"), message("bye", language="en"))
    second = write(tmp_path, message("hi", verdict="out_of_scope", intent=None), {"text": "hi"}, name="b.jsonl")

    log = read_log([first, second])

    hi, bye = log.messages
    assert (hi.case.text, hi.count, dict(hi.answers)) == ("hi", 3, {("matched", "greet"): 1, ("out_of_scope", None): 1})
    assert (bye.case.language, bye.count, dict(bye.answers)) == ("en", 1, {})
    assert (log.received, log.skipped) == (4, 0)
    assert hi.case.location is not None
    assert (hi.case.location.path, hi.case.location.line) == (str(first), 1)


def test_lines_that_are_no_messages_are_skipped(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        message("hi"),
        {"logger": "intentmatch", "message": "reloaded"},
        {"logger": "other", "text": "not of the server"},
        message("and tomorrow?", follow_up=True),
        {"text": 3},
        {"text": "  "},
        "INFO: plain text",
        "[" * 100_000,
        "[]",
        "",
    )

    log = read_log([file])

    assert [one.case.text for one in log.messages] == ["hi"]
    assert log.skipped == 8
    assert [place.line for place in log.broken] == [7, 8]


def test_old_lines_and_those_without_time_are_skipped(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        message("old", "2026-11-01T10:00:00+00:00"),
        message("new", "2026-11-20T10:00:00Z"),
        message("also new", "2026-11-20T10:00:00"),
        message("broken", "yesterday"),
        {"text": "timeless"},
    )

    log = read_log([file], datetime(2026, 11, 16, tzinfo=timezone.utc))

    assert ([one.case.text for one in log.messages], log.skipped) == (["new", "also new"], 3)


def test_log_without_messages_and_missing_files_are_errors(tmp_path: Path) -> None:
    file = write(tmp_path, {"logger": "intentmatch", "message": "reloaded"})

    with pytest.raises(IntentMatchError, match=r"there are no messages in .*log.jsonl: each needs"):
        read_log([file])
    with pytest.raises(IntentMatchError, match=r"no messages since 2030.*`text` and `time`"):
        read_log([write(tmp_path, message("hi"))], datetime(2030, 1, 1, tzinfo=timezone.utc))
    with pytest.raises(IntentMatchError):
        read_log([tmp_path / "nowhere.jsonl"])


def test_messages_of_one_bot_are_chosen(tmp_path: Path) -> None:
    """A log without names of bots is that of any one."""
    file = write(tmp_path, message("hi", bot="shop"), message("bye", bot="bank"), message("hello"))

    assert [one.case.text for one in read_log([file], bot="shop").messages] == ["hi", "hello"]
    assert [text for text, _ in read_times([file], bot="bank")] == ["bye", "hello"]
    for read in (read_log, read_times):
        with pytest.raises(InputError, match=r"several bots \(bank, shop\): name one of them with --bot"):
            read([file])
        with pytest.raises(InputError, match="no messages of the bot 'shp', but of bank, shop"):
            read([file], bot="shp")
    alone = write(tmp_path, message("hi", bot="shop"), message("hello"))
    assert read_log([alone]).received == 2


def test_messages_are_read_with_their_times_oldest_first(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {"text": "second", "time": "2026-11-02T10:00:00+02:00"},
        {"text": "first", "time": "2026-11-02T07:00:00"},
        {"text": "no time"},
        {"text": "no date", "time": "yesterday"},
    )

    found = read_times([file])

    assert [text for text, _ in found] == ["first", "second"]
    assert [time.hour for _, time in found] == [7, 10]
    assert found[0][1].tzinfo is timezone.utc


def test_log_without_times_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no messages with a time"):
        read_times([write(tmp_path, {"text": "hello"})])
