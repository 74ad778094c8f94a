"""Folds: each utterance once, each intent evenly, near-duplicates always together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from answers import LINES, NEGATIVES, follow_ups, registry_of
from fakes import WordHashEncoder
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import Intent, Registry, Utterance
from intentmatch.core.errors import InputError, Location
from intentmatch.evaluation.folds import (
    Split,
    intent_folds,
    near_duplicates,
    split,
    without,
    without_intents,
)
from intentmatch.text.normalize import fold

WORDS = ["order", "orders", "parcel", "where", "cancel", "my", "hello", "hours", "money", "back", "now"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
INTENTS = st.lists(st.lists(TEXTS, min_size=1, max_size=8), min_size=1, max_size=4)
FOLDS = st.one_of(st.integers(2, 6), st.just("loo"))


def cut(registry: Registry, folds: int | str, seed: int = 0) -> Split:
    encoder = WordHashEncoder()
    vectors = encoder.encode([u.text for u in registry.utterances])
    negatives = encoder.encode([u.text for u in registry.negatives])
    return split(registry, vectors, negatives, folds, seed)


@given(INTENTS, FOLDS, st.integers(0, 3))
def test_every_utterance_is_held_out_once_or_counted_as_not_asked(intents, folds, seed):
    registry = registry_of({f"i{n}": texts for n, texts in enumerate(intents)})

    found = cut(registry, folds, seed)

    held_out = [row for one in found.folds for row in one.utterances]
    assert sorted([*held_out, *found.not_asked]) == list(range(len(registry.utterances)))
    for one in found.folds:
        rest = without(registry, one)
        assert all(intent.utterances for intent in rest)
        assert len(rest.utterances) == len(registry.utterances) - len(one.utterances)


@given(INTENTS, FOLDS, st.integers(0, 3))
def test_near_duplicates_are_in_one_fold(intents, folds, seed):
    registry = registry_of({f"i{n}": texts for n, texts in enumerate(intents)})
    vectors = WordHashEncoder().encode([u.text for u in registry.utterances])

    for one in cut(registry, folds, seed).folds:
        for row in one.utterances:
            mates = [
                other
                for other, owner in enumerate(registry.owners)
                if owner == registry.owners[row] and other not in one.utterances
            ]
            assert all(float(vectors[row] @ vectors[other]) <= 0.97 for other in mates)
            assert fold(registry.utterances[row].text) not in {fold(registry.utterances[o].text) for o in mates}


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30), FOLDS, st.integers(0, 3))
def test_sentences_of_a_template_are_in_one_fold(lines, folds, seed):
    """Even without any similarity; at most three of them are evaluated."""
    template = {line: f"({line}|x)" if line < 5 else None for line in lines}
    utterances = tuple(
        Utterance(chr(0x4E00 + n) * 3, None, Location("a.yaml", line + 1), template[line])
        for n, line in enumerate(lines)
    )
    registry = Registry((Intent("a", utterances, utterances),))
    nothing = np.zeros((len(lines), 4), np.float32)

    found = split(registry, nothing, nothing, folds, seed)

    for one in found.folds:
        for rows in (one.utterances, one.negatives):
            rest = set(range(len(lines))) - rows
            assert not {registry.lines[row] for row in rows} & {registry.lines[row] for row in rest}
        asked = Counter(registry.lines[row] for row in one.asked)
        held_out = Counter(registry.lines[row] for row in one.utterances)
        assert asked == {line: min(count, 3) for line, count in held_out.items()}
        assert set(one.asked) <= one.utterances


def test_utterances_with_a_shared_label_are_in_one_fold():
    registry = registry_of({"a": [letter * 9 for letter in "abcdef"]})
    vectors = np.eye(6, dtype=np.float32)

    found = split(registry, vectors, vectors[:0], "loo", 0, ["x", "y", "x", 1, 2, 3], [0, 1, 2, 3, 4, 0])

    assert sorted(map(sorted, (one.utterances for one in found.folds))) == [[0, 2, 5], [1], [3], [4]]


def test_folds_are_stratified():
    """Each fold holds out the same share of each intent, give or take one group."""
    lines = {f"i{n}": [f"{a}{n} {b}" for a in ("alpha", "beta", "gamma", "delta") for b in "qrstu"] for n in range(4)}
    registry = registry_of({name: [fold(text[::-1]) for text in texts] for name, texts in lines.items()})
    vectors = np.eye(len(registry.utterances), dtype=np.float32)

    found = split(registry, vectors, np.empty((0, vectors.shape[1]), np.float32), 5, seed=1)

    assert len(found.folds) == 5
    sizes = [len(one.utterances) for one in found.folds]
    largest = max(len(group) for group in near_duplicates([u.text for u in registry.utterances], vectors))
    assert max(sizes) - min(sizes) <= 4 * largest


def test_languages_are_spread_over_the_folds():
    texts = [f"{letter * 9}" for letter in "abcdefgh"]
    registry = registry_of({"a": texts})
    utterances = tuple(type(u)(u.text, "de" if n % 2 else "en", u.location) for n, u in enumerate(registry.utterances))
    intent = type(registry.intents[0])("a", utterances)

    found = split(Registry((intent,)), np.eye(8, dtype=np.float32), np.empty((0, 8), np.float32), 4, seed=0)

    for one in found.folds:
        assert Counter(utterances[row].language for row in one.utterances) == {"de": 1, "en": 1}


def test_the_same_seed_gives_the_same_folds():
    registry = registry_of(LINES, NEGATIVES)

    assert cut(registry, 3, 1) == cut(registry, 3, 1)
    assert cut(registry, 3, 1) != cut(registry, 3, 2)


def test_intent_of_one_near_duplicate_group_is_not_held_out():
    registry = registry_of({"a": ["hello", "Hello!"], "b": ["good bye", "see you later"]})

    found = cut(registry, 2)

    assert found.not_asked == (0, 1)
    assert all(len(without(registry, one)["a"].utterances) == 2 for one in found.folds)


def test_negatives_are_held_out_with_their_near_duplicates():
    registry = registry_of(LINES, {"cancel": ["cancel my appointment", "cancel my appointment!", "end my contract"]})

    for folds in (2, "loo"):
        found = cut(registry, folds)
        rounds = [one.negatives for one in found.folds if one.negatives]
        assert sorted(row for negatives in rounds for row in negatives) == [0, 1, 2]
        assert {0, 1} in rounds
        assert len(without(registry, next(one for one in found.folds if 2 in one.negatives)).negatives) == 2


def test_loo_holds_out_one_group_at_a_time():
    registry = registry_of(LINES)

    sizes = Counter(len(one.utterances) for one in cut(registry, "loo").folds)

    assert sizes == {3: 1, 1: 14}


@pytest.mark.parametrize("folds", [1, 0, -3])
def test_fewer_than_two_folds_are_refused(folds):
    with pytest.raises(InputError, match="folds must be 2 or more"):
        cut(registry_of(LINES), folds)


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_near_duplicate_groups_are_a_partition_closed_under_similarity(texts):
    vectors = WordHashEncoder().encode(texts)

    groups = near_duplicates(texts, vectors)

    assert sorted(n for group in groups for n in group) == list(range(len(texts)))
    group_of = {n: number for number, group in enumerate(groups) for n in group}
    for one in range(len(texts)):
        for other in range(one):
            if fold(texts[one]) == fold(texts[other]) or vectors[one] @ vectors[other] > 0.971:
                assert group_of[one] == group_of[other]


def test_similar_texts_are_grouped_in_chains():
    """A is similar to B, and B to C: all three are one group."""
    turned = [[np.cos(a), np.sin(a)] for a in (0.0, 0.2, 0.4)]

    assert near_duplicates(["one", "two", "three"], np.array(turned, dtype=np.float32)) == [[0, 1, 2]]


@given(st.integers(1, 9), FOLDS, st.integers(0, 3))
def test_every_intent_is_held_out_once(count, folds, seed):
    """At least one intent always stays; a single intent is never held out."""
    registry = registry_of({f"i{n}": [f"text {n}"] for n in range(count)})

    rounds = intent_folds(registry, folds, seed)

    if count == 1:
        assert rounds == []
        return
    assert sorted(name for names in rounds for name in names) == sorted(intent.name for intent in registry)
    for names in rounds:
        rest = without_intents(registry, names)
        assert len(rest) == count - len(names) > 0
        assert not names & {intent.name for intent in rest}


def test_keeping_preserves_order_and_intents():
    registry = registry_of(LINES, NEGATIVES)

    some = registry.keeping({0, 2, 7}, frozenset({1}))

    assert [u.text for u in some.utterances] == ["where is my order", "where is my ordre", "cancel my order"]
    assert [u.text for u in some.negatives] == ["cancel my appointment"]
    assert [intent.name for intent in some] == list(LINES)


@pytest.mark.parametrize("folds", [2, 3, 5, "loo"])
def test_a_line_of_several_intents_is_held_out_of_all_of_them(folds):
    registry = follow_ups(3, talk=["yes", "certainly", "good point", "I agree with that"])

    found = cut(registry, folds)

    held_out = [row for one in found.folds for row in one.utterances]
    assert sorted([*held_out, *found.not_asked]) == list(range(len(registry.utterances)))
    for one in found.folds:
        assert all(intent.utterances for intent in without(registry, one))
        gone = {fold(registry.utterances[row].text) for row in one.utterances}
        assert gone.isdisjoint(fold(line.text) for line in without(registry, one).utterances)
    assert {registry.utterances[row].text for row in found.not_asked} == {"talk to a human"}


def test_lines_that_would_take_a_whole_intent_are_not_held_out():
    """The near-duplicates of one intent link lines that are all that another intent has."""
    registry = follow_ups(1, talk=["yes", "yes please"])
    registry = replace(
        registry,
        intents=(*registry.intents, Intent("late", (Utterance("yes now"), Utterance("yes")), when=("later",))),
    )

    for folds in (2, 5, "loo"):
        found = cut(registry, folds)
        held_out = [row for one in found.folds for row in one.utterances]
        assert sorted([*held_out, *found.not_asked]) == list(range(len(registry.utterances)))
        for one in found.folds:
            assert all(intent.utterances for intent in without(registry, one))


def test_a_line_that_one_intent_keeps_is_held_out_of_none():
    """An intent of one line can never be held out."""
    registry = follow_ups(2)
    registry = replace(registry, intents=(*registry.intents, Intent("alone", (Utterance("yes"),))))

    found = cut(registry, 3)

    assert [registry.utterances[row].text for row in found.not_asked].count("yes") == 3
