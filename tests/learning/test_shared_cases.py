"""Training and cross-validation of a registry whose intents share lines."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.settings import Settings
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Intent, Registry, Utterance, Vectors
from intentmatch.learning.cross_validation import HeldOut, Scorer, cross_validate
from intentmatch.learning.fold_plan import Utterances
from intentmatch.learning.head import fit_head, held_out_head, prepare, softmax
from intentmatch.learning.shared_cases import SharedCases, apart
from intentmatch.learning.token_features import DIM
from intentmatch.learning.training import TrainingData, cross_validate_registry
from intentmatch.learning.training_cache import load_or_train

YES = ("yes", "yes please", "certainly", "go ahead", "sure thing", "why not")
NO = ("no", "no thanks", "never", "stop that", "rather not", "not at all")


def intent(name: str, *lines: str, when: str = "") -> Intent:
    return Intent(name, tuple(map(Utterance, lines)), when=tuple(when.split()))


def bot(topics: int, talk: bool = False) -> Registry:
    """Return `topics` pairs of intents for yes and no with the same lines, and three intents of other lines."""
    intents = [
        intent(f"{word}{topic}", *lines, when=f"topic{topic}")
        for topic in range(topics)
        for word, lines in (("yes", YES), ("no", NO))
    ]
    if talk:
        intents.append(intent("talk", "yes", "certainly", "good point", "I agree with this"))
    for subject in ("parcel", "invoice", "address"):
        lines = (f"where is my {subject}", f"send my {subject}", f"change the {subject}", f"my {subject} is wrong")
        intents.append(intent(subject, *lines))
    return Registry(tuple(intents))


def vectors_of(registry: Registry) -> tuple[Vectors, Vectors]:
    encoder = WordHashEncoder()
    return (
        encoder.encode([utterance.text for utterance in registry.utterances]),
        encoder.encode([intent.label for intent in registry]),
    )


def shared_cases(registry: Registry) -> SharedCases:
    return SharedCases(registry, SharedLines(registry))


def held_out(registry: Registry, scorer: str = "head") -> HeldOut:
    return cross_validate_registry(
        TrainingData(registry, *vectors_of(registry), Settings(scorer=scorer), "static")
    ).held_out


def accuracy(held_out: HeldOut, registry: Registry) -> float:
    """Return the share of right answers among the lines of the first pair of intents."""
    owner = np.array(registry.owners)[held_out.rows]
    return float(held_out.right[held_out.known & (owner < 2)].mean())


def test_utterances_meet_neither_the_same_line_nor_intents_of_other_contexts() -> None:
    registry = Registry(
        (
            intent("a", "yes", "do it", when="x"),
            intent("b", "yes", "of course", when="y"),
            intent("c", "yes", "quite so"),
            intent("d", "hello", when="z"),
        )
    )
    cases = shared_cases(registry)

    left_out = cases.left_out(np.arange(7)).astype(int).tolist()

    assert left_out == [
        [1, 0, 1, 1, 1, 0, 0],  # "yes" of a: itself, all of b, and the line of c that a has too
        [0, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 0, 1, 0, 0],
        [1, 1, 0, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 0, 0],  # "yes" of c: neither a nor b is active
        [1, 1, 1, 1, 0, 1, 0],
        [0, 0, 1, 1, 0, 0, 1],  # d: a and b are not active at once, and a comes first
    ]
    assert cases.left_out(np.array([1]), slice(2, 5)).astype(int).tolist() == [[1, 1, 1]]
    assert cases.answered_elsewhere.tolist() == [True, False, True, False, False, False, False]
    assert cases.text.tolist() == [0, 1, 0, 3, 0, 5, 6]


def test_pairs_of_rows_and_intents_name_places_in_the_sample() -> None:
    registry = Registry((intent("a", "x", "yes", when="t"), intent("b", "no", "yes"), intent("c", "hello")))
    shared = SharedLines(registry)

    everything, some = (apart(shared, np.array(rows)) for rows in ([0, 1, 2, 3, 4], [1, 2, 4]))

    assert everything is not None
    assert some is not None
    assert (everything.tolist(), some.tolist()) == ([[1, 1], [3, 0]], [[0, 1]])
    assert apart(shared, np.array([0, 2])) is None
    assert apart(SharedLines(Registry((intent("c", "hello"),))), np.array([0])) is None


def test_head_learns_a_shared_line_for_each_of_its_intents() -> None:
    """Against all other intents; without `apart`, the intents that share the line divide it among them."""
    chance = np.random.default_rng(3)
    line, other, third = (row / np.linalg.norm(row) for row in chance.normal(size=(3, 8)).astype(np.float32))
    vectors, words = np.stack([line, line, other, third]), np.zeros((4, DIM), dtype=np.float32)
    owners = [0, 1, 2, 1]
    pairs = np.array([[0, 1], [1, 0]])

    alone = softmax(vectors @ fit_head(prepare(vectors, words, owners, 3, apart=pairs)).weights[:8])
    divided = softmax(vectors @ fit_head(prepare(vectors, words, owners, 3)).weights[:8])

    for row, own, sharer in ((0, 0, 1), (1, 1, 0)):
        against_others = alone[row, own] / (1 - alone[row, sharer])
        assert against_others > divided[row, own] / (1 - divided[row, sharer]) > 0.5


def test_pairs_hold_among_the_rows_that_are_left_in() -> None:
    """A head of a fold equals one that is trained on the other rows alone."""
    chance = np.random.default_rng(5)
    vectors = chance.normal(size=(9, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[7] = vectors[1]
    words = np.zeros((9, DIM), dtype=np.float32)
    owners = [0, 0, 0, 1, 1, 2, 2, 3, 3]
    whole = prepare(vectors, words, owners, 4, apart=np.array([[1, 3], [7, 0]]))
    left_out = np.isin(np.arange(9), [0, 3, 4])

    found = held_out_head(whole, left_out).logits(whole.features[left_out])

    # Intent 1 is unknown without its rows 3 and 4, so that the last intent is the third of those known.
    rest = prepare(vectors[~left_out], words[~left_out], [0, 0, 1, 1, 2, 2], 3, apart=np.array([[0, 2], [4, 0]]))
    weights = fit_head(rest).weights
    assert found[:, [0, 2, 3]] == pytest.approx(whole.features[left_out] @ weights, abs=0.05)
    assert np.isneginf(found[:, 1]).all()


@pytest.mark.parametrize("scorer", ["head", "cosine"])
def test_follow_ups_with_the_same_lines_are_as_accurate_as_one_pair(scorer: str) -> None:
    """Each is said while its own tag is active. Without their contexts, three of four would be mistaken."""
    one, four = bot(1), bot(4)

    assert accuracy(held_out(four, scorer), four) == pytest.approx(accuracy(held_out(one, scorer), one), abs=0.1)
    assert accuracy(held_out(four, scorer), four) >= 0.5


def test_shared_lines_are_not_held_out_beside_their_copies() -> None:
    """A copy in another intent would answer for the line with evidence that no message of a user has."""
    registry = bot(2, talk=True)
    vectors, _ = vectors_of(registry)

    cases, _ = cross_validate(Utterances(vectors, registry.owners, shared=shared_cases(registry)), Scorer("max"))
    careless, _ = cross_validate(Utterances(vectors, registry.owners), Scorer("max"))

    assert cases.evidence.max() < 0.99 < careless.evidence.max()


def test_a_line_that_an_intent_without_when_has_too_is_never_out_of_scope() -> None:
    registry = bot(1, talk=True)
    cases = held_out(registry)

    out_of_scope = {registry.utterances[row].text for row in cases.rows[~cases.known]}

    assert "yes please" in out_of_scope
    talk = next(n for n, one in enumerate(registry) if one.name == "talk")
    asked_of_others = [row for row in cases.rows[~cases.known] if registry.owners[row] != talk]
    assert {"yes", "certainly"}.isdisjoint(registry.utterances[row].text for row in asked_of_others)


def test_out_of_scope_cases_meet_no_copy_of_their_intent() -> None:
    cases = held_out(bot(3), "cosine")
    registry = bot(3)
    sharers = SharedLines(registry).sharers

    for row, first in zip(cases.rows[~cases.known], cases.first[~cases.known], strict=True):
        assert int(first) not in sharers.get(registry.owners[row], ())


def test_tags_of_intents_that_share_lines_belong_to_the_key_of_the_cache(tmp_path) -> None:
    def trained(registry: Registry) -> None:
        load_or_train(TrainingData(registry, *vectors_of(registry), Settings(), "static"), tmp_path)

    registry = bot(2)
    swapped = Registry((intent("yes0", *YES), *registry.intents[1:]))
    for one in (registry, registry, swapped):
        trained(one)

    assert len(list((tmp_path / "learned").iterdir())) == 2


def test_training_is_deterministic_with_shared_lines() -> None:
    registry = bot(3, talk=True)

    one, other = (
        load_or_train(TrainingData(registry, *vectors_of(registry), Settings(), "static"), None) for _ in range(2)
    )

    assert one.calibration == other.calibration
    if one.trained_head is not None and other.trained_head is not None:
        assert one.trained_head.head.weights.tobytes() == other.trained_head.head.weights.tobytes()
