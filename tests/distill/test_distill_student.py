"""Training the student: convergence, resuming and shared rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder
from optional import later
from safetensors.numpy import load_file

from intentmatch.core.errors import SettingsError
from intentmatch.distill import Corpus, Recipe
from intentmatch.distill.pieces import Pieces
from intentmatch.distill.student import StudentData, TargetLines, TokenVectors, _State, train
from intentmatch.distill.teacher import project

torch = later("torch", reason="needs the extra [distill]")

NEVER_USED = 3
"""Number of tokens at the end of the table that occur in no text."""


@pytest.fixture(autouse=True)
def _frequent_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report every step and save every fifth."""
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_UPDATES", 1)
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_SAVES", 5)


@pytest.fixture(scope="module")
def words(toy: Corpus) -> dict[str, int]:
    """A token for each word of the toy corpus."""
    texts = [*toy.sentences, *toy.translations]
    return {word: number for number, word in enumerate(dict.fromkeys(w for text in texts for w in text.split()))}


@pytest.fixture(scope="module")
def data(toy: Corpus, words: dict[str, int]) -> StudentData:
    """The toy corpus with uniform sampling."""

    def tokenize(texts: Any) -> Pieces:
        return Pieces.from_texts(texts, lambda text: [words[word] for word in text.split()])

    english = tokenize(toy.sentences)
    return StudentData(
        translations=TargetLines(
            tokenize(toy.translations), toy.rows.astype(np.int64), np.cumsum(np.ones(len(toy.translations)))
        ),
        sentences=TargetLines(english, np.arange(len(toy.sentences)), np.cumsum(np.ones(len(toy.sentences)))),
        english=english,
        targets=project(WordHashEncoder().encode(toy.sentences).astype(np.float16), 24).vectors,
    )


@pytest.fixture
def learn(data: StudentData, words: dict[str, int], small: Recipe, tmp_path: Path) -> Callable[..., Any]:
    """Trains on the toy corpus; returns the table and the reported steps."""

    def learned(
        file: str = "student.safetensors", *, stop: int | None = None, more: int = NEVER_USED, **changes: Any
    ) -> tuple[TokenVectors | None, list[tuple[str, int, int | None]]]:
        updates: list[tuple[str, int, int | None]] = []

        def progress(what: str, done: int, total: int | None) -> None:
            updates.append((what, done, total))
            if done == stop:
                raise KeyboardInterrupt

        recipe = replace(small, **changes)
        try:
            return train(data, recipe, len(words) + more, tmp_path / file, device="cpu", progress=progress), updates
        except KeyboardInterrupt:
            return None, updates

    return learned


def steps_of(updates: list[tuple[str, int, int | None]]) -> list[int]:
    return [done for _, done, _ in updates]


def loss_of(news: str) -> dict[str, float]:
    parts = news.removeprefix("training (").removesuffix(")").split(", ")
    return {name: float(value) for name, value in (part.split() for part in parts)}


def same(one: TokenVectors, other: TokenVectors) -> bool:
    return all(map(np.array_equal, one, other))


def by_piece(table: TokenVectors) -> np.ndarray:
    """Return the vector of each token."""
    vectors: np.ndarray = table.rows[table.mapping] * table.weights[:, None]
    return vectors


def vectors_of(table: TokenVectors, pieces: Pieces) -> np.ndarray:
    starts = pieces.starts[:-1]
    sums = np.add.reduceat(by_piece(table)[pieces.numbers], starts, axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@pytest.fixture
def _random_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start from a random table."""

    def noise(data: StudentData, recipe: Recipe, size: int, targets: Any) -> Any:
        return torch.randn(size, recipe.dim, generator=torch.Generator().manual_seed(5)) * 0.1

    monkeypatch.setattr("intentmatch.distill.student._initial_table", noise)


@pytest.mark.usefixtures("_random_start")
def test_every_term_of_the_loss_falls(learn: Callable[..., Any]) -> None:
    _, updates = learn()

    losses = [loss_of(news) for news, _, _ in updates]
    assert steps_of(updates) == list(range(1, 41))
    assert {total for _, _, total in updates} == {40}
    for part in ("teacher", "contrast", "pull", "pairs"):
        first, last = (np.mean([loss[part] for loss in some]) for some in (losses[:4], losses[-4:]))
        assert last < 0.5 * first, part


@pytest.mark.usefixtures("_random_start")
def test_texts_approach_their_targets_and_each_other(learn: Callable[..., Any], data: StudentData) -> None:
    before, after = learn("before", steps=0)[0], learn("after")[0]

    assert retrieval_accuracy(before, data) < 0.05
    assert retrieval_accuracy(after, data) > 0.95
    assert abs(agreement(before, data)) < 0.2
    assert agreement(after, data) > 0.8


def test_initial_table_is_useful_and_training_improves_it(learn: Callable[..., Any], data: StudentData) -> None:
    before, updates = learn("before", steps=0)
    after, _ = learn("after")

    assert updates == []
    assert 0.5 < agreement(before, data) < agreement(after, data)


def retrieval_accuracy(table: TokenVectors, data: StudentData) -> float:
    """Share of the translations that are nearest to their own English sentence."""
    english, translations = (vectors_of(table, pieces) for pieces in (data.english, data.translations.pieces))
    return float(np.mean((translations @ english.T).argmax(1) == data.translations.rows))


def agreement(table: TokenVectors, data: StudentData) -> float:
    """Mean cosine of the English sentences with their targets."""
    return float((vectors_of(table, data.english) * data.targets).sum(1).mean())


def test_unused_token_stays_zero(learn: Callable[..., Any]) -> None:
    table, _ = learn()

    assert not table.rows[-NEVER_USED:].any()
    assert table.rows[:-NEVER_USED].any(axis=1).all()
    assert (table.rows.dtype, table.rows.shape[1]) == (np.float32, 24)


def test_training_is_deterministic_for_a_seed(learn: Callable[..., Any]) -> None:
    first, again, other = (learn(name, seed=seed, steps=6)[0] for name, seed in (("a", 1), ("b", 1), ("c", 2)))

    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize(("stop", "goes_on_at"), [(3, 1), (7, 6), (13, 11), (16, 16)])
def test_resumed_training_gives_the_same_table(learn: Callable[..., Any], stop: int, goes_on_at: int) -> None:
    whole, _ = learn("whole", steps=16)
    assert learn(stop=stop, steps=16)[0] is None

    table, updates = learn(steps=16)

    assert steps_of(updates) == list(range(goes_on_at, 17))
    assert same(table, whole)


def test_finished_training_is_loaded(learn: Callable[..., Any]) -> None:
    table, _ = learn(steps=7)

    again, updates = learn(steps=7)

    assert updates == []
    assert same(again, table)


@pytest.mark.parametrize(
    "changes",
    [
        {"learning_rate": 0.02},
        {"steps": 8},
        {"source_weights": {"pen": 2.0}},
        {"language_weights": {"de": 2.0}},
        {"more": 9},
        {"seed": 4},
        {"rows": 40},
    ],
)
def test_state_of_another_recipe_is_ignored(learn: Callable[..., Any], changes: dict[str, Any]) -> None:
    learn(steps=7)
    changes = {"steps": 7, **changes}

    table, updates = learn(**changes)

    assert steps_of(updates)[0] == 1
    assert same(table, learn("alone", **changes)[0])


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_damaged_state_is_ignored(learn: Callable[..., Any], tmp_path: Path, damage: str) -> None:
    table, _ = learn(steps=7)
    file = tmp_path / "student.safetensors"
    content = file.read_bytes()
    file.write_bytes({"cut": content[:-50], "empty": b"", "garbage": b"no tensors" * 20}[damage])

    again, updates = learn(steps=7)

    assert steps_of(updates) == list(range(1, 8))
    assert same(again, table)


def test_save_is_atomic(learn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    learn(stop=7, steps=12)
    with monkeypatch.context() as pulled:
        pulled.setattr(Path, "replace", stopped)
        assert steps_of(learn(steps=12)[1]) == [6, 7, 8, 9, 10]

    table, updates = learn(steps=12)

    assert steps_of(updates) == list(range(6, 13))
    assert same(table, learn("whole", steps=12)[0])


def test_training_without_extra_sentences_and_dropout(learn: Callable[..., Any]) -> None:
    table, updates = learn(steps=5, sentences=0, dropout=0.0)

    assert np.isfinite(table.rows).all()
    assert np.isfinite(list(loss_of(updates[-1][0]).values())).all()


@pytest.mark.usefixtures("_random_start")
def test_dropped_tokens_are_not_updated(learn: Callable[..., Any]) -> None:
    none, some, all_of_it, without_a_step = (
        learn(f"{number}", steps=steps, dropout=dropout)[0]
        for number, (steps, dropout) in enumerate([(3, 1.0), (3, 0.5), (3, 0.0), (0, 0.0)])
    )

    assert same(none, without_a_step)
    assert not same(some, without_a_step)
    assert not same(some, all_of_it)


@pytest.mark.usefixtures("_random_start")
def test_learning_rate_decays(learn: Callable[..., Any], tmp_path: Path) -> None:
    start, end = learn("start", steps=0)[0].rows, learn("end")[0].rows
    learn("early", stop=6)
    learn("late", stop=36)
    fifth, thirty_fifth = (load_file(tmp_path / name)["table"] for name in ("early", "late"))

    assert np.linalg.norm(end - thirty_fifth) < 0.2 * np.linalg.norm(fifth - start)


ROWS = 30
"""For the 54 words of the toy."""


@pytest.fixture
def state(data: StudentData, words: dict[str, int], small: Recipe, tmp_path: Path) -> _State:
    """A partly trained student with fewer rows than tokens."""
    recipe = replace(small, rows=ROWS)
    state = _State(data, recipe, len(words) + NEVER_USED, tmp_path / "student.safetensors", "cpu")
    for _ in range(10):
        state.step_once()
    return state


def times_used(state: _State) -> np.ndarray:
    """Number of steps that updated each token."""
    counts: np.ndarray = state._updates[:, 0].numpy()
    return counts


def test_least_used_tokens_share_rows(state: _State) -> None:
    before, counts = state.table.numpy().copy(), times_used(state)

    state.share_rows()

    keeps = np.sort(np.argsort(-counts, kind="stable")[:ROWS])
    others = np.delete(np.arange(len(before)), keeps)
    assert state.row_of[keeps].tolist() == list(range(ROWS))
    assert (state.weights[keeps] == 1).all()
    assert np.array_equal(state.table.numpy(), before[keeps])
    assert counts[keeps].min() >= counts[others].max()
    assert len(others) > NEVER_USED


def test_shared_rows_keep_the_direction_of_a_token(state: _State) -> None:
    before = state.table.numpy().copy()
    state.share_rows()
    rows, row_of, weights = state.table.numpy(), state.row_of.numpy(), state.weights.numpy()
    cosines = before @ (rows / np.linalg.norm(rows, axis=1, keepdims=True)).T

    assert np.array_equal(cosines.argmax(1)[before.any(1)], row_of[before.any(1)])
    assert (weights >= 0).all()
    along = weights * np.linalg.norm(rows[row_of], axis=1)
    assert along == pytest.approx(cosines.max(1).clip(0), abs=1e-4)
    assert not weights[-NEVER_USED:].any()


def test_rows_are_shared_once(state: _State) -> None:
    state.share_rows()
    once = [tensor.clone() for tensor in (state.table, state.row_of, state.weights)]

    state.share_rows()

    assert all(map(torch.equal, once, (state.table, state.row_of, state.weights)))


def test_training_continues_with_shared_rows(learn: Callable[..., Any], data: StudentData) -> None:
    table, _ = learn(rows=ROWS)

    assert (table.rows.shape, table.mapping.dtype, table.weights.dtype) == ((ROWS, 24), np.int32, np.float32)
    assert table.weights.min() >= 0
    assert retrieval_accuracy(table, data) > 0.5
    assert learn("none", rows=ROWS, steps=0)[0].rows.shape == (ROWS, 24)


@pytest.mark.parametrize("more", [0, 1, 1000])
def test_no_rows_are_shared_if_all_tokens_fit(learn: Callable[..., Any], words: dict[str, int], more: int) -> None:
    table, _ = learn(rows=len(words) + NEVER_USED + more)

    assert np.array_equal(table.mapping, np.arange(len(words) + NEVER_USED))
    assert (table.weights == 1).all()
    assert same(table, learn("alone")[0])


@pytest.mark.parametrize(
    ("steps", "stop", "goes_on_at"),
    [(25, 19, 16), (25, 20, 16), (25, 21, 21), (25, 24, 21), (30, 25, 21), (30, 27, 26)],
)
def test_resuming_around_the_sharing_gives_the_same_table(
    learn: Callable[..., Any], steps: int, stop: int, goes_on_at: int
) -> None:
    whole, _ = learn("whole", steps=steps, rows=ROWS)
    learn(stop=stop, steps=steps, rows=ROWS)

    table, updates = learn(steps=steps, rows=ROWS)

    assert steps_of(updates) == list(range(goes_on_at, steps + 1))
    assert same(table, whole)


def test_unknown_device_is_refused(data: StudentData, small: Recipe, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="device"):
        train(data, small, 200, tmp_path / "student.safetensors", device="abacus")


def test_sampling_follows_the_weights() -> None:
    weights = np.array([0, 3, 0, 1, 6, 0])
    lines = TargetLines(Pieces.from_texts([""] * 6, lambda _: []), np.arange(6), np.cumsum(weights, dtype=np.float64))

    counts = np.bincount(lines.draw(10_000, np.random.default_rng(0)), minlength=6)

    assert (counts == 0).tolist() == [True, False, True, False, False, True]
    assert counts / 10_000 == pytest.approx(weights / 10, abs=0.02)
