"""Training a registry once, and loading the result from the cache."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

import numpy as np
import pytest

from intentmatch import Intent, IntentMatchError, Registry, Utterance
from intentmatch.core.settings import Settings
from intentmatch.core.types import Case, Vectors
from intentmatch.encoders.translations import Translations
from intentmatch.learning import training, training_cache
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.labelled_cases import Labelled
from intentmatch.learning.labelled_share import labelled_share
from intentmatch.learning.threshold_choice import LearnedCut
from intentmatch.learning.training import (
    CrossValidated,
    PreviousTraining,
    Trained,
    TrainingData,
    _features,
    cross_validate_registry,
)
from intentmatch.learning.training_cache import cached_cases, load_or_train
from intentmatch.learning.word_alignment import word_weight
from intentmatch.pieces.embedded import known_pieces

WORDS = ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]


@pytest.fixture(scope="module")
def registry() -> Registry:
    """Eight intents of six utterances that share words."""
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
    """Vectors scattered so widely that some utterances are classified wrongly."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(len(registry), 16))
    rows = centres[list(registry.owners)] + 1.2 * random.normal(size=(len(registry.utterances), 16))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def labels(registry: Registry) -> Vectors:
    """Random label vectors, the same as the centres of the utterances."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(len(registry), 16))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def data(registry: Registry, vectors: Vectors, labels: Vectors) -> TrainingData:
    return TrainingData(registry, vectors, labels, Settings(), "static")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each training that was not loaded from the cache."""
    calls: list[int] = []

    def counting(*arguments: object, **options: object) -> CrossValidated:
        calls.append(1)
        return cross_validate_registry(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(training_cache, "cross_validate_registry", counting)
    return calls


def same(one: Trained, other: Trained) -> bool:
    assert one.trained_head is not None
    assert other.trained_head is not None
    tensors, others = one.trained_head.to_tensors(), other.trained_head.to_tensors()
    return one.calibration == other.calibration and all(
        tensors[name].tobytes() == others[name].tobytes() and tensors[name].dtype == others[name].dtype
        for name in {*tensors, *others}
    )


def test_second_training_is_loaded_from_the_cache(data: TrainingData, tmp_path: Path, counted: list[int]) -> None:
    """To the last bit."""
    first = load_or_train(data, tmp_path)
    second = load_or_train(data._replace(vectors=data.vectors.copy()), tmp_path)

    assert len(counted) == 1
    assert same(first, second)
    assert same(first, load_or_train(data, None))


def test_held_out_cases_are_cached_with_the_training(data: TrainingData, tmp_path: Path) -> None:
    load_or_train(data, tmp_path)

    found = cached_cases(data, tmp_path)

    wanted = cross_validate_registry(data).held_out
    assert found is not None
    for name in HeldOut.__slots__:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert cached_cases(data._replace(settings=Settings(aggregation="max")), tmp_path) is None
    assert cached_cases(data, None) is None


def test_damaged_cache_has_no_held_out_cases(data: TrainingData, tmp_path: Path) -> None:
    load_or_train(data, tmp_path)
    (file,) = (tmp_path / "learned").glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-100])

    assert cached_cases(data, tmp_path) is None


def test_without_a_folder_nothing_is_cached(data: TrainingData, counted: list[int]) -> None:
    load_or_train(data, None)
    load_or_train(data, None)

    assert len(counted) == 2


@pytest.mark.parametrize(
    "settings",
    [Settings(scorer="cosine"), Settings(aggregation="max"), Settings(target={"balance": True})],
    ids=["scorer", "aggregation", "target"],
)
def test_cache_depends_on_the_settings_used_in_training(
    data: TrainingData, tmp_path: Path, counted: list[int], settings: Settings
) -> None:
    """Not on others, such as the author's threshold."""
    load_or_train(data, tmp_path)
    load_or_train(data._replace(settings=Settings(threshold={"default": 0.5}, top_k=1)), tmp_path)
    assert len(counted) == 1

    load_or_train(data._replace(settings=settings), tmp_path)
    assert len(counted) == 2


def test_edit_that_affects_training_misses_the_cache(
    data: TrainingData, registry: Registry, tmp_path: Path, counted: list[int]
) -> None:
    """A description does not affect it."""
    first, *others = registry.intents
    line = first.utterances[0]
    load_or_train(data, tmp_path)

    described = Registry((dataclasses.replace(first, description="An order"), *others))
    load_or_train(data._replace(registry=described), tmp_path)
    assert len(counted) == 1

    edits = [
        dataclasses.replace(first, name="other"),
        dataclasses.replace(first, title="An order"),
        dataclasses.replace(first, utterances=(Utterance("something else", "en"), *first.utterances[1:])),
        dataclasses.replace(first, utterances=(Utterance(line.text, "de"), *first.utterances[1:])),
    ]
    for edited in edits:
        load_or_train(data._replace(registry=Registry((edited, *others))), tmp_path)
    load_or_train(data._replace(vectors=data.vectors[::-1].copy()), tmp_path)
    assert len(counted) == 6


def test_cache_depends_on_labelled_messages_that_are_learned_from(
    data: TrainingData, registry: Registry, vectors: Vectors, tmp_path: Path, counted: list[int]
) -> None:
    """A cached training has the labelled share too."""
    cases = tuple(Case(f"my {word} {number}", word) for word in WORDS for number in range(4))
    other = (Case("my other order", "order"), *cases[1:])
    for tests in ((), cases, other):
        bot = dataclasses.replace(registry, tests=tests)
        share = labelled_share(tests)
        labelled = None if share is None else Labelled(share, tests, vectors[: len(tests)])
        first, again = (load_or_train(data._replace(registry=bot, labelled=labelled), tmp_path) for _ in range(2))
        assert again.calibration == first.calibration
        assert again.calibration.labelled == share
    assert len(counted) == 3
    load_or_train(data._replace(registry=dataclasses.replace(registry, tests=cases)), tmp_path)
    assert len(counted) == 3


@pytest.mark.parametrize("content", [b"", b"no tensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}"])
def test_damaged_cache_file_is_trained_and_written_again(
    data: TrainingData, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    first = load_or_train(data, tmp_path)
    (file,) = (tmp_path / "learned").iterdir()
    file.write_bytes(content)

    with caplog.at_level(logging.WARNING):
        assert same(first, load_or_train(data, tmp_path))
    assert "training again" in caplog.text
    caplog.clear()
    assert same(first, load_or_train(data, tmp_path))
    assert caplog.text == ""


def test_flipped_bits_of_the_cache_are_noticed(
    data: TrainingData, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Damage anywhere in the file is trained again: it must never decide."""
    first = load_or_train(data, tmp_path)
    (file,) = (tmp_path / "learned").iterdir()
    whole = file.read_bytes()
    for position in (4, 40, whole.index(b"curve"), len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 4]) + whole[position + 1 :])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert same(first, load_or_train(data, tmp_path))
        assert "training again" in caplog.text


def test_file_of_another_registry_in_the_cache_is_noticed(
    data: TrainingData, registry: Registry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its digest is right, but it was copied over the file of this registry, as by a repair of a file system."""
    first = load_or_train(data, tmp_path)
    (file,) = (tmp_path / "learned").iterdir()
    load_or_train(data._replace(vectors=data.vectors[::-1].copy()), tmp_path)
    (other,) = set((tmp_path / "learned").iterdir()) - {file}
    file.write_bytes(other.read_bytes())

    with caplog.at_level(logging.WARNING):
        assert same(first, load_or_train(data, tmp_path))
    assert f"it is a copy of {other.name}" in caplog.text


def test_what_another_weight_of_words_trained_is_not_read_from_the_cache(data: TrainingData, tmp_path: Path) -> None:
    encoders = ("static", "onnx:minilm")
    trained = [load_or_train(data._replace(encoder=name), tmp_path) for name in encoders]

    assert [found.trained_head.words.weight for found in trained] == [word_weight(name) for name in encoders]


def test_cache_folder_that_cannot_be_written_is_a_warning(
    data: TrainingData, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "learned").write_text("")

    with caplog.at_level(logging.WARNING):
        assert same(load_or_train(data, tmp_path), load_or_train(data, None))
    assert "cannot be cached" in caplog.text


def test_old_cache_files_are_deleted(data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_cache, "_MOST_FILES", 2)
    for precision in (0.8, 0.9, 0.95, 0.99):
        load_or_train(data._replace(settings=Settings(target={"precision": precision})), tmp_path)

    assert [file.suffix for file in (tmp_path / "learned").iterdir()] == [".safetensors"] * 2


def test_file_that_another_process_removes_meanwhile_is_no_warning(
    data: TrainingData, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A link to nothing is listed, and cannot be examined: as a file that is removed between the two."""
    (tmp_path / "learned").mkdir()
    (tmp_path / "learned" / "gone.safetensors").symlink_to(tmp_path / "nothing")

    load_or_train(data, tmp_path)

    assert caplog.text == ""


def test_labels_are_hints_only_if_meaningful(data: TrainingData, registry: Registry, vectors: Vectors) -> None:
    centres = np.stack([vectors[np.array(registry.owners) == intent].mean(axis=0) for intent in range(len(registry))])
    meaningful = (centres / np.linalg.norm(centres, axis=1, keepdims=True)).astype(np.float32)
    zeros = np.zeros_like(meaningful)

    hinted, plain, misleading = (
        _features(data._replace(labels=labels)).fitting
        for labels in (meaningful, zeros, np.roll(meaningful, 1, axis=0))
    )

    assert len(hinted.rows) == hinted.utterances + len(registry) == len(registry.utterances) + len(registry)
    assert len(plain.rows) == len(misleading.rows) == plain.utterances


def test_provisional_training_keeps_the_calibration_and_trains_the_head(
    data: TrainingData, registry: Registry, vectors: Vectors, tmp_path: Path, counted: list[int]
) -> None:
    """It is not cached; a cached result of the same utterances is preferred."""
    smaller = Registry(registry.intents[1:])
    before = PreviousTraining(
        *load_or_train(data._replace(registry=smaller, vectors=data.vectors[6:], labels=data.labels[1:]), None), smaller
    )
    counted.clear()

    provisional = load_or_train(data, tmp_path, provisional=before)
    full = load_or_train(data, tmp_path)
    again = load_or_train(data, tmp_path, provisional=before)

    assert provisional.calibration is before.calibration
    assert provisional.trained_head is not None
    assert full.trained_head is not None
    for head in (provisional.trained_head.head, full.trained_head.head):
        logits = vectors @ head.weights[: vectors.shape[1]] + head.weights[-1]
        assert (logits.argmax(axis=1) == registry.owners).mean() > 0.7
    assert same(full, again)
    assert len(counted) == 1


def test_edit_that_leaves_no_head_is_trained_at_once(data: TrainingData, registry: Registry) -> None:
    """The calibration before is one of a head, whose evidence is on another scale than scores."""
    before = PreviousTraining(*load_or_train(data, None), registry)
    alone = Registry(registry.intents[:1])
    count = len(alone.utterances)

    after = load_or_train(
        data._replace(registry=alone, vectors=data.vectors[:count], labels=data.labels[:1]), None, provisional=before
    )

    assert before.trained_head is not None
    assert after.trained_head is None
    assert after.calibration is not before.calibration


def test_provisional_training_of_a_large_registry_keeps_the_head(
    data: TrainingData, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the intents are the same; the words are those of the new utterances."""
    monkeypatch.setattr(training, "_MOST_NUMBERS_PROVISIONALLY", 1)
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
    before = PreviousTraining(*load_or_train(data, None), registry)
    assert before.trained_head is not None

    provisional = load_or_train(
        data._replace(registry=edited, vectors=data.vectors[: len(edited.utterances)]), None, provisional=before
    )

    assert provisional.trained_head is not None
    assert provisional.trained_head.head is before.trained_head.head
    assert provisional.trained_head.words.similarities(known_pieces("another line"), [2]) == [pytest.approx(1.0)]

    # What asks about held-out lines must not use a head that has learned them.
    before = before._replace(keeps_head=False)
    held_out = load_or_train(
        data._replace(registry=edited, vectors=data.vectors[: len(edited.utterances)]), None, provisional=before
    )
    assert held_out.trained_head is not None
    assert held_out.calibration is before.calibration
    assert not np.array_equal(held_out.trained_head.head.weights, provisional.trained_head.head.weights)


def test_provisional_training_with_a_new_intent_trains_the_head(
    data: TrainingData, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even of a large registry."""
    monkeypatch.setattr(training, "_MOST_NUMBERS_PROVISIONALLY", 1)
    smaller = Registry(registry.intents[1:])
    before = PreviousTraining(
        *load_or_train(data._replace(registry=smaller, vectors=data.vectors[6:], labels=data.labels[1:]), None), smaller
    )

    provisional = load_or_train(data, None, provisional=before)

    assert provisional.trained_head is not None
    assert provisional.trained_head.head.weights.shape[1] == len(registry)


def test_provisional_training_without_a_previous_head_has_none(data: TrainingData, registry: Registry) -> None:
    before = PreviousTraining(load_or_train(data, None).calibration, None, None, registry)

    assert load_or_train(data, None, provisional=before).trained_head is None


@pytest.fixture(scope="module")
def translations() -> Translations:
    """Pairs with cosines of 0.9 to 0.99."""
    random = np.random.default_rng(3)
    residuals = random.normal(size=(50, 16))
    residuals /= np.linalg.norm(residuals, axis=1, keepdims=True)
    return Translations(random.uniform(0.9, 0.99, 50).astype(np.float32), residuals.astype(np.float32))


def test_translations_give_a_second_calibration(data: TrainingData, translations: Translations) -> None:
    """The first one and the head stay as they are."""
    without = load_or_train(data, None)
    trained = load_or_train(data._replace(translations=translations), None)

    assert same(trained, without)
    assert without.foreign is None
    assert trained.foreign is not None
    assert trained.foreign.cut is not None
    assert trained.foreign != trained.calibration
    assert trained == load_or_train(data._replace(translations=translations), None)._replace(
        trained_head=trained.trained_head
    )


def test_second_calibration_is_cached(
    data: TrainingData, translations: Translations, tmp_path: Path, counted: list[int]
) -> None:
    """Other translations, or none, are trained again."""
    first = load_or_train(data._replace(translations=translations), tmp_path)
    second = load_or_train(data._replace(translations=translations), tmp_path)
    assert (len(counted), second.foreign) == (1, first.foreign)

    assert load_or_train(data, tmp_path).foreign is None
    load_or_train(data._replace(translations=translations.first(20)), tmp_path)
    assert len(counted) == 3


def test_provisional_training_keeps_both_calibrations(
    data: TrainingData, registry: Registry, translations: Translations
) -> None:
    before = PreviousTraining(*load_or_train(data._replace(translations=translations), None), registry)

    provisional = load_or_train(data._replace(translations=translations), None, provisional=before)

    assert provisional.foreign is before.foreign is not None


def test_no_second_calibration_where_translations_are_never_understood(
    data: TrainingData, translations: Translations
) -> None:
    """As with an encoder of one language: such messages then have the calibration of all."""
    nowhere = translations._replace(cosines=np.full(50, -0.9, dtype=np.float32))

    assert load_or_train(data._replace(translations=nowhere), None).foreign is None


def test_precision_out_of_reach_is_not_paid_for_in_other_languages(
    data: TrainingData, translations: Translations
) -> None:
    """Then the second calibration has the threshold with the best balance; what can be reached is used."""
    far = translations._replace(cosines=np.full(50, 0.4, dtype=np.float32))

    def foreign(target: dict[str, float | bool]) -> LearnedCut:
        cut = load_or_train(data._replace(settings=Settings(target=target), translations=far), None).foreign.cut
        assert cut is not None
        return cut

    balanced = foreign({"balance": True})
    assert foreign({"precision": 0.999, "give_up": 0.1}) == balanced
    assert foreign({"precision": balanced.precision / 2}).value < 1.0
    assert foreign({"false_accept": 0.0}) != balanced


def test_translations_of_an_utterance_are_one_case(data: TrainingData, translations: Translations) -> None:
    trained = load_or_train(data._replace(translations=translations), None)

    assert trained.foreign is not None
    assert trained.foreign.cases <= trained.calibration.cases


@pytest.mark.parametrize("intents", [1, 8])
def test_flags_of_the_processor_are_ignored(registry: Registry, vectors: Vectors, labels: Vectors, intents: int):
    """Some BLAS libraries raise them for ordinary numbers; a small exponential raises one for certain."""
    some = Registry(registry.intents[:intents])
    data = TrainingData(some, vectors[: len(some.utterances)], labels[:intents], Settings(), "static")

    with np.errstate(all="raise"):
        found = load_or_train(data, None)

    assert (found.trained_head is None) == (intents == 1)


def test_weights_that_are_not_finite_are_an_error(registry: Registry, vectors: Vectors, labels: Vectors):
    damaged = vectors.copy()
    damaged[3] = np.inf

    with pytest.raises(IntentMatchError, match=r"not finite.*`scorer: cosine`"):
        load_or_train(TrainingData(registry, damaged, labels, Settings(), "static"), None)
