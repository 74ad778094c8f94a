"""Heads of questions are cached, and trained again if anything that they are trained on changes."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from intentmatch.artefact.build import everyday_vectors
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, TraitQuestion, Utterance
from intentmatch.encoders import load_encoder
from intentmatch.encoders.encode import encode_all
from intentmatch.learning import trait_cache
from intentmatch.learning.trait_cache import load_or_train_traits
from intentmatch.learning.traits import train_traits, trait_data

YES = tuple(map(Utterance, ["I need it today", "please hurry", "it cannot wait", "as soon as possible", "right now"]))
NO = tuple(map(Utterance, ["no hurry", "take your time", "there is no rush", "next week is enough", "it can wait"]))
INTENTS = (Intent("status", (Utterance("where is my order"), Utterance("track my parcel"))),)


def registry_of(**answers: tuple[Utterance, ...]) -> Registry:
    return Registry(INTENTS, questions=(TraitQuestion("urgent", answers),))


def data_of(registry: Registry):
    encoder = load_encoder(Settings())
    utterances, lines = (
        encode_all(encoder, [line.text for line in of], "utterance")
        for of in (registry.utterances, registry.question_lines)
    )
    return trait_data(registry, utterances, lines, everyday_vectors(registry, encoder))


@pytest.fixture(scope="module")
def data():
    return data_of(registry_of(yes=YES, no=NO))


@pytest.fixture
def counted(monkeypatch) -> list[int]:
    """How many questions each training had."""
    found: list[int] = []

    def train(data):
        found.append(len(data))
        return train_traits(data)

    monkeypatch.setattr(trait_cache, "train_traits", train)
    return found


def test_second_training_is_loaded_from_the_cache_to_the_last_bit(data, tmp_path: Path, counted):
    first, second = (load_or_train_traits(data, tmp_path).to_tensors() for _ in range(2))

    assert counted == [1]
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])


def test_without_a_folder_nothing_is_cached(data, counted):
    load_or_train_traits(data, None)
    load_or_train_traits(data, None)

    assert counted == [1, 1]


@pytest.mark.parametrize(
    "answers",
    [
        {"yes": YES, "no": (*NO[:-1], Utterance("whenever you like"))},
        {"yes": YES[:-1], "no": (*NO, YES[-1])},
        {"yes": YES, "no": NO, "none": INTENTS[0].utterances},
    ],
    ids=["reworded", "moved", "answer"],
)
def test_an_edit_of_lines_is_trained(data, tmp_path: Path, counted, answers):
    load_or_train_traits(data, tmp_path)
    load_or_train_traits(data_of(registry_of(**answers)), tmp_path)

    assert counted == [1, 1]


def test_new_utterances_are_trained(data, tmp_path: Path, counted):
    ((lines, unlabelled),) = data
    load_or_train_traits(data, tmp_path)
    load_or_train_traits([(lines, unlabelled._replace(vectors=unlabelled.vectors[::-1]))], tmp_path)

    assert counted == [1, 1]


def test_damaged_cache_is_trained_again_with_a_warning(data, tmp_path: Path, counted, caplog):
    first = load_or_train_traits(data, tmp_path)
    (file,) = tmp_path.rglob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-10])

    with caplog.at_level(logging.WARNING):
        again = load_or_train_traits(data, tmp_path)

    assert "training again" in caplog.text
    np.testing.assert_array_equal(first.vector_weights, again.vector_weights)
    assert load_or_train_traits(data, tmp_path).certain.tolist() == first.certain.tolist()
    assert counted == [1, 1]
