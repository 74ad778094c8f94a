"""Responses in turn: never the same one twice in a row, in an order that a seed chooses."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from fakes import WordHashEncoder
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Dialogue, Intent, Matcher, MemoryStore, Registry, Utterance
from intentmatch.dialogue.variants import Variants

TEXTS = ["Hi", "Hello", "Hey", "Good day"]


def said(
    variants: Variants, times: int, conversation: str = "anna", intent: str = "greet", count: int = 4
) -> list[str]:
    return [variants.choose(conversation, intent, TEXTS[:count]) for _ in range(times)]


@given(seed=st.integers(), conversation=st.text(), count=st.integers(2, 4))
def test_no_response_is_given_twice_in_a_row_and_all_equally_often(seed, conversation, count):
    found = said(Variants(MemoryStore(), seed), 3 * count, conversation, count=count)

    assert all(first != second for first, second in itertools.pairwise(found))
    assert set(Counter(found).values()) == {3}


def test_order_follows_from_the_seed():
    orders = {seed: tuple(said(Variants(MemoryStore(), seed), 8)) for seed in range(20)}

    assert len(set(orders.values())) > 5
    assert orders == {seed: tuple(said(Variants(MemoryStore(), seed), 8)) for seed in range(20)}
    assert orders[0][:4] == ("Hi", "Hey", "Hello", "Good day")  # the same on every machine


def test_conversations_and_intents_have_orders_of_their_own():
    variants = Variants(MemoryStore(), 0)

    assert len({tuple(said(variants, 4, f"user {number}")) for number in range(20)}) > 5
    assert len({tuple(said(variants, 4, "anna", f"intent {number}")) for number in range(20)}) > 5


def test_two_dialogues_with_one_store_go_on_together():
    """As several processes of a server do."""
    store = MemoryStore()

    found = [Variants(store, 0).choose("anna", "greet", TEXTS) for _ in range(8)]

    assert sorted(found[:4]) == sorted(TEXTS)
    assert found[:4] == found[4:]


def test_other_intents_in_between_do_not_change_the_order():
    variants = Variants(MemoryStore(), 0)
    first = variants.choose("anna", "greet", TEXTS)
    for number in range(30):
        variants.choose("anna", f"other {number}", TEXTS)

    assert variants.choose("anna", "greet", TEXTS) != first


class BrokenStore:
    def put(self, conversation: str, text: str, seconds: float) -> None:
        raise OSError

    def pop(self, conversation: str) -> str | None:
        raise OSError


class OddStore:
    def put(self, conversation: str, text: str, seconds: float) -> None:
        pass

    def pop(self, conversation: str) -> str | None:
        return '["not", "ours"]'


@pytest.mark.parametrize("store", [BrokenStore(), OddStore()])
def test_store_that_fails_gives_the_first_of_the_order(store, caplog):
    assert len(set(said(Variants(store, 0), 3))) == 1
    assert "which responses were given" in caplog.text


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    greet = Intent(
        "greet",
        (Utterance("hello there", "en"), Utterance("good morning", "en")),
        responses={"en": "Hi!"},
        more_responses={"en": ("Hello!", "Hey!")},
    )
    other = Intent("leave", (Utterance("see you later", "en"), Utterance("goodbye", "en")), responses={"en": "Bye!"})
    return Matcher.load(Registry((greet, other)), encoder=WordHashEncoder(), threshold=0.4, cache="off")


def test_dialogue_gives_the_responses_in_turn(matcher):
    bot = Dialogue(matcher)

    replies = [bot.take("hello there", "anna").reply for _ in range(6)]

    assert sorted(replies[:3]) == ["Hello!", "Hey!", "Hi!"]
    assert replies[:3] == replies[3:]
    assert [bot.take("goodbye", "anna").reply for _ in range(2)] == ["Bye!", "Bye!"]


def test_dialogue_takes_a_seed(matcher):
    orders = {
        tuple(Dialogue(matcher, seed=seed).take("hello there", f"user {number}").reply for number in range(6))
        for seed in range(5)
    }

    assert len(orders) > 1


def test_open_question_and_responses_share_a_store_without_harm(matcher):
    store = MemoryStore()
    bot = Dialogue(matcher, store=store)

    first = bot.take("hello there", "anna").reply
    bot.forget("anna")

    assert bot.take("hello there", "anna").reply != first
