"""What operations for a bot that answers share."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from intentmatch.authoring.operations.served import logged_messages
from intentmatch.core.errors import DatabaseError, InputError
from intentmatch.core.types import Case
from intentmatch.inbox.store import Missed


class FakeInbox:
    def __init__(self, *messages: Missed, error: Exception | None = None) -> None:
        self._messages, self._error = list(messages), error

    def messages(self) -> list[Missed]:
        if self._error is not None:
            raise self._error
        return self._messages


def missed(text: str | None, language: str | None = None) -> Missed:
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    return Missed(1, text, language, "out_of_scope", (), None, 1, now, now, {})


def test_messages_are_those_whose_text_is_kept():
    inbox = FakeInbox(missed("where is it", "en"), missed(None))

    assert logged_messages(inbox) == [Case("where is it", None, "en")]


@pytest.mark.parametrize("error", [InputError("no such file"), DatabaseError("it is gone")])
def test_inbox_that_is_off_or_cannot_be_read_has_none(error: Exception):
    assert logged_messages(None) == logged_messages(FakeInbox(error=error)) == []
