"""The audit log keeps every write."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.authoring.audit import AuditLog
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


def test_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("in the way", encoding="utf-8")

    with pytest.raises(InputError, match="audit log"):
        AuditLog(tmp_path / "deep" / "audit.jsonl").prepare()
