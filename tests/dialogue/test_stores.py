"""Stores of open questions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from intentmatch import MemoryStore, Store


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_memory_store_satisfies_the_protocol():
    assert isinstance(MemoryStore(), Store)


def test_pop_returns_the_latest_text_once():
    store = MemoryStore()
    store.put("anna", "one", 10)
    store.put("anna", "two", 10)

    assert store.pop("anna") == "two"
    assert store.pop("anna") is None
    assert store.pop("bert") is None


def test_text_expires(clock):
    store = MemoryStore(clock=clock)
    for name in ("anna", "bert", "carl"):
        store.put(name, "kept", 10)
    clock.now = 5
    store.put("carl", "anew", 10)
    clock.now = 9.9
    assert store.pop("anna") == "kept"
    clock.now = 10
    assert store.pop("bert") is None
    assert store.pop("carl") == "anew"


def test_oldest_conversations_are_evicted():
    store = MemoryStore(2)
    store.put("anna", "a", 10)
    store.put("bert", "b", 10)
    store.put("anna", "a", 10)
    store.put("carl", "c", 10)

    assert [store.pop(name) for name in ("anna", "bert", "carl")] == ["a", None, "c"]


def test_only_one_thread_gets_a_text():
    store = MemoryStore()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            store.put("anna", "a", 10)
            assert sorted(pool.map(lambda _: store.pop("anna") or "", range(8))) == [""] * 7 + ["a"]
