"""An inbox in a file and one in a database, and a clock that stands still."""

from __future__ import annotations

import time

import pytest


@pytest.fixture(params=["file", "database"])
def place(request, tmp_path):
    """Where the inbox is."""
    if request.param == "file":
        return tmp_path / "inbox.sqlite"
    address = request.getfixturevalue("postgres_address")  # or skips
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    RegistryStore(Database(address)).write({"a.yaml": b"a"}, author=None, note="", expected=None)
    return address


@pytest.fixture
def clock(monkeypatch):
    now = [1_700_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now
