"""What a registry teaches is worked out once, and read again for as long as it would come out the same."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

import numpy as np
import pytest

from intentmatch import Intent, Registry, Utterance
from intentmatch.core.settings import Settings
from intentmatch.core.types import Vectors
from intentmatch.learning import training as learning
from intentmatch.learning.training import PreviousTraining, Trained, _features, load_or_train, train

WORDS = ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]


@pytest.fixture(scope="module")
def registry() -> Registry:
    """Eight intents of six lines, two of them sharing words."""
    return Registry(
        tuple(
            Intent(
                word, tuple(Utterance(f"{start} the {word} {number}", "en") for number, start in enumerate("abcdef"))
            )
            for word in WORDS
        )
    )


@pytest.fixture(scope="module")
def vectors(registry: Registry) -> Vectors:
    """Lines scattered so widely that some are misunderstood."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(len(registry), 16))
    rows = centres[list(registry.owners)] + 1.2 * random.normal(size=(len(registry.utterances), 16))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def labels(registry: Registry) -> Vectors:
    """Near the lines of their intents."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(len(registry), 16))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry each time that something is learned rather than read."""
    calls: list[int] = []

    def counting(*given: object) -> Trained:
        calls.append(1)
        return train(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(learning, "train", counting)
    return calls


def same(one: Trained, other: Trained) -> bool:
    assert one.trained_head is not None
    assert other.trained_head is not None
    tensors, others = one.trained_head.to_tensors(), other.trained_head.to_tensors()
    return one.calibration == other.calibration and all(
        tensors[name].tobytes() == others[name].tobytes() and tensors[name].dtype == others[name].dtype
        for name in {*tensors, *others}
    )


def test_learns_once(registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, counted: list[int]) -> None:
    """The second time it is read, to the last bit."""
    first = load_or_train(registry, vectors, labels, Settings(), tmp_path)
    second = load_or_train(registry, vectors.copy(), labels, Settings(), tmp_path)

    assert same(first, second)
    assert same(first, train(registry, vectors, labels, Settings()))
    assert len(counted) == 1


def test_without_a_folder_nothing_is_kept(
    registry: Registry, vectors: Vectors, labels: Vectors, counted: list[int]
) -> None:
    """As with `cache: off`."""
    load_or_train(registry, vectors, labels, Settings(), None)
    load_or_train(registry, vectors, labels, Settings(), None)

    assert len(counted) == 2


@pytest.mark.parametrize(
    "settings",
    [Settings(scorer="cosine"), Settings(aggregation="max"), Settings(target={"balance": True})],
    ids=["scorer", "aggregation", "target"],
)
def test_other_settings_teach_something_else(
    registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, counted: list[int], settings: Settings
) -> None:
    """Those that learning looks at; a threshold of the author's is none of them."""
    load_or_train(registry, vectors, labels, Settings(), tmp_path)
    load_or_train(registry, vectors, labels, Settings(threshold={"default": 0.5}, top_k=1), tmp_path)
    assert len(counted) == 1

    load_or_train(registry, vectors, labels, settings, tmp_path)
    assert len(counted) == 2


def test_every_edit_is_seen(
    registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, counted: list[int]
) -> None:
    """A name, a title, a line, a language, a vector; a place in a file or a description is none that counts."""
    first, *others = registry.intents
    line = first.utterances[0]
    load_or_train(registry, vectors, labels, Settings(), tmp_path)

    described = Registry((dataclasses.replace(first, description="An order"), *others))
    load_or_train(described, vectors, labels, Settings(), tmp_path)
    assert len(counted) == 1

    edits = [
        dataclasses.replace(first, name="other"),
        dataclasses.replace(first, title="An order"),
        dataclasses.replace(first, utterances=(Utterance("something else", "en"), *first.utterances[1:])),
        dataclasses.replace(first, utterances=(Utterance(line.text, "de"), *first.utterances[1:])),
    ]
    for edited in edits:
        load_or_train(Registry((edited, *others)), vectors, labels, Settings(), tmp_path)
    load_or_train(registry, vectors[::-1].copy(), labels, Settings(), tmp_path)
    assert len(counted) == 6


@pytest.mark.parametrize("content", [b"", b"no tensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_damaged_file_costs_only_time(
    registry: Registry,
    vectors: Vectors,
    labels: Vectors,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    content: bytes,
) -> None:
    """It is said, learned again, and written anew."""
    first = load_or_train(registry, vectors, labels, Settings(), tmp_path)
    (file,) = (tmp_path / "learned").iterdir()
    file.write_bytes(content)

    with caplog.at_level(logging.WARNING):
        assert same(first, load_or_train(registry, vectors, labels, Settings(), tmp_path))
    assert "training again" in caplog.text
    caplog.clear()
    assert same(first, load_or_train(registry, vectors, labels, Settings(), tmp_path))
    assert caplog.text == ""


def test_a_folder_that_takes_nothing_is_a_warning(
    registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "learned").write_text("")

    with caplog.at_level(logging.WARNING):
        assert same(
            load_or_train(registry, vectors, labels, Settings(), tmp_path), train(registry, vectors, labels, Settings())
        )
    assert "cannot be cached" in caplog.text


def test_old_files_make_room(
    registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so many are kept, and nothing unfinished lies about."""
    monkeypatch.setattr(learning, "_MOST_FILES", 2)
    for precision in (0.8, 0.9, 0.95, 0.99):
        load_or_train(registry, vectors, labels, Settings(target={"precision": precision}), tmp_path)

    assert [file.suffix for file in (tmp_path / "learned").iterdir()] == [".safetensors"] * 2


def test_labels_count_where_they_tell_the_intents_apart(registry: Registry, vectors: Vectors) -> None:
    """Near the lines of their intents they are hints; names that mean nothing to the encoder change nothing."""
    centres = np.stack([vectors[np.array(registry.owners) == intent].mean(axis=0) for intent in range(len(registry))])
    telling = (centres / np.linalg.norm(centres, axis=1, keepdims=True)).astype(np.float32)
    nothing = np.zeros_like(telling)

    hinted, plain, misleading = (
        _features(registry, vectors, labels, Settings()).fitting
        for labels in (telling, nothing, np.roll(telling, 1, axis=0))
    )

    assert len(hinted.rows) == hinted.utterances + len(registry) == len(registry.utterances) + len(registry)
    assert len(plain.rows) == len(misleading.rows) == plain.utterances


def test_meanwhile_the_head_is_new_and_the_confidence_is_the_old_one(
    registry: Registry, vectors: Vectors, labels: Vectors, tmp_path: Path, counted: list[int]
) -> None:
    """Nothing is held out and nothing kept for it; what was learned of the very same lines is better still."""
    smaller = Registry(registry.intents[1:])
    before = PreviousTraining(*train(smaller, vectors[6:], labels[1:], Settings()), smaller)

    given = load_or_train(registry, vectors, labels, Settings(), tmp_path, provisional=before)
    full = load_or_train(registry, vectors, labels, Settings(), tmp_path)
    again = load_or_train(registry, vectors, labels, Settings(), tmp_path, provisional=before)

    assert given.calibration is before.calibration
    assert given.trained_head is not None
    assert full.trained_head is not None
    for head in (given.trained_head.head, full.trained_head.head):
        logits = vectors @ head.weights[: vectors.shape[1]] + head.weights[-1]
        assert (logits.argmax(axis=1) == registry.owners).mean() > 0.7
    assert same(full, again)
    assert len(counted) == 1


def test_of_a_large_registry_the_head_is_that_of_before_meanwhile(
    registry: Registry, vectors: Vectors, labels: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of its utterances are those of now, also where lines were moved, removed and added."""
    monkeypatch.setattr(learning, "_MOST_NUMBERS_PROVISIONALLY", 1)
    first, second, *others = registry.intents
    edited = Registry(
        (
            dataclasses.replace(
                first, utterances=(*first.utterances[:2], Utterance("another line"), first.utterances[0])
            ),
            dataclasses.replace(second, utterances=second.utterances[::-1]),
            *others,
        )
    )
    before = PreviousTraining(*train(registry, vectors, labels, Settings()), registry)
    assert before.trained_head is not None

    given = load_or_train(edited, vectors[: len(edited.utterances)], labels, Settings(), None, provisional=before)

    assert given.trained_head is before.trained_head


def test_an_intent_that_is_new_is_fitted_meanwhile_however_large_the_registry(
    registry: Registry, vectors: Vectors, labels: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head of before knows nothing of it."""
    monkeypatch.setattr(learning, "_MOST_NUMBERS_PROVISIONALLY", 1)
    smaller = Registry(registry.intents[1:])
    before = PreviousTraining(*train(smaller, vectors[6:], labels[1:], Settings()), smaller)

    given = load_or_train(registry, vectors, labels, Settings(), None, provisional=before)

    assert given.trained_head is not None
    assert given.trained_head.head.weights.shape[1] == len(registry)


def test_without_a_head_before_there_is_none_meanwhile(registry: Registry, vectors: Vectors, labels: Vectors) -> None:
    """As where the registry was too small to tell."""
    before = PreviousTraining(train(registry, vectors, labels, Settings()).calibration, None, registry)

    assert load_or_train(registry, vectors, labels, Settings(), None, provisional=before).trained_head is None
