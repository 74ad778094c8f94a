"""Fields that hold values until somebody reads their text."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

import pytest

from intentmatch.core.result import Stage, Trace
from intentmatch.core.when_read import made_when_read, when_read

WRITTEN: list[int] = []


def write(number: int) -> str:
    WRITTEN.append(number)
    return f"number {number}"


@pytest.fixture(autouse=True)
def written() -> list[int]:
    WRITTEN.clear()
    return WRITTEN


@made_when_read("text")
@dataclass(frozen=True, slots=True)
class Note:
    name: str
    text: str


def test_text_is_written_at_the_first_read_and_kept(written: list[int]) -> None:
    note = Note("a", when_read(write, 7))

    assert (note.name, written) == ("a", [])
    assert (note.text, note.text, written) == ("number 7", "number 7", [7])


def test_ready_text_is_itself() -> None:
    assert Note("a", "ready").text == "ready"


def test_notes_are_equal_by_their_texts() -> None:
    assert Note("a", when_read(write, 7)) == Note("a", "number 7") != Note("a", "number 8")
    assert hash(Note("a", when_read(write, 7))) == hash(Note("a", "number 7"))
    assert repr(Note("a", when_read(write, 7))) == "Note(name='a', text='number 7')"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda note: pickle.loads(pickle.dumps(note))])
def test_copies_hold_the_text(copied) -> None:  # type: ignore[no-untyped-def]
    assert copied(Note("a", when_read(write, 7))) == Note("a", "number 7")


def test_replacing_a_text_does_not_write_the_old_one(written: list[int]) -> None:
    assert replace(Note("a", when_read(write, 7)), text="other").text == "other"
    assert written == []


def test_trace_is_written_when_it_is_read(written: list[int]) -> None:
    trace = Trace(when_read(lambda: (Stage("decide", when_read(write, 1)),)), "dense", None, "", when_read(write, 2))

    assert trace.decided_by == "dense"
    assert written == []
    assert [stage.name for stage in trace.stages] == ["decide"]
    assert written == []
    assert (trace.stages[0].says, trace.reason, written) == ("number 1", "number 2", [1, 2])
