"""The file that workers share: one candidate, its counts, and samples of each kind."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.server.candidates.file_store import FileCandidateStore
from intentmatch.server.candidates.records import (
    SAMPLES_OF_A_KIND,
    CandidateRecord,
    CandidateSource,
    CandidateStore,
    Sample,
)
from intentmatch.server.candidates.rollback import RollbackRule

RECORD = CandidateRecord(
    "a", CandidateSource("revision", "2"), "print", "canary", 0.1, RollbackRule(asked=None), "anna", "", 5.0
)


@pytest.fixture
def store(tmp_path: Path) -> FileCandidateStore:
    return FileCandidateStore(tmp_path / "history" / "candidate.sqlite")


@pytest.fixture
def other(store: FileCandidateStore) -> CandidateStore:
    """The store of another worker."""
    return FileCandidateStore(store.path)


def sample(kind: str = "failed", at: float = 10.0) -> Sample:
    answer = {"verdict": "matched", "intent": "greet", "rivals": [], "confidence": 0.9}
    return Sample(kind, "hello", "en", answer, None, at)  # type: ignore[arg-type]


def test_nothing_is_there_at_first(store: CandidateStore) -> None:
    assert (store.read(), store.counts("p"), store.samples("p", 0.0)) == (None, {}, [])
    assert store.end("a", "promoted", "", 1.0, "p") is False
    assert store.add("a", "p", {"same": 1}, [], 0.0) is False
    store.clear()
    assert store.read() is None


def test_other_workers_read_what_one_writes(store: CandidateStore, other: CandidateStore) -> None:
    store.begin(RECORD)
    assert other.read() == RECORD
    assert store.add("a", "p", {"same": 2, "failed": 1}, [sample()], 0.0)
    assert other.add("a", "p", {"same": 3}, [], 0.0)
    assert other.counts("p") == {"same": 5, "failed": 1}
    assert store.counts("another registry") == {}
    assert store.samples("p", 0.0) == [sample()]
    store.begin(replace(RECORD, mode="shadow", share=0.0))
    assert other.read() == replace(RECORD, mode="shadow", share=0.0)


def test_only_the_owner_reads_the_file(store: FileCandidateStore) -> None:
    store.begin(RECORD)

    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600 or os.name == "nt"


def test_only_the_running_candidate_counts_and_ends_once(store: CandidateStore) -> None:
    store.begin(RECORD)

    assert store.add("b", "p", {"same": 1}, [], 0.0) is False
    assert store.end("b", "promoted", "", 1.0, "p") is False
    assert store.end("a", "rolled_back", "asked too much", 9.0, "p")
    assert store.end("a", "promoted", "", 9.5, "q") is False
    assert store.add("a", "p", {"same": 1}, [], 0.0) is False
    assert store.read() == replace(RECORD, state="rolled_back", reason="asked too much", ended=9.0, beside="p")


def test_the_same_candidate_goes_on_and_another_begins_anew(store: CandidateStore) -> None:
    store.begin(RECORD)
    store.add("a", "p", {"same": 1}, [sample()], 0.0)

    store.begin(replace(RECORD, share=0.5))
    assert (store.counts("p"), len(store.samples("p", 0.0))) == ({"same": 1}, 1)
    store.begin(replace(RECORD, id="b"))
    assert (store.counts("p"), store.samples("p", 0.0)) == ({}, [])
    store.clear()
    assert store.read() is None


def test_samples_are_few_and_young(store: CandidateStore) -> None:
    store.begin(RECORD)
    for start in range(0, 100, 10):
        more = [sample(at=float(start + number)) for number in range(10)]
        store.add("a", "p", {}, [*more, sample("other_intent", 50.0)], 0.0)

    found = store.samples("p", 0.0)
    assert [one.kind for one in found].count("failed") == SAMPLES_OF_A_KIND
    assert [one.kind for one in found].count("other_intent") == 10
    assert [one.time for one in found] == sorted((one.time for one in found), reverse=True)
    assert {one.time >= 50.0 for one in store.samples("p", 50.0)} == {True}
    store.add("a", "p", {}, [], 60.0)
    assert {one.time >= 60.0 for one in store.samples("p", 0.0)} == {True}


def test_samples_from_far_ahead_of_the_clock_are_removed(store: CandidateStore) -> None:
    now, year = time.time(), 365 * 86_400.0
    store.begin(RECORD)
    store.add("a", "p", {}, [sample(at=now), sample(at=now + year), sample(at=now + 3 * year)], now - 2 * year)

    assert [one.time for one in store.samples("p", 0.0)] == [now + year, now]


def test_a_damaged_file_is_reported(store: FileCandidateStore) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(b"no database" * 100)

    with pytest.raises(InputError, match=r"candidate\.sqlite cannot be used"):
        store.read()
    with pytest.raises(InputError, match=r"candidate\.sqlite cannot be used"):
        store.begin(RECORD)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file")

    with pytest.raises(InputError, match="cannot be written"):
        FileCandidateStore(tmp_path / "history" / "candidate.sqlite").begin(RECORD)


def test_samples_with_a_message_are_erased(store: CandidateStore) -> None:
    store.begin(RECORD)
    store.add("a", "p", {"failed": 2}, [sample()._replace(text="my name is Bob Miller"), sample()], 0.0)

    assert store.erase(Erasure(contains="bob miller")) == 1
    assert [one.text for one in store.samples("p", 0.0)] == ["hello"]
    assert store.counts("p") == {"failed": 2}
    if isinstance(store, FileCandidateStore):
        assert b"Miller" not in store.path.read_bytes()


def test_samples_of_messages_from_before_an_erasure_are_not_added(store: CandidateStore, other: CandidateStore) -> None:
    """Another worker compares and writes them later."""
    store.begin(RECORD)
    store.add("a", "p", {"failed": 1}, [], 0.0)
    said = sample(at=time.time())._replace(text="my name is Bob Miller")
    store.erase(Erasure(contains="bob miller"))
    after = sample(at=time.time())

    assert other.add("a", "p", {"failed": 2}, [said, after], 0.0)
    assert store.samples("p", 0.0) == [after]
    assert store.counts("p") == {"failed": 3}


@pytest.mark.parametrize(
    "text",
    [
        *("[", "{}", "[1, 2]", "[" * 100_000),
        RECORD.to_json().replace('"share": 0.1', '"share": "all"'),
        RECORD.to_json().replace('"share": 0.1', '"share": NaN'),
        RECORD.to_json().replace('"started": 5.0', '"started": 1e400'),
    ],
)
def test_record_that_no_server_writes_is_refused(text: str) -> None:
    """Tenants of a database write such records by SQL."""
    with pytest.raises((ValueError, TypeError, KeyError, OverflowError)):
        CandidateRecord.from_json(text)


def test_nothing_to_erase_without_a_file(tmp_path: Path) -> None:
    assert FileCandidateStore(tmp_path / "none.sqlite").erase(Erasure("hello")) == 0
