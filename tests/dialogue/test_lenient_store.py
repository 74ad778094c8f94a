"""A store that fails is logged, and nothing else happens."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import DatabaseError
from intentmatch.dialogue.lenient_store import LenientStore
from intentmatch.dialogue.stores import MemoryStore


class Broken:
    def put(self, conversation: str, text: str, seconds: float) -> None:
        raise ConnectionError("no route to the store")

    def pop(self, conversation: str) -> str | None:
        raise ConnectionError("no route to the store")


def test_values_are_read_once() -> None:
    store = LenientStore(MemoryStore(), "the number")
    store.put("anna", "7", 60.0)

    assert store.pop("ben", int) is None
    assert store.pop("anna", int) == 7
    assert store.pop("anna", int) is None


def test_store_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = LenientStore(Broken(), "the number")

    store.put("anna", "7", 60.0)

    assert store.pop("anna", int) is None
    assert "cannot keep the number in the store" in caplog.text
    assert "cannot read the number from the store" in caplog.text


def test_text_that_cannot_be_read_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = LenientStore(MemoryStore(), "the number")
    store.put("anna", "seven", 60.0)

    assert store.pop("anna", int) is None
    assert "cannot read the number" in caplog.text


def test_store_that_stays_away_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    broken = Broken()
    for _ in range(20):
        store = LenientStore(broken, "the number")  # each call makes one
        store.put("anna", "7", 60.0)
        store.pop("anna", int)

    assert [record.message for record in caplog.records] == [
        "cannot keep the number in the store: no route to the store",
        "cannot read the number from the store: no route to the store",
    ]


def test_lost_database_is_logged_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    class Away(Broken):
        def pop(self, conversation: str) -> str | None:
            raise DatabaseError("postgres://db/bots: connection refused")

    assert LenientStore(Away(), "the number").pop("anna", int) is None
    assert [(record.message, record.exc_info) for record in caplog.records] == [
        ("cannot read the number from the store: postgres://db/bots: connection refused", None)
    ]
