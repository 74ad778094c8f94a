"""Erasing what a person said, in a file and in a database; and what stays of a handled message."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from results import result

from intentmatch.core.errors import InputError
from intentmatch.inbox import Inbox
from intentmatch.review import questions_of

ANNA = "please write to Anna Schmidt about the refund"
OTHER = "do you ship to norway"


def kept(place: Any, **options: Any) -> Inbox:
    """Return an inbox with two messages, each in the sample too, and a correction of the first."""
    inbox = Inbox(place, sample=1.0, **options)
    for text in (ANNA, OTHER, ANNA):
        inbox.record(result(text))
    inbox.correct(ANNA, "refund")
    assert inbox.flush()
    return inbox


def found(text: str) -> dict[str, Any]:
    """What a check for drift has found."""
    return {"checked": 1.0, "messages": 1, "findings": [{"kind": "word", "text": text}]}


def texts(inbox: Inbox) -> tuple[list[str | None], list[str | None]]:
    return [message.text for message in inbox.messages()], [answer.text for answer in inbox.sampled()]


def held(place: Any) -> bytes:
    """Return every byte of a file and of what lies beside it; nothing for a database."""
    return b"".join(part.read_bytes() for part in place.parent.iterdir()) if isinstance(place, Path) else b""


@pytest.mark.parametrize("how", [{"text": ANNA.upper() + "!"}, {"contains": "anna SCHMIDT"}])
def test_message_is_erased_from_messages_and_sample(place: Any, how: dict[str, str]) -> None:
    inbox = kept(place)
    assert inbox.put_drift(found(f"asked by “{ANNA}”"), time.time())

    assert inbox.erase(**how) == 3
    assert texts(inbox) == ([OTHER], [OTHER])
    assert "Schmidt" not in str(inbox.drift())
    assert b"Schmidt" not in held(place)
    assert inbox.erase(**how) == 0


def test_erased_message_is_not_in_the_pages_of_a_file_with_many(tmp_path: Path) -> None:
    place = tmp_path / "kept" / "inbox.sqlite"
    inbox = Inbox(place, sample=1.0, mode="plain")
    for number in range(300):
        inbox.record(result(f"person {number} with a long story {'and more words ' * 20}"))
    inbox.flush()
    assert b"person 77 with" in held(place)

    assert inbox.erase(contains="person 77 with") == 2
    assert b"person 77 with" not in held(place)
    assert len(inbox.messages()) == 299


@contextmanager
def waiting(inbox: Inbox) -> Iterator[None]:
    """Let the thread that writes wait within the block, as a slow disk or database does."""
    go = threading.Event()
    inbox._writer.submit(go.wait)
    try:
        yield
    finally:
        go.set()


def test_messages_that_other_processes_have_not_written_do_not_come_back(place: Any) -> None:
    inbox, other = kept(place), Inbox(place, sample=1.0)
    with waiting(other):
        other.record(result(ANNA))
        other.correct(ANNA, "refund")
        assert inbox.erase(contains="schmidt") == 3
        other.record(result("said after it"))
    assert other.flush()

    assert texts(inbox) == ([OTHER, "said after it"], [OTHER, "said after it"])
    assert b"Schmidt" not in held(place)


def test_erasure_in_the_future_of_the_clock_keeps_no_message_away(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = kept(place)
    with monkeypatch.context() as ahead:
        later = time.time() + 86_400
        ahead.setattr(time, "time", lambda: later)
        inbox.erase(ANNA)
    inbox.record(result(ANNA))

    assert texts(inbox)[0] == [OTHER, ANNA]


def test_check_for_drift_that_read_erased_words_is_not_kept(place: Any) -> None:
    inbox, read = kept(place), time.time()
    inbox.erase(ANNA)

    assert not inbox.put_drift(found(f"asked by “{ANNA}”"), read)
    assert inbox.drift() is None
    assert inbox.put_drift(found("another word"), time.time())


def test_handled_message_is_erased_with_its_hash(place: Any) -> None:
    """Then it is a new message when it is said again."""
    inbox = kept(place)
    inbox.handle(inbox.messages(), "ignored")

    assert inbox.erase(ANNA) == 3
    inbox.record(result(ANNA))
    assert texts(inbox)[0] == [ANNA]


def test_hashed_inbox_erases_by_the_exact_message(place: Any) -> None:
    inbox = kept(place, mode="hashed")

    assert inbox.erase(contains="anna schmidt") == 0
    assert inbox.erase(ANNA) == 3
    assert len(inbox.messages()) == 1


def test_message_with_a_number_is_erased_by_the_text_that_was_sent(place: Any) -> None:
    inbox = Inbox(place)
    inbox.record(result("call Anna on 0171 1234567"))
    inbox.flush()

    assert inbox.erase("call Anna on 0171 1234567") == 1


def test_text_of_a_handled_message_leaves_the_sample(place: Any) -> None:
    """The answers stay for the numbers: a judgement counts on, and nobody is asked about the others."""
    inbox = kept(place)
    judged = next(answer.id for answer in inbox.sampled() if answer.text == ANNA)
    inbox.judge(judged, "meant", "refund")
    inbox.handle(inbox.messages(), "added")

    assert texts(inbox) == ([], [None, None, None])
    assert b"Schmidt" not in held(place)
    assert OTHER.encode() not in held(place)
    found = questions_of(inbox.sampled())
    assert (len(found.open), len(found.answered), found.hashed) == (0, 1, 1)


def test_erasing_without_words_or_without_an_inbox_is_refused(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "none.sqlite")
    with pytest.raises(InputError, match="one of"):
        inbox.erase()
    with pytest.raises(InputError, match="no inbox at"):
        inbox.erase(ANNA)
