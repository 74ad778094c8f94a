"""Messages about what cannot be written: the reason, and what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from intentmatch.storage.unwritable import unwritable, with_advice


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EROFS, "Mount it for writing"),
        (errno.EACCES, "writable for this user"),
        (errno.EPERM, "writable for this user"),
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "quota"),
    ],
)
def test_usual_reasons_have_an_advice(number: int, advice: str) -> None:
    told = unwritable(Path("bot"), OSError(number, os.strerror(number), "bot/a.yaml"))

    assert told.startswith(f"bot cannot be written: {os.strerror(number)}. ")
    assert advice in told


@pytest.mark.parametrize(
    "error", [OSError(errno.ELOOP, "Too many links"), OSError("Too many links"), ValueError("Too many links")]
)
def test_other_reasons_are_told_alone(error: Exception) -> None:
    assert unwritable("the log a", error) == "the log a cannot be written: Too many links"


def test_database_that_sqlite_cannot_write_has_an_advice(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "no" / "such")
    assert with_advice(caught.value).startswith("unable to open database file. Make the file and its folder writable")

    (tmp_path / "a").touch()
    database = sqlite3.connect(f"file:{tmp_path / 'a'}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as caught:
        database.execute("CREATE TABLE t (a)")
    database.close()
    assert with_advice(caught.value).startswith(
        "attempt to write a readonly database. Make the file and its folder writable"
    )
