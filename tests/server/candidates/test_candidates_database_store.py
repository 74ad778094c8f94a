"""The store in a database keeps the same rules as the one in a file."""

from __future__ import annotations

import pytest
from server.candidates.test_file_store import (
    RECORD,
    sample,
    test_nothing_is_there_at_first,
    test_only_the_running_candidate_counts_and_ends_once,
    test_other_workers_read_what_one_writes,
    test_samples_are_few_and_young,
    test_samples_of_messages_from_before_an_erasure_are_not_added,
    test_samples_with_a_message_are_erased,
    test_the_same_candidate_goes_on_and_another_begins_anew,
)

from intentmatch.core.errors import DatabaseError
from intentmatch.server.candidates.records import CandidateStore

__all__ = [
    "test_nothing_is_there_at_first",
    "test_only_the_running_candidate_counts_and_ends_once",
    "test_other_workers_read_what_one_writes",
    "test_samples_are_few_and_young",
    "test_samples_of_messages_from_before_an_erasure_are_not_added",
    "test_samples_with_a_message_are_erased",
    "test_the_same_candidate_goes_on_and_another_begins_anew",
]


def store_of(address: str) -> CandidateStore:
    from intentmatch.server.candidates.database_store import DatabaseCandidateStore
    from intentmatch.storage.postgres.address import address_of

    return DatabaseCandidateStore(address_of(address))


@pytest.fixture
def store(postgres_address: str) -> CandidateStore:
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    RegistryStore(Database(postgres_address)).write({"a.yaml": b""}, author="ann", note="", expected="*")
    return store_of(postgres_address)


@pytest.fixture
def other(postgres_address: str, store: CandidateStore) -> CandidateStore:
    return store_of(postgres_address)


def test_zeros_in_a_message_are_replaced(store: CandidateStore) -> None:
    store.begin(RECORD)
    store.add("a", "p", {}, [sample()._replace(text="a\0b")], 0.0)

    assert store.samples("p", 0.0)[0].text == "a\ufffdb"


def test_a_damaged_record_is_reported(store: CandidateStore) -> None:
    store.begin(RECORD)
    with store._database.rows() as connection:  # type: ignore[attr-defined]
        connection.execute("UPDATE intentmatch.candidates SET record = '[]'")

    with pytest.raises(DatabaseError, match="cannot be read"):
        store.read()
