"""The head compared with scikit-learn, with refitted heads, and on unusual registries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from intentmatch.learning import head as head_module
from intentmatch.learning import lbfgs
from intentmatch.learning.head import Fitting, Head, Near, fit_head, held_out_head, nearby, prepare, softmax
from intentmatch.learning.token_features import DIM, SparseVector
from intentmatch.runtime import steps

# Constants of the loss: penalty |weights|² / (2 * 30), and the weight of the token features.
INVERSE_PENALTY, WORDS_WEIGHT = 30.0, np.float32(0.6)


def held_out_logits(
    fitting: Fitting, left_out: np.ndarray, near: Near | None = None, *, asked: np.ndarray | None = None
) -> np.ndarray:
    """Logits of the utterances left out, or only of those `asked`, by a head trained without them."""
    rows = fitting.features[: fitting.utterances][left_out if asked is None else asked]
    return held_out_head(fitting, left_out, near).logits(rows)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def problem(*sizes: int, dim: int = 16, words: int = 40, seed: int = 7) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return vectors scattered around intent centres, token features of which some are the intent's own, and owners."""
    random = np.random.default_rng(seed)
    owners = [intent for intent, size in enumerate(sizes) for _ in range(size)]
    vectors = unit_rows(random.normal(size=(len(sizes), dim))[owners] + 0.7 * random.normal(size=(len(owners), dim)))
    rows = np.zeros((len(owners), DIM))
    for row, owner in enumerate(owners):
        rows[row, random.choice(words, 4, replace=False)] = 1.0
        rows[row, words + owner % (DIM - words)] = 1.0
    return vectors, unit_rows(rows), owners


def features(vectors: np.ndarray, words: np.ndarray) -> np.ndarray:
    return np.hstack([vectors, WORDS_WEIGHT * words, np.ones((len(vectors), 1), dtype=np.float32)])


def sparse(row: np.ndarray) -> SparseVector:
    return SparseVector(np.flatnonzero(row), row[np.flatnonzero(row)])


def fitting_of(vectors: np.ndarray, words: np.ndarray, owners: list[int]) -> Fitting:
    return prepare(vectors, words, owners, max(owners) + 1)


def logits_of(head, vector, words):
    return head.for_vectors(len(vector)).logits(vector, words)


def probabilities(fitting: Fitting, vectors: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Train a head on all utterances and return its probabilities for these."""
    head = fit_head(fitting)
    return softmax(np.array([logits_of(head, v, sparse(w)) for v, w in zip(vectors, words, strict=True)]))


@pytest.fixture
def until_no_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search until no gain is left, instead of stopping early."""
    monkeypatch.setattr(head_module, "_FLAT_ENOUGH", 1e-6)
    monkeypatch.setattr(head_module, "_FLAT_ENOUGH_OF_MANY", 1e-6)
    monkeypatch.setattr(lbfgs, "_GAIN_ENOUGH", 0.0)
    monkeypatch.setattr(lbfgs, "_MOST_STEPS", 1000)


SIZES = {
    "even": (8,) * 6,
    "pairs": (2,) * 12,
    "single utterances": (1,) * 8,
    "unbalanced": (60, 1, 1, 25, 2, 9),
}
BY_SIZES = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())


def library(vectors, words, owners):
    """Fit scikit-learn's logistic regression to the same problem."""
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs scikit-learn, of the extra [dev]")
    twin = linear_model.LogisticRegression(
        C=INVERSE_PENALTY, fit_intercept=False, class_weight="balanced", tol=1e-8, max_iter=5000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin.fit(features(vectors, words).astype(np.float64), owners)
    return twin


@BY_SIZES
def test_head_agrees_with_scikit_learn(sizes):
    """On its own utterances and on others."""
    vectors, words, owners = problem(*sizes)
    others, their_words, _ = problem(*sizes, seed=8)
    twin = library(vectors, words, owners)
    fitting = fitting_of(vectors, words, owners)

    for asked, asked_words in ((vectors, words), (others, their_words)):
        expected = twin.predict_proba(features(asked, asked_words).astype(np.float64))
        off = np.abs(probabilities(fitting, asked, asked_words) - expected)
        assert off.max() < 0.085
        assert off.mean() < 0.015
        # Early stopping moves probabilities a little, but not the first intent if it is clear.
        clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 0.1
        assert (probabilities(fitting, asked, asked_words).argmax(axis=1) == expected.argmax(axis=1))[clear].all()


@BY_SIZES
@pytest.mark.usefixtures("until_no_gain")
def test_head_agrees_exactly_with_scikit_learn_without_early_stopping(sizes):
    vectors, words, owners = problem(*sizes)
    twin = library(vectors, words, owners)

    fitting = fitting_of(vectors, words, owners)

    expected = twin.predict_proba(features(vectors, words).astype(np.float64))
    assert probabilities(fitting, vectors, words) == pytest.approx(expected, abs=0.001)


MANY = (150, 90, 2, 200, 1, 150, 107)


@pytest.mark.usefixtures("until_no_gain")
def test_head_of_many_utterances_agrees_with_scikit_learn():
    """Beyond the sampled axes the search goes on in all features; also for held-out rows and a warm start."""
    vectors, words, owners = problem(*MANY, dim=300, words=700)
    fitting = fitting_of(vectors, words, owners)
    assert fitting.directions > 0
    others, their_words, _ = problem(*MANY, dim=300, words=700, seed=8)
    expected = library(vectors, words, owners).predict_proba(features(others, their_words).astype(np.float64))

    assert probabilities(fitting, others, their_words) == pytest.approx(expected, abs=0.002)

    near = nearby(fitting, fit_head(fitting).weights)
    left_out = np.arange(len(owners)) % 3 == 1
    rest = library(vectors[~left_out], words[~left_out], np.array(owners)[~left_out])
    expected = np.zeros((int(left_out.sum()), len(MANY)))
    expected[:, rest.classes_] = rest.predict_proba(features(vectors, words)[left_out].astype(np.float64))
    for start in (None, near):
        assert softmax(held_out_logits(fitting, left_out, start)) == pytest.approx(expected, abs=0.002)
    asked = left_out & (np.arange(len(owners)) % 2 == 0)
    assert softmax(held_out_logits(fitting, left_out, near, asked=asked)) == pytest.approx(
        expected[asked[left_out]], abs=0.002
    )


def test_early_stop_with_many_utterances_is_near_the_minimum():
    vectors, words, owners = problem(*MANY, dim=300, words=700)
    others, their_words, _ = problem(*MANY, dim=300, words=700, seed=8)
    expected = library(vectors, words, owners).predict_proba(features(others, their_words).astype(np.float64))

    off = np.abs(probabilities(fitting_of(vectors, words, owners), others, their_words) - expected)

    assert off.mean() < 0.01
    assert off.max() < 0.07


@BY_SIZES
def test_gradient_is_nearly_zero_at_the_trained_weights(sizes):
    vectors, words, owners = problem(*sizes)
    inputs, own = features(vectors, words).astype(np.float64), np.eye(len(sizes))[owners]
    shares = len(owners) / len(sizes) / np.bincount(owners)[owners]

    def slope(weights: np.ndarray) -> float:
        return np.linalg.norm(
            inputs.T @ (shares[:, None] * (softmax(inputs @ weights) - own)) + weights / INVERSE_PENALTY
        )

    weights = fit_head(fitting_of(vectors, words, owners)).weights

    assert slope(weights) < 0.01 * slope(np.zeros_like(weights))


@BY_SIZES
def test_training_is_deterministic(sizes):
    """To the last bit."""
    vectors, words, owners = problem(*sizes)
    one, other = fitting_of(vectors, words, owners), fitting_of(vectors.copy(), words.copy(), list(owners))
    left_out = np.arange(len(owners)) % 3 == 0

    assert fit_head(one).weights.tobytes() == fit_head(other).weights.tobytes() == fit_head(one).weights.tobytes()
    assert held_out_logits(one, left_out).tobytes() == held_out_logits(other, left_out).tobytes()


def test_head_classifies_its_own_utterances():
    vectors, words, owners = problem(*SIZES["even"])

    assert probabilities(fitting_of(vectors, words, owners), vectors, words).argmax(axis=1).tolist() == owners


def test_head_uses_vectors_and_token_features():
    """Each decides alone if the other is zero."""
    vectors, words, owners = problem(*SIZES["even"])

    for some_vectors, some_words in ((np.zeros_like(vectors), words), (vectors, np.zeros_like(words))):
        fitting = fitting_of(some_vectors, some_words, owners)
        right = probabilities(fitting, some_vectors, some_words).argmax(axis=1) == owners
        assert right.mean() > 0.9


def test_sparse_logits_equal_the_dense_product():
    vectors, words, owners = problem(*SIZES["even"])
    head = fit_head(fitting_of(vectors, words, owners))

    for vector, row in zip(vectors, words, strict=True):
        plain = features(vector[None], row[None])[0] @ head.weights
        assert logits_of(head, vector, sparse(row)) == pytest.approx(plain, abs=1e-4)
    nothing = logits_of(head, np.zeros(16, dtype=np.float32), sparse(np.zeros(DIM)))
    assert nothing == pytest.approx(head.weights[-1])
    assert (head.weights.dtype, head.weights.shape) == (np.float32, (16 + DIM + 1, 6))


def test_bias_rises_with_the_number_of_utterances():
    vectors, words, owners = problem(40, 10, 2)
    head = fit_head(fitting_of(vectors, words, owners))

    assert np.argsort(-head.weights[-1]).tolist() == [0, 1, 2]


@BY_SIZES
@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.usefixtures("until_no_gain")
def test_held_out_logits_equal_those_of_a_head_without_the_rows(sizes, every):
    """Up to a constant per row."""
    vectors, words, owners = problem(*sizes)
    owner = np.array(owners)
    left_out = np.arange(len(owners)) % every == 0

    logits = held_out_logits(fitting_of(vectors, words, owners), left_out)

    known, numbers = np.unique(owner[~left_out], return_inverse=True)
    refitted = prepare(vectors[~left_out], words[~left_out], numbers.tolist(), len(known))
    expected = np.zeros((int(left_out.sum()), len(sizes)))
    expected[:, known] = probabilities(refitted, vectors[left_out], words[left_out])
    assert (logits.dtype, logits.shape) == (np.float32, expected.shape)
    assert softmax(logits) == pytest.approx(expected, abs=0.001)
    gone = sorted(set(range(len(sizes))) - set(known.tolist()))
    assert np.isneginf(logits[:, gone]).all()
    assert np.isfinite(logits[:, known]).all()


def test_held_out_logits_of_all_or_no_rows():
    """With nothing to train on, every logit is -inf; without rows the result is empty."""
    vectors, words, owners = problem(3, 3)
    fitting = fitting_of(vectors, words, owners)

    assert np.isneginf(held_out_logits(fitting, np.ones(6, dtype=bool))).all()
    assert held_out_logits(fitting, np.zeros(6, dtype=bool)).shape == (0, 2)


def test_more_utterances_than_features_give_the_same_head():
    vectors, words, owners = problem(4, 4, 4, dim=8)
    times = 1 + (8 + DIM + 1) // len(owners)
    often = [np.repeat(rows, times, axis=0) for rows in (vectors, words)]
    tall = prepare(*often, np.repeat(owners, times).tolist(), 3)
    wide = prepare(vectors, words, owners, 3)
    assert len(tall.rows) > len(tall.axes) > len(wide.rows)

    # Copies span the same space: without them the tall problem is the wide one.
    copies = np.arange(len(tall.rows)) % times != 0

    assert tall.rows.shape[1] == wide.rows.shape[1]
    assert np.sqrt(tall.strengths) == pytest.approx(np.sqrt(times * wide.strengths), rel=1e-3)
    logits = held_out_logits(tall, copies)[:: times - 1]
    assert softmax(logits) == pytest.approx(probabilities(wide, vectors, words), abs=0.01)
    inputs = features(*often).astype(np.float64)
    slope = inputs.T @ (softmax(inputs @ fit_head(tall).weights) - np.eye(3)[tall.owners])
    assert np.abs(slope + fit_head(tall).weights / INVERSE_PENALTY).max() < 0.01 * len(inputs) / 3


def test_axes_preserve_products_of_rows():
    """The columns along the axes are orthogonal."""
    vectors, words, owners = problem(*SIZES["even"])
    fitting = fitting_of(vectors, words, owners)
    plain = features(vectors, words)

    assert fitting.rows @ fitting.rows.T == pytest.approx(plain @ plain.T, abs=1e-4)
    assert fitting.rows.T @ fitting.rows == pytest.approx(np.diag(fitting.strengths), abs=1e-3)
    assert fitting.rows.shape[1] <= len(owners)


def test_axes_hardly_depend_on_a_single_row():
    """Without the first row, most rows have another place, and yet the sample keeps all the others."""
    vectors, words, owners = problem(*MANY, dim=300, words=700)
    fitting, without = fitting_of(vectors, words, owners), fitting_of(vectors[1:], words[1:], owners[1:])

    shared = np.square(fitting.axes.T @ without.axes).sum() / fitting.axes.shape[1]

    assert shared > 0.99


@BY_SIZES
def test_rotating_all_vectors_does_not_change_probabilities(sizes):
    vectors, words, owners = problem(*sizes)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(16, 16)))[0].astype(np.float32)

    turned = probabilities(fitting_of(vectors @ turn, words, owners), vectors @ turn, words)

    assert turned == pytest.approx(probabilities(fitting_of(vectors, words, owners), vectors, words), abs=0.005)


def test_permuting_intents_permutes_the_probabilities():
    vectors, words, owners = problem(*SIZES["unbalanced"])
    other = [5 - owner for owner in owners]

    plain = probabilities(fitting_of(vectors, words, owners), vectors, words)
    renamed = probabilities(fitting_of(vectors, words, other), vectors, words)

    assert renamed[:, ::-1] == pytest.approx(plain, abs=0.005)


def unusual(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the training data of an unusual registry."""
    if name == "one intent":
        return problem(5)
    if name == "one utterance":
        return problem(1)
    if name == "many pairs":
        return problem(*(2,) * 300, dim=32, words=200)
    vectors, words, owners = problem(*SIZES["even"])
    if name == "one utterance repeated":
        vectors[:], words[:] = vectors[0], words[0]
    elif name == "each utterance twice":
        vectors, words = vectors[np.arange(48) // 2 * 2], words[np.arange(48) // 2 * 2]
    elif name == "all features zero":
        vectors[:], words[:] = 0.0, 0.0
    elif name == "some features zero":
        vectors[::5], words[::7] = 0.0, 0.0
    return vectors, words, owners


@pytest.mark.parametrize(
    "name",
    [
        "one intent",
        "one utterance",
        "many pairs",
        "one utterance repeated",
        "each utterance twice",
        "all features zero",
        "some features zero",
    ],
)
def test_unusual_registries_give_finite_weights_and_probabilities(name):
    vectors, words, owners = unusual(name)
    fitting = fitting_of(vectors, words, owners)
    left_out = np.arange(len(owners)) % 2 == 0

    chances = probabilities(fitting, vectors[:50], words[:50])
    held_out = held_out_logits(fitting, left_out)

    assert np.isfinite(fit_head(fitting).weights).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)), abs=1e-4)
    assert not np.isnan(held_out).any()


@pytest.mark.parametrize("name", ["one utterance repeated", "all features zero"])
def test_intents_of_equal_utterances_are_equally_likely(name):
    vectors, words, owners = unusual(name)

    assert probabilities(fitting_of(vectors, words, owners), vectors, words) == pytest.approx(1 / 6, abs=0.01)


def test_three_hundred_intents_of_two_utterances():
    """Each is recognised, mostly even from the other utterance of its pair."""
    vectors, words, owners = unusual("many pairs")
    fitting = fitting_of(vectors, words, owners)
    head = fit_head(fitting)

    leading = [int(logits_of(head, v, sparse(w)).argmax()) for v, w in zip(vectors, words, strict=True)]
    held_out = held_out_logits(fitting, np.arange(600) % 2 == 0).argmax(axis=1)

    assert leading == owners
    assert (held_out == np.arange(300)).mean() > 0.9


def test_large_intent_does_not_dominate_a_small_one():
    for size in (2, 20, 60):
        vectors, words, owners = problem(size, 1)
        assert probabilities(fitting_of(vectors, words, owners), vectors[-1:], words[-1:])[0, 1] > 0.9


def test_repeated_utterance_hardly_changes_probabilities():
    vectors, words, owners = problem(1, 1)
    between = (vectors[:1] + vectors[1:]) / 2, (words[:1] + words[1:]) / 2
    more = fitting_of(np.repeat(vectors, [9, 1], axis=0), np.repeat(words, [9, 1], axis=0), [0] * 9 + [1])

    fair, repeated = (probabilities(f, *between)[0, 0] for f in (fitting_of(vectors, words, owners), more))

    assert fair == pytest.approx(0.5, abs=0.01)
    assert repeated == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("logits", "expected"),
    [
        ([0.0, 0.0], [0.5, 0.5]),
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([-1000.0, 0.0], [0.0, 1.0]),
        ([-np.inf, 3.0, 3.0], [0.0, 0.5, 0.5]),
        ([7.0], [1.0]),
        ([[0.0, np.log(3)], [np.log(3), 0.0]], [[0.25, 0.75], [0.75, 0.25]]),
    ],
)
def test_softmax(logits, expected):
    """Along the last axis, for logits of any size; -inf gives 0."""
    assert softmax(np.array(logits, dtype=np.float32)) == pytest.approx(np.array(expected), abs=1e-6)


def test_heads_of_equal_weights_give_equal_logits():
    vectors, words, owners = problem(3, 3, 3)
    head = fit_head(fitting_of(vectors, words, owners))

    again = logits_of(Head(head.weights.copy()), vectors[0], sparse(words[0]))

    assert again.tobytes() == logits_of(head, vectors[0], sparse(words[0])).tobytes()


def test_hints_are_trained_on_and_never_held_out():
    """The hints of a left-out intent are left out too."""
    vectors = np.eye(4, dtype=np.float32)[[0, 1, 2]]
    words = np.zeros((3, DIM), dtype=np.float32)
    fitting = prepare(vectors, words, [0, 1, 0], 2, hints=1)

    head = fit_head(fitting)
    assert head.weights[2, 0] > head.weights[2, 1]

    first = held_out_logits(fitting, np.array([True, False]))
    assert first.shape == (1, 2)
    assert np.isneginf(first[0, 0])
    assert np.isfinite(first[0, 1])


def test_held_out_head_answers_messages_without_known_words() -> None:
    """As the head of the other utterances does with token features of zero; a left-out intent has no logit."""
    vectors, words, owners = problem(6, 6, 6)
    fitting, left_out = fitting_of(vectors, words, owners), np.array(owners) == 1
    others = problem(2, 2, 2, seed=9)[0]

    logits = held_out_head(fitting, left_out).logits(fitting.without_words(others))

    rest = [n for n, owner in enumerate(owners) if owner != 1]
    head = fit_head(prepare(vectors[rest], words[rest], [owners[n] // 2 for n in rest], 2))
    nothing = sparse(np.zeros(DIM, dtype=np.float32))
    expected = np.array([logits_of(head, vector, nothing) for vector in others])
    assert np.isneginf(logits[:, 1]).all()
    assert softmax(logits[:, [0, 2]]) == pytest.approx(softmax(expected), abs=0.02)


def test_training_can_be_stopped_in_the_middle():
    """A listener hears each step of the search: a large registry takes half a minute."""
    fitting, heard = fitting_of(*problem(*SIZES["even"])), []

    with steps.listening(heard.append):
        fit_head(fitting)

    assert {step.name for step in heard} == {"training the head"}
    assert len(heard) > 1
