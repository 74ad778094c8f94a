"""The training: that it learns, that a stop costs nothing, and that it never goes on from something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder
from safetensors.numpy import load_file

from intentmatch.core.errors import SettingsError
from intentmatch.distill import Corpus, Recipe
from intentmatch.distill.pieces import Pieces
from intentmatch.distill.student import Lesson, Lines, Table, _State, train
from intentmatch.distill.teacher import targets

torch = pytest.importorskip("torch", reason="needs the extra [distill]")

NEVER_USED = 3
"""Pieces at the end of the table that stand in no text."""


@pytest.fixture(autouse=True)
def _news_of_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """And everything is saved after each fifth."""
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_NEWS", 1)
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_SAVES", 5)


@pytest.fixture(scope="module")
def words(toy: Corpus) -> dict[str, int]:
    """A piece for each word of the toy."""
    texts = [*toy.sentences, *toy.translations]
    return {word: number for number, word in enumerate(dict.fromkeys(w for text in texts for w in text.split()))}


@pytest.fixture(scope="module")
def lesson(toy: Corpus, words: dict[str, int]) -> Lesson:
    """The toy, whose translations are drawn alike."""

    def cut(texts: Any) -> Pieces:
        return Pieces.cut(texts, lambda text: [words[word] for word in text.split()])

    english = cut(toy.sentences)
    return Lesson(
        translations=Lines(cut(toy.translations), toy.rows.astype(np.int64), np.cumsum(np.ones(len(toy.translations)))),
        sentences=Lines(english, np.arange(len(toy.sentences)), np.cumsum(np.ones(len(toy.sentences)))),
        english=english,
        targets=targets(WordHashEncoder().encode(toy.sentences).astype(np.float16), 24).vectors,
    )


@pytest.fixture
def learn(lesson: Lesson, words: dict[str, int], small: Recipe, tmp_path: Path) -> Callable[..., Any]:
    """Train on the toy: the table, and what was told of each step."""

    def learned(
        file: str = "student.safetensors", *, stop: int | None = None, more: int = NEVER_USED, **changes: Any
    ) -> tuple[Table | None, list[tuple[str, int, int | None]]]:
        told: list[tuple[str, int, int | None]] = []

        def tell(what: str, done: int, total: int | None) -> None:
            told.append((what, done, total))
            if done == stop:
                raise KeyboardInterrupt

        recipe = replace(small, **changes)
        try:
            return train(lesson, recipe, len(words) + more, tmp_path / file, device="cpu", progress=progress), told
        except KeyboardInterrupt:
            return None, told

    return learned


def steps_of(told: list[tuple[str, int, int | None]]) -> list[int]:
    return [done for _, done, _ in told]


def loss_of(news: str) -> dict[str, float]:
    parts = news.removeprefix("training (").removesuffix(")").split(", ")
    return {name: float(value) for name, value in (part.split() for part in parts)}


def same(one: Table, other: Table) -> bool:
    return all(map(np.array_equal, one, other))


def by_piece(table: Table) -> np.ndarray:
    """The vector of each piece."""
    vectors: np.ndarray = table.rows[table.mapping] * table.weights[:, None]
    return vectors


def vectors_of(table: Table, pieces: Pieces) -> np.ndarray:
    starts = pieces.starts[:-1]
    sums = np.add.reduceat(by_piece(table)[pieces.numbers], starts, axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@pytest.fixture
def _from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first table of noise, so that everything has to be learned."""

    def noise(lesson: Lesson, recipe: Recipe, size: int, targets: Any) -> Any:
        return torch.randn(size, recipe.dim, generator=torch.Generator().manual_seed(5)) * 0.1

    monkeypatch.setattr("intentmatch.distill.student._first_table", noise)


@pytest.mark.usefixtures("_from_nothing")
def test_every_part_of_the_loss_falls(learn: Callable[..., Any]) -> None:
    """From the first steps to the last, and all of them are told."""
    _, told = learn()

    losses = [loss_of(news) for news, _, _ in told]
    assert steps_of(told) == list(range(1, 41))
    assert {total for _, _, total in told} == {40}
    for part in ("teacher", "contrast", "pull", "pairs"):
        first, last = (np.mean([loss[part] for loss in some]) for some in (losses[:4], losses[-4:]))
        assert last < 0.5 * first, part


@pytest.mark.usefixtures("_from_nothing")
def test_texts_come_near_their_targets_and_each_other(learn: Callable[..., Any], lesson: Lesson) -> None:
    """Each translation is nearer to its English sentence than to any other, and sentences come where they belong."""
    before, after = learn("before", steps=0)[0], learn("after")[0]

    assert found_again(before, lesson) < 0.05
    assert found_again(after, lesson) > 0.95
    assert abs(agreement(before, lesson)) < 0.2
    assert agreement(after, lesson) > 0.8


def test_begins_with_what_is_easily_known(learn: Callable[..., Any], lesson: Lesson) -> None:
    """Without a step, pieces are already put at the mean of their sentences; the training makes it better."""
    before, told = learn("before", steps=0)
    after, _ = learn("after")

    assert told == []
    assert 0.5 < agreement(before, lesson) < agreement(after, lesson)


def found_again(table: Table, lesson: Lesson) -> float:
    """Share of the translations that are nearest to their own English sentence."""
    english, translations = (vectors_of(table, pieces) for pieces in (lesson.english, lesson.translations.pieces))
    return float(np.mean((translations @ english.T).argmax(1) == lesson.translations.rows))


def agreement(table: Table, lesson: Lesson) -> float:
    """Mean cosine of the English sentences with their targets."""
    return float((vectors_of(table, lesson.english) * lesson.targets).sum(1).mean())


def test_a_piece_in_no_text_stays_silent(learn: Callable[..., Any]) -> None:
    """It begins at zero and is never touched; all others say something."""
    table, _ = learn()

    assert not table.rows[-NEVER_USED:].any()
    assert table.rows[:-NEVER_USED].any(axis=1).all()
    assert (table.rows.dtype, table.rows.shape[1]) == (np.float32, 24)


def test_one_seed_gives_one_table(learn: Callable[..., Any]) -> None:
    """To the last bit; another seed gives another."""
    first, again, other = (learn(name, seed=seed, steps=6)[0] for name, seed in (("a", 1), ("b", 1), ("c", 2)))

    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize(("stop", "goes_on_at"), [(3, 1), (7, 6), (13, 11), (16, 16)])
def test_a_stop_changes_nothing(learn: Callable[..., Any], stop: int, goes_on_at: int) -> None:
    """A training that was stopped goes on from what was saved last, and ends as one that was not."""
    whole, _ = learn("whole", steps=16)
    assert learn(stop=stop, steps=16)[0] is None

    table, told = learn(steps=16)

    assert steps_of(told) == list(range(goes_on_at, 17))
    assert same(table, whole)


def test_a_training_that_is_done_is_not_done_again(learn: Callable[..., Any]) -> None:
    """Its table is read."""
    table, _ = learn(steps=7)

    again, told = learn(steps=7)

    assert told == []
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
def test_another_recipe_begins_anew(learn: Callable[..., Any], changes: dict[str, Any]) -> None:
    """What was saved by another recipe, or for another number of pieces, is no beginning of this one."""
    learn(steps=7)
    changes = {"steps": 7, **changes}

    table, told = learn(**changes)

    assert steps_of(told)[0] == 1
    assert same(table, learn("alone", **changes)[0])


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_a_damaged_state_begins_anew(learn: Callable[..., Any], tmp_path: Path, damage: str) -> None:
    """And ends as if there had been none."""
    table, _ = learn(steps=7)
    file = tmp_path / "student.safetensors"
    content = file.read_bytes()
    file.write_bytes({"cut": content[:-50], "empty": b"", "garbage": b"no tensors" * 20}[damage])

    again, told = learn(steps=7)

    assert steps_of(told) == list(range(1, 8))
    assert same(again, table)


def test_saves_all_or_nothing(learn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop while the file is written leaves the one before it whole."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    learn(stop=7, steps=12)
    with monkeypatch.context() as pulled:
        pulled.setattr(Path, "replace", stopped)
        assert steps_of(learn(steps=12)[1]) == [6, 7, 8, 9, 10]

    table, told = learn(steps=12)

    assert steps_of(told) == list(range(6, 13))
    assert same(table, learn("whole", steps=12)[0])


def test_learns_from_pairs_alone(learn: Callable[..., Any]) -> None:
    """Without further sentences, typing mistakes or pieces that are left out."""
    table, told = learn(steps=5, sentences=0, dropout=0.0)

    assert np.isfinite(table.rows).all()
    assert np.isfinite(list(loss_of(told[-1][0]).values())).all()


@pytest.mark.usefixtures("_from_nothing")
def test_what_is_left_out_is_not_moved(learn: Callable[..., Any]) -> None:
    """Where all pieces are left out of every text nothing is learned; where half of them are, something else."""
    none, some, all_of_it, without_a_step = (
        learn(f"{number}", steps=steps, dropout=dropout)[0]
        for number, (steps, dropout) in enumerate([(3, 1.0), (3, 0.5), (3, 0.0), (0, 0.0)])
    )

    assert same(none, without_a_step)
    assert not same(some, without_a_step)
    assert not same(some, all_of_it)


@pytest.mark.usefixtures("_from_nothing")
def test_the_last_steps_are_small_ones(learn: Callable[..., Any], tmp_path: Path) -> None:
    """The learning rate falls to a fiftieth."""
    start, end = learn("start", steps=0)[0].rows, learn("end")[0].rows
    learn("early", stop=6)
    learn("late", stop=36)
    fifth, thirty_fifth = (load_file(tmp_path / name)["table"] for name in ("early", "late"))

    assert np.linalg.norm(end - thirty_fifth) < 0.2 * np.linalg.norm(fifth - start)


ROWS = 30
"""For the 54 words of the toy."""


@pytest.fixture
def state(lesson: Lesson, words: dict[str, int], small: Recipe, tmp_path: Path) -> _State:
    """A student that has learned for some steps, and has too few rows for its pieces."""
    recipe = replace(small, rows=ROWS)
    state = _State(lesson, recipe, len(words) + NEVER_USED, tmp_path / "student.safetensors", "cpu")
    for _ in range(10):
        state.learn()
    return state


def times_used(state: _State) -> np.ndarray:
    """How many steps touched each piece."""
    counts: np.ndarray = state._touched[:, 0].numpy()
    return counts


def test_the_least_used_share(state: _State) -> None:
    """The others keep a row of their own, as it is."""
    before, counts = state.table.numpy().copy(), times_used(state)

    state.share()

    keeps = np.sort(np.argsort(-counts, kind="stable")[:ROWS])
    others = np.delete(np.arange(len(before)), keeps)
    assert state.row_of[keeps].tolist() == list(range(ROWS))
    assert (state.weights[keeps] == 1).all()
    assert np.array_equal(state.table.numpy(), before[keeps])
    assert counts[keeps].min() >= counts[others].max()
    assert len(others) > NEVER_USED


def test_who_shares_points_as_before(state: _State) -> None:
    """As nearly as any row that is left does, and with what of its length lies along that row; never backwards."""
    before = state.table.numpy().copy()
    state.share()
    rows, row_of, weights = state.table.numpy(), state.row_of.numpy(), state.weights.numpy()
    cosines = before @ (rows / np.linalg.norm(rows, axis=1, keepdims=True)).T

    assert np.array_equal(cosines.argmax(1)[before.any(1)], row_of[before.any(1)])
    assert (weights >= 0).all()
    along = weights * np.linalg.norm(rows[row_of], axis=1)
    assert along == pytest.approx(cosines.max(1).clip(0), abs=1e-4)
    assert not weights[-NEVER_USED:].any()


def test_rows_are_shared_once(state: _State) -> None:
    """A second time there is room for all that are left."""
    state.share()
    once = [tensor.clone() for tensor in (state.table, state.row_of, state.weights)]

    state.share()

    assert all(map(torch.equal, once, (state.table, state.row_of, state.weights)))


def test_learning_goes_on_with_shared_rows(learn: Callable[..., Any], lesson: Lesson) -> None:
    """In as many rows as the recipe has, with a weight for each piece that is never below nothing."""
    table, _ = learn(rows=ROWS)

    assert (table.rows.shape, table.mapping.dtype, table.weights.dtype) == ((ROWS, 24), np.int32, np.float32)
    assert table.weights.min() >= 0
    assert found_again(table, lesson) > 0.5
    assert learn("none", rows=ROWS, steps=0)[0].rows.shape == (ROWS, 24)


@pytest.mark.parametrize("more", [0, 1, 1000])
def test_nothing_is_shared_where_there_is_room(learn: Callable[..., Any], words: dict[str, int], more: int) -> None:
    """For each piece a row of its own; then it makes no difference how much room there is."""
    table, _ = learn(rows=len(words) + NEVER_USED + more)

    assert np.array_equal(table.mapping, np.arange(len(words) + NEVER_USED))
    assert (table.weights == 1).all()
    assert same(table, learn("alone")[0])


@pytest.mark.parametrize(
    ("steps", "stop", "goes_on_at"),
    [(25, 19, 16), (25, 20, 16), (25, 21, 21), (25, 24, 21), (30, 25, 21), (30, 27, 26)],
)
def test_a_stop_about_the_sharing_changes_nothing(
    learn: Callable[..., Any], steps: int, stop: int, goes_on_at: int
) -> None:
    """It is after 20 of 25 steps, as something is saved too, and after 24 of 30."""
    whole, _ = learn("whole", steps=steps, rows=ROWS)
    learn(stop=stop, steps=steps, rows=ROWS)

    table, told = learn(steps=steps, rows=ROWS)

    assert steps_of(told) == list(range(goes_on_at, steps + 1))
    assert same(table, whole)


def test_a_device_that_is_not_there_is_named(lesson: Lesson, small: Recipe, tmp_path: Path) -> None:
    """Before anything is learned."""
    with pytest.raises(SettingsError, match="device"):
        train(lesson, small, 200, tmp_path / "student.safetensors", device="abacus")


def test_draws_by_weight() -> None:
    """In proportion; what weighs nothing is never drawn, wherever it stands."""
    weights = np.array([0, 3, 0, 1, 6, 0])
    lines = Lines(Pieces.cut([""] * 6, lambda _: []), np.arange(6), np.cumsum(weights, dtype=np.float64))

    counts = np.bincount(lines.draw(10_000, np.random.default_rng(0)), minlength=6)

    assert (counts == 0).tolist() == [True, False, True, False, False, True]
    assert counts / 10_000 == pytest.approx(weights / 10, abs=0.02)
