"""Cross-validation compared with a registry that is rebuilt without the held-out utterances."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from learning.clusters import clusters, unit_rows
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning import cross_validation as cross_validation_module
from intentmatch.learning import fold_plan, head, lbfgs
from intentmatch.learning.cross_validation import RANKED, HeldOut, Scorer, cross_validate
from intentmatch.learning.fold_plan import Utterances, assign_folds, scattered_keys
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.head import Fitting, fit_head, prepare
from intentmatch.learning.token_features import DIM
from intentmatch.learning.word_alignment import WORD_WEIGHT, WordAlignment
from intentmatch.pieces.embedded import known_pieces

AGGREGATIONS = ["mean2", "max"]
BY_AGGREGATION = pytest.mark.parametrize("aggregation", AGGREGATIONS)


def fitting_of(vectors: np.ndarray, words: np.ndarray, owners: list[int]) -> Fitting:
    return prepare(vectors, words, owners, max(owners) + 1)


def without_head(vectors: np.ndarray, owners: list[int], aggregation: str = "max") -> HeldOut:
    return cross_validate(Utterances(vectors, owners), Scorer(aggregation))[0]


def with_head(vectors: np.ndarray, words: np.ndarray, owners: list[int], aggregation: str = "mean2") -> HeldOut:
    return cross_validate(Utterances(vectors, owners), Scorer(aggregation, fitting_of(vectors, words, owners)))[0]


def by_row(held_out: HeldOut, *, known: bool) -> dict[int, tuple[float, int]]:
    """Return evidence and first intent by utterance, for the cases in scope or out of scope."""
    kind = held_out.known == known
    columns = held_out.rows[kind], held_out.evidence[kind], held_out.first[kind]
    return {int(row): (float(evidence), int(intent)) for row, evidence, intent in zip(*columns, strict=True)}


def same(one: HeldOut, other: HeldOut) -> bool:
    return all(
        getattr(one, field.name).tobytes() == getattr(other, field.name).tobytes()
        for field in dataclasses.fields(HeldOut)
    )


@BY_AGGREGATION
@run(max_examples=60)
@given(st.data())
def test_score_equals_that_of_an_index_without_the_utterance(aggregation, data):
    """Out of scope: of an index without the intent."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=7))
    owners = [owner for owner, size in enumerate(sizes) for _ in range(size)]
    vectors = unit_rows(np.random.default_rng(data.draw(st.integers(0, 1000))).normal(size=(len(owners), 5)))

    held_out = without_head(vectors, owners, aggregation)

    known, unknown = by_row(held_out, known=True), by_row(held_out, known=False)
    assert sorted(known) == [row for row, owner in enumerate(owners) if sizes[owner] > 1]
    groups = len(sizes) if len(sizes) <= 5 else 5
    for row, owner in enumerate(owners):
        near = vectors @ vectors[row] > 0.98
        if near.sum() > 1:
            return
        others = [other for other in range(len(owners)) if other != row]
        # Intents are left out in rounds: those of the same round cannot come first.
        other_rounds = [other for other in others if owners[other] % groups != owner % groups]
        if sizes[owner] > 1:
            assert known[row] == pytest.approx(best_of(vectors, row, others, owners, aggregation), abs=1e-5)
        if other_rounds:
            assert unknown[row] == pytest.approx(best_of(vectors, row, other_rounds, owners, aggregation), abs=1e-5)


def best_of(vectors: np.ndarray, row: int, others: list[int], owners: list[int], aggregation: str) -> tuple[float, int]:
    index = ExactIndex(vectors[others], [owners[other] for other in others], aggregation)
    scores, _ = index.scores(vectors[row][None, :])
    return float(scores.max()), int(index.owners[scores.argmax()])


@BY_AGGREGATION
def test_evidence_equals_that_of_a_head_trained_without_the_fold(aggregation, monkeypatch):
    """Out of scope: without the round of intents."""
    # Both search until no gain is left.
    monkeypatch.setattr(head, "_FLAT_ENOUGH", 1e-6)
    monkeypatch.setattr(lbfgs, "_GAIN_ENOUGH", 0.0)
    monkeypatch.setattr(lbfgs, "_MOST_STEPS", 1000)
    vectors, words, owners = clusters(5, 5, 5, 5)
    owner = np.array(owners)

    held_out = with_head(vectors, words, owners, aggregation)

    keys = scattered_keys(len(owner))
    fold_of = assign_folds(vectors, owner, np.arange(len(owner)), keys, 5)
    for known, together in ((True, fold_of), (False, owner)):
        found = by_row(held_out, known=known)
        assert sorted(found) == list(range(20))
        for row in range(20):
            rest = together != together[row]
            there = np.unique(owner[rest])
            # The head is trained without the fold; similarities only leave out the utterance itself.
            compared = rest if not known else np.arange(20) != row
            scores = ExactIndex(vectors[compared], owner[compared], aggregation).scores(vectors[row][None, :])[0]
            logits = logits_of(vectors, words, owner, rest, row)
            total = fused_score(scores, logits[None, :])[0]
            assert found[row][0] == pytest.approx(total.max(), abs=0.001)
            if np.diff(np.sort(total))[-1] > 0.002:
                assert found[row][1] == there[total.argmax()]


def logits_of(vectors: np.ndarray, words: np.ndarray, owner: np.ndarray, rest: np.ndarray, row: int) -> np.ndarray:
    """Return the logits of a head that is trained on the rest alone."""
    known, numbers = np.unique(owner[rest], return_inverse=True)
    refitted = prepare(vectors[rest], words[rest], numbers.tolist(), len(known))
    features = np.concatenate([vectors[row], np.float32(0.6) * words[row], [1.0]])
    return (features @ fit_head(refitted).weights).astype(np.float32)


@BY_AGGREGATION
def test_utterance_is_not_compared_with_itself(aggregation):
    """Orthogonal utterances score 0 against each other and 1 against themselves."""
    owners = [row // 4 for row in range(32)]

    held_out = without_head(np.eye(32, dtype=np.float32), owners, aggregation)

    assert len(held_out.evidence) == 64
    assert held_out.evidence.max() == 0.0


@pytest.mark.parametrize("apart", [0.0, 0.1])
def test_near_duplicates_are_held_out_together(apart):
    vectors = np.repeat(np.eye(16, dtype=np.float32)[:8], 2, axis=0)
    vectors[1::2, 8:] += apart * np.eye(8, dtype=np.float32)
    vectors = unit_rows(vectors)

    assert without_head(vectors, [row // 4 for row in range(16)]).evidence.max() < 0.011


def test_similar_utterances_are_not_held_out_together():
    vectors = unit_rows(np.array([[1, 0, 0], [1, 0.3, 0], [0, 0, 1], [0, 0.3, 1]]))

    held_out = without_head(vectors, [0, 0, 1, 1])

    assert held_out.right.tolist() == [True] * 4 + [False] * 4


def test_same_utterance_in_another_intent_is_not_held_out():
    """The cases show the confusion: the other intent comes first."""
    vectors = np.eye(4, dtype=np.float32)[[0, 1, 0, 2]]

    held_out = without_head(vectors, [0, 0, 1, 1])

    found = by_row(held_out, known=True)
    assert (found[0], found[2]) == ((1.0, 1), (1.0, 0))


def test_intent_of_one_utterance_twice_is_only_an_out_of_scope_case():
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)

    held_out = without_head(vectors, [0, 0, 1, 1], "mean2")

    assert held_out.rows[held_out.known].tolist() == [2, 3]
    assert sorted(held_out.rows[~held_out.known].tolist()) == [0, 1, 2, 3]


def test_zero_vector_is_held_out_of_its_own_case():
    """Although its similarity to itself is 0."""
    vectors = np.zeros((3, 4), dtype=np.float32)
    vectors[1, 0] = vectors[2, 1] = 1.0

    held_out = without_head(vectors, [0, 1, 1])

    assert sorted(held_out.rows[held_out.known].tolist()) == [1, 2]


@pytest.mark.parametrize("headed", [False, True])
@pytest.mark.parametrize("sizes", [(), (1,), (1, 1), (7,), (1, 1, 1), (1, 4), (2, 1, 1, 1, 1, 1, 1)])
def test_number_of_cases_of_small_registries(sizes, headed):
    """A single intent has no cases; single utterances are out-of-scope cases only."""
    vectors, words, owners = clusters(*sizes) if sizes else (np.empty((0, 16), np.float32), np.empty((0, DIM)), [])
    if headed and not sizes:
        return
    held_out = with_head(vectors, words, owners) if headed else without_head(vectors, owners)

    alone = len(sizes) < 2
    assert int(held_out.known.sum()) == (0 if alone else sum(size for size in sizes if size > 1))
    assert int((~held_out.known).sum()) == (0 if alone else sum(sizes))
    assert np.isfinite(held_out.evidence).all()
    assert held_out.ranked.shape == (len(held_out.rows), RANKED)
    assert not np.isnan(held_out.ranked).any()


def test_evidence_of_missing_intents_is_negative_infinity():
    held_out = with_head(*clusters(3, 3))

    assert np.isfinite(held_out.ranked).sum(axis=1).tolist() == [2] * 6 + [1] * 6
    assert np.isneginf(held_out.ranked[:, 2:]).all()


@pytest.mark.parametrize("headed", [False, True])
def test_cases_are_labelled_correctly(headed):
    """In-scope cases come first; a left-out intent never comes first and is never right."""
    vectors, words, owners = clusters(*(6,) * 8, spread=0.2)
    owner = np.array(owners)
    held_out = with_head(vectors, words, owners) if headed else without_head(vectors, owners)

    assert held_out.known.tolist() == sorted(held_out.known.tolist(), reverse=True)
    assert not held_out.right[~held_out.known].any()
    assert (held_out.right == ((held_out.first == owner[held_out.rows]) & held_out.known)).all()
    assert not (held_out.first[~held_out.known] == owner[held_out.rows[~held_out.known]]).any()
    assert (np.diff(held_out.ranked, axis=1) <= 0.0).all()
    assert (held_out.place[~held_out.known] == RANKED).all()
    assert ((held_out.place < RANKED) == (held_out.known)).mean() > 0.9
    assert 0.8 < held_out.right[held_out.known].mean() <= 1.0


def test_in_scope_cases_have_more_evidence():
    held_out = with_head(*clusters(*(6,) * 8, spread=0.2))

    assert np.median(held_out.evidence[held_out.known]) > np.median(held_out.evidence[~held_out.known]) + 0.3


def test_cross_validation_is_deterministic():
    """To the last bit, with and without a head."""
    vectors, words, owners = clusters(*(4,) * 6)

    assert same(with_head(vectors, words, owners), with_head(vectors.copy(), words.copy(), list(owners)))
    assert same(without_head(vectors, owners), without_head(vectors.copy(), list(owners)))


def test_order_within_an_intent_does_not_matter_without_a_head():
    """Scores do not depend on folds."""
    vectors, _, owners = clusters(*(5,) * 6)
    order = np.arange(30).reshape(6, 5)[:, [3, 1, 4, 0, 2]].ravel()

    plain, shuffled = without_head(vectors, owners, "mean2"), without_head(vectors[order], owners, "mean2")

    for known in (True, False):
        there, moved = by_row(plain, known=known), by_row(shuffled, known=known)
        for place, row in enumerate(order.tolist()):
            assert moved[place] == pytest.approx(there[row], abs=1e-6)


def test_order_within_an_intent_matters_little_with_a_head():
    """Other folds train other heads of the same registry."""
    vectors, words, owners = clusters(*(10,) * 6)
    order = np.concatenate([np.random.default_rng(intent).permutation(10) + 10 * intent for intent in range(6)])

    plain, shuffled = with_head(vectors, words, owners), with_head(vectors[order], words[order], owners)

    assert shuffled.evidence.mean() == pytest.approx(plain.evidence.mean(), abs=0.03)
    assert shuffled.right.mean() == pytest.approx(plain.right.mean(), abs=0.05)


def test_head_is_not_trained_on_held_out_utterances():
    """On random utterances a head that had seen them would be right."""
    random = np.random.default_rng(5)
    owners = [row // 10 for row in range(60)]
    vectors = unit_rows(random.normal(size=(60, 64)))
    words = unit_rows(np.abs(random.normal(size=(60, DIM))) * (random.random((60, DIM)) < 0.01) + 1e-9)
    fitting = fitting_of(vectors, words, owners)

    held_out = cross_validate(Utterances(vectors, owners), Scorer("max", fitting))[0]

    assert held_out.right[held_out.known].mean() < 0.4


def test_cases_of_a_large_registry_are_chosen_by_content():
    """A line more changes at most one of the chosen cases."""
    random = np.random.default_rng(5)
    vectors, keys = unit_rows(random.normal(size=(4999, 8))), random.integers(0, 1 << 32, 5000)
    owners = np.repeat(np.arange(10), 500)

    def asked(left_out):
        rest = np.delete(np.arange(5000), left_out)
        utterances = Utterances(vectors[: len(rest)], owners[rest].tolist(), keys=keys[rest].tolist())
        held_out = cross_validate(utterances, Scorer("max"))[0]
        return set(rest[held_out.rows[held_out.known]].tolist())

    assert len(asked(17)) == 2000
    assert len(asked(17) ^ asked(4000)) <= 4


@BY_AGGREGATION
def test_sentences_of_a_line_are_held_out_together(aggregation):
    """An intent of a single line is never in scope."""
    vectors, _, owners = clusters(6, 6, 4)
    lines = [0, 0, 0, 3, 3, 3, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12]

    held_out = cross_validate(Utterances(vectors, owners, lines=lines), Scorer(aggregation))[0]

    known = by_row(held_out, known=True)
    assert sorted(known) == [*range(12)]
    for row, (score, first) in known.items():
        rest = [other for other, line in enumerate(lines) if line != lines[row]]
        index = ExactIndex(vectors[rest], [owners[other] for other in rest], aggregation)
        scores = index.scores(vectors[[row]])[0][0]
        assert score == pytest.approx(float(scores.max()), abs=1e-6)
        assert first == index.owners[scores.argmax()]


def test_every_fifth_intent_is_left_out_together():
    """With more than five intents."""
    vectors, words, owners = clusters(*(3,) * 12)

    held_out = with_head(vectors, words, owners)

    out_of_scope = ~held_out.known
    own, led = np.array(owners)[held_out.rows[out_of_scope]], held_out.first[out_of_scope]
    assert sorted(held_out.rows[out_of_scope].tolist()) == list(range(36))
    assert (own % 5 != led % 5).all()


def test_large_registry_is_sampled_evenly():
    vectors, _, owners = clusters(*(10,) * 500, spread=0.2, dim=8)

    held_out = without_head(vectors, owners)

    assert 2000 < len(held_out.rows) <= 4000
    assert np.bincount(held_out.rows // 100, minlength=50).min() >= 40


def test_results_do_not_depend_on_the_block_size(monkeypatch):
    vectors, words, owners = clusters(*(7,) * 7)
    whole = with_head(vectors, words, owners)

    monkeypatch.setattr(cross_validation_module, "CROSS_VALIDATION_MAX_CASES", 3)

    parts = with_head(vectors, words, owners)
    assert np.array_equal(parts.rows, whole.rows)
    assert np.array_equal(parts.first, whole.first)
    assert parts.evidence == pytest.approx(whole.evidence, abs=1e-5)


TALK = (
    ("cancel my order", "stop the purchase", "I do not want it any more", "please cancel"),
    ("where is my parcel", "track the package", "has it been sent", "when does it come"),
    ("what are your opening hours", "when do you open", "are you open on sunday"),
)


@BY_AGGREGATION
@pytest.mark.parametrize("known", [True, False])
def test_word_similarity_of_the_nearest_remaining_utterance_counts(aggregation, known):
    """For the leading intents, with the weight it has in matching."""
    texts = [text for part in TALK for text in part]
    owners = [owner for owner, part in enumerate(TALK) for _ in part]
    vectors = unit_rows(np.random.default_rng(3).normal(size=(len(texts), 6)))
    words = WordAlignment.fit([known_pieces(text) for text in texts], owners)
    index = ExactIndex(vectors, owners, aggregation)

    found = by_row(cross_validate(Utterances(vectors, owners), Scorer(aggregation, words=words))[0], known=known)

    assert sorted(found) == list(range(len(texts)))
    for row, owner in enumerate(owners):
        cosines = vectors[row] @ vectors.T
        cosines[row] = -np.inf
        if not known:
            cosines[np.array(owners) == owner] = -np.inf
        expected = index.aggregate(cosines[None])[0].astype(float)
        for intent in np.flatnonzero(np.isfinite(expected)).tolist():
            nearest = max((r for r, o in enumerate(owners) if o == intent), key=cosines.__getitem__)
            expected[intent] += WORD_WEIGHT * words.similarities_of_rows(np.array([row]), [[nearest]], [[row]])[0][0]
        assert found[row] == (pytest.approx(expected.max(), abs=1e-5), int(expected.argmax()))


def test_words_count_for_the_leading_intents_only(monkeypatch):
    """The evidence of all others is as without words."""
    monkeypatch.setattr(cross_validation_module, "LEADING", 1)
    texts = [text for part in TALK for text in part]
    owners = [owner for owner, part in enumerate(TALK) for _ in part]
    vectors = unit_rows(np.random.default_rng(3).normal(size=(len(texts), 6)))

    words = WordAlignment.fit([known_pieces(text) for text in texts], owners)
    without = without_head(vectors, owners)
    found = cross_validate(Utterances(vectors, owners), Scorer("max", words=words))[0]

    assert found.first.tolist() == without.first.tolist()
    assert (found.ranked[:, 0] >= without.ranked[:, 0]).all()
    assert (found.ranked[:, 0] > without.ranked[:, 0]).any()
    assert found.ranked[:, 1:].tolist() == without.ranked[:, 1:].tolist()


def test_translated_utterances_are_matched_by_their_moved_vectors_without_words() -> None:
    """The fields of both results agree where the vectors stay and no word is known."""
    vectors, words, owners = clusters(6, 6, 6, 6)
    fitting = fitting_of(vectors, np.zeros_like(words), owners)

    held_out, translated = cross_validate(
        Utterances(vectors, owners), Scorer("mean2", fitting), lambda rows, _: rows[None].copy()
    )

    assert translated is not None
    for field in dataclasses.fields(HeldOut):
        one, other = getattr(held_out, field.name), getattr(translated, field.name)
        assert one == pytest.approx(other, abs=1e-5), field.name


def test_moved_vectors_make_translated_cases_harder() -> None:
    """The ordinary cases stay as they are."""
    vectors, words, owners = clusters(6, 6, 6, 6)
    fitting = fitting_of(vectors, words, owners)
    noise = np.random.default_rng(1).normal(size=vectors.shape)

    held_out, translated = cross_validate(
        Utterances(vectors, owners),
        Scorer("mean2", fitting),
        lambda rows, _: unit_rows(rows + noise[: len(rows)])[None],
    )

    assert translated is not None
    assert translated.right[translated.known].mean() < held_out.right[held_out.known].mean()
    assert held_out.evidence.tobytes() == with_head(vectors, words, owners).evidence.tobytes()


def test_translated_cases_never_see_their_own_utterance() -> None:
    """Not the same line either: a vector that is moved back to its own utterance would be matched with certainty."""
    vectors, _, owners = clusters(4, 4, 4)

    _, translated = cross_validate(Utterances(vectors, owners), Scorer("max"), lambda rows, _: rows[None].copy())

    assert translated is not None
    assert translated.evidence.max() < 0.999


def test_translated_cases_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each utterance is asked about once in scope and once out of scope."""
    monkeypatch.setattr(fold_plan, "_MOST_TRANSLATED", 8)
    vectors, words, owners = clusters(8, 8, 8)

    held_out, translated = cross_validate(
        Utterances(vectors, owners), Scorer("mean2", fitting_of(vectors, words, owners)), lambda rows, _: rows[None]
    )

    assert translated is not None
    assert len({*translated.rows[translated.known].tolist()}) == 8
    assert len(held_out.rows) == 48


def test_each_translation_of_an_utterance_is_a_case() -> None:
    """They are made from the vectors and the owners of the utterances."""
    vectors, words, owners = clusters(6, 6, 6)
    fitting = fitting_of(vectors, words, owners)
    seen: list[list[int]] = []

    def translate(rows: Vectors, of: NDArray[np.int64]) -> Vectors:
        seen.append(of.tolist())
        return np.stack([rows, unit_rows(rows[::-1])])

    _, both = cross_validate(Utterances(vectors, owners), Scorer("mean2", fitting), translate)
    _, one = cross_validate(Utterances(vectors, owners), Scorer("mean2", fitting), lambda rows, _: rows[None])

    assert both is not None
    assert one is not None
    assert seen == [owners]
    assert len(both.rows) == 2 * len(one.rows)
    assert {*one.evidence.tolist()} < {*both.evidence.tolist()}


def test_single_intent_has_no_translated_cases() -> None:
    vectors, _, owners = clusters(4)

    _, translated = cross_validate(Utterances(vectors, owners), Scorer("max"), lambda rows, _: rows[None])

    assert translated is not None
    assert len(translated.rows) == 0
    assert cross_validate(Utterances(vectors, owners), Scorer("max"), None)[1] is None
