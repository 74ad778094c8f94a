"""The rule for lines that several intents share."""

from __future__ import annotations

import pytest

from intentmatch.core.shared_lines import SharedLines, may_share, never_together, rank
from intentmatch.core.types import Case, Intent, Registry, Utterance


def intent(name: str, *lines: str, when: str = "") -> Intent:
    return Intent(name, tuple(map(Utterance, lines)), when=tuple(when.split()))


ORDER = intent("order_yes", "Yes!", "do it", "of course", when="ordering")
CLOSE = intent("close_yes", "go ahead", "yes", "yes.", when="closing leaving")
TALK = intent("talk_yes", "quite so", "yes", "of course")
OTHER = intent("other", "hello", "good morning")
REGISTRY = Registry((ORDER, CLOSE, TALK, OTHER))
YES = {0, 4, 5, 7}


@pytest.mark.parametrize(
    ("one", "other", "share", "never"),
    [
        ("", "", False, False),
        ("a", "", True, False),
        ("a", "b", True, True),
        ("a", "a", False, False),
        ("a b", "b c", False, False),
        ("a b", "c d", True, True),
    ],
)
def test_intents_may_share_lines_if_a_tag_tells_them_apart(one, other, share, never):
    pair = intent("one", "x", when=one), intent("other", "x", when=other)

    assert [may_share(*pair), may_share(*pair[::-1])] == [share, share]
    assert [never_together(*pair), never_together(*pair[::-1])] == [never, never]


def test_an_active_tag_goes_before_none_and_none_before_an_inactive_one():
    assert [rank(CLOSE, ["leaving"]), rank(TALK, ["leaving"]), rank(ORDER, ["leaving"])] == [0, 1, 2]


def test_lines_are_shared_if_they_read_the_same_but_not_within_one_intent():
    shared = SharedLines(REGISTRY)

    assert bool(shared)
    assert [set(rows) for rows in shared.groups] == [YES, {2, 8}]
    assert shared.sharers == {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    assert shared.apart == {**shared.sharers, 3: {0}}
    assert set(shared.pairs()) == {
        (0, 1), (0, 2), (4, 0), (4, 2), (5, 0), (5, 2), (7, 0), (7, 1), (2, 2), (8, 0),
    }  # fmt: skip


def test_a_line_that_an_intent_without_when_has_too_is_answered_elsewhere():
    assert SharedLines(REGISTRY).answered_elsewhere == {0, 2, 4, 5}


@pytest.mark.parametrize("intents", [(OTHER,), (ORDER, OTHER), (intent("twice", "yes", "yes"), OTHER), ()])
def test_a_registry_without_shared_lines_is_false(intents):
    shared = SharedLines(Registry(intents))

    assert (bool(shared), shared.groups, shared.sharers, shared.hidden(None, ["a"])) == (False, (), {}, frozenset())


@pytest.mark.parametrize(
    ("allowed", "active", "hidden"),
    [
        # The program says which intents may answer: those without `when`, and those with an active tag.
        ({2, 3}, [], set()),
        ({0, 2, 3}, ["ordering"], {7, 8}),
        ({1, 2, 3}, ["leaving"], {7}),
        ({0, 1, 2, 3}, ["ordering", "closing"], {7, 8}),
        # It names some intents itself: then tags may be inactive.
        ({0, 1}, [], set()),
        ({0, 2}, [], {0, 2}),
        ({0, 1}, ["closing"], {0}),
        (None, [], {0, 2, 4, 5}),
        (set(), ["ordering"], set()),
    ],
)
def test_lines_of_intents_that_go_later_are_hidden(allowed, active, hidden):
    assert SharedLines(REGISTRY).hidden(allowed, active) == hidden


def test_context_of_an_intent_leaves_out_the_tags_of_its_sharers():
    shared = SharedLines(Registry((*REGISTRY.intents, intent("elsewhere", "bye", when="other"))))

    assert shared.context_of("order_yes") == {"ordering", "other"}
    assert shared.context_of("close_yes") == {"closing", "leaving", "other"}
    assert shared.context_of("talk_yes") == {"other"}
    # Of intents that share a line, only the first by its tag may answer beside them.
    assert shared.context_of("elsewhere") == shared.context_of("other") == {"closing", "leaving", "other"}


def test_intents_of_the_context_of_a_sharer_are_told_apart_too():
    """While one topic is open, neither the yes nor the no of the other may answer."""
    topics = [intent(f"{word}{n}", word, when=f"topic{n}") for n in (0, 1) for word in ("yes", "no")]
    shared = SharedLines(Registry((*topics, intent("talk", "yes"), OTHER)))

    assert shared.sharers == {0: {2, 4}, 1: {3}, 2: {0, 4}, 3: {1}, 4: {0, 2}}
    assert shared.apart == {0: {2, 3, 4}, 1: {2, 3}, 2: {0, 1, 4}, 3: {0, 1}, 4: {0, 1, 2, 3}, 5: {2, 3}}
    assert (shared.silent(4), shared.silent(5)) == ({0, 1, 2, 3}, {2, 3})


def test_context_of_a_test_keeps_the_tags_of_all_that_it_expects():
    shared = SharedLines(REGISTRY)

    assert shared.context_of(Case("yes", "order_yes")) == {"ordering"}
    assert shared.context_of(Case("yes", ("order_yes", "close_yes"))) == {"ordering", "closing", "leaving"}
    assert shared.context_of(Case("bye", None)) == shared.context_of(Case("hello", "other")) == {"closing", "leaving"}


def test_all_tags_are_active_without_shared_lines():
    shared = SharedLines(Registry((intent("a", "x", when="s t"), intent("b", "y", when="u"), intent("c", "z"))))

    assert {shared.context_of(name) for name in "abc"} == {frozenset({"s", "t", "u"})}
    assert shared.apart == {}


def test_a_tag_that_makes_two_sharers_answer_is_left_out():
    """The tag of another intent counts too."""
    several = intent("a", "yes", when="s"), intent("b", "yes", when="t"), intent("c", "hello", when="t u")
    shared = SharedLines(Registry(several))

    assert shared.context_of("a") == {"s", "u"}
    assert shared.context_of("b") == {"t", "u"}
    assert shared.context_of("c") == {"t", "u"}
