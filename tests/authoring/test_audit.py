"""The audit log keeps every write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intentmatch.authoring.audit import AuditLog
from intentmatch.core.erasure import ERASED, Erasure
from intentmatch.core.errors import InputError


def test_entries_come_back_newest_first(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "deep" / "audit.jsonl")
    assert log.entries(5) == []
    for number in range(2000):
        log.note("anna", f"write “{number}” \udcff", "0" * 16, str(number))

    assert [entry.revision for entry in log.entries(3)] == ["1999", "1998", "1997"]
    assert len(log.entries(9999)) == 2000
    assert log.entries(1)[0].author == "anna"
    assert log.entries(1)[0].time.endswith("+00:00")


def test_lines_that_are_no_entries_are_left_out(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.note("anna", "write", "0", None)
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write("half of a li")

    assert [entry.what for entry in log.entries(5)] == ["write"]


@pytest.mark.parametrize(
    "change",
    [
        {"what": 5},
        {"author": None},
        {"revision": 7},
        {"digest": ["0"]},
        {"time": "yesterday"},
        {"time": 1.5},
        {"x": "y"},
    ],
)
def test_line_with_a_wrong_value_is_left_out_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, object]
) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.note("anna", "write", "0", None)
    line = json.loads((tmp_path / "audit.jsonl").read_text())
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write(json.dumps({**line, **change}) + "\n" + "[" * 100_000 + "\n5\n")

    for _ in range(2):
        assert [entry.what for entry in log.entries(5)] == ["write"]
    assert caplog.text.count("has a line that is no entry") == 1


def test_log_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.note("anna", "write", "0", None)

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match=r"audit\.jsonl cannot be read: Permission denied"):
        log.entries(5)


def test_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("in the way", encoding="utf-8")

    with pytest.raises(InputError, match="audit log"):
        AuditLog(tmp_path / "deep" / "audit.jsonl").prepare()


def test_words_of_users_are_erased_and_entries_stay(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.note("anna", "Inbox: ignore “call Bob Miller on monday”", "0", None)
    log.note("anna", "Add to order_status", "1", "2")
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write("half of a li\n")
    log.note("eve", "about bob-miller", "2", None)

    assert log.erase(Erasure(contains="bob miller")) == 2
    assert [(one.author, one.what, one.digest) for one in log.entries(5)] == [
        ("eve", f"about {ERASED}", "2"),
        ("anna", "Add to order_status", "1"),
        ("anna", f"Inbox: ignore “call {ERASED} on monday”", "0"),
    ]
    assert b"half of a li" in (tmp_path / "audit.jsonl").read_bytes()
    assert log.erase(Erasure(contains="bob miller")) == 0
    assert AuditLog(tmp_path / "none").erase(Erasure("hello")) == 0
