"""Building: each text is encoded once, progress is reported, and invalid registries are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import BrokenEncoder, WordHashEncoder

from intentmatch.artefact import build as builder
from intentmatch.artefact.build import build, known_vectors, uncovered
from intentmatch.core.errors import Location, RegistryError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Intent, Registry, Utterance
from intentmatch.learning.token_features import DIM
from intentmatch.learning.training import TrainingData
from intentmatch.learning.training_cache import load_or_train
from intentmatch.storage.vector_cache import VectorCache


def intent(name: str, *utterances: str, negatives: tuple[str, ...] = ()) -> Intent:
    return Intent(name, tuple(map(Utterance, utterances)), tuple(map(Utterance, negatives)))


GREETING = Registry(
    (intent("greeting", "hello", "good morning", negatives=("goodbye",)), intent("thanks", "thank you"))
)


def test_fake_encoder_follows_the_protocol():
    assert isinstance(WordHashEncoder(), Encoder)


def test_artefact_holds_vectors_in_registry_order():
    encoder, settings = WordHashEncoder(), Settings(aggregation="max")

    artefact = build(GREETING, encoder, settings)

    assert np.array_equal(artefact.vectors, encoder.encode(["hello", "good morning", "thank you"]))
    assert np.array_equal(artefact.negative_vectors, encoder.encode(["goodbye"]))
    assert np.array_equal(artefact.label_vectors, encoder.encode([intent.label for intent in GREETING]))
    assert (artefact.encoder_name, artefact.encoder_fingerprint) == (encoder.name, encoder.fingerprint)
    assert (artefact.registry, artefact.settings) == (GREETING, settings)


def test_identical_texts_are_encoded_once():
    """Texts are compared after cleaning."""
    encoder = WordHashEncoder()
    registry = Registry(
        (
            intent("a", "hello", "hello ", " hello", "HELLO", negatives=("thank you",)),
            intent("b", "thank you", "thank\u00a0you"),
        )
    )

    artefact = build(registry, encoder)

    assert sorted(encoder.encoded) == ["HELLO", "a", "b", "hello", "thank you"]
    assert np.array_equal(artefact.vectors[0], artefact.vectors[2])


def test_encoder_receives_cleaned_texts():
    """Case and punctuation stay."""
    encoder = WordHashEncoder()

    build(Registry((intent("a", "  Hello,\t\u200bWorld!\0 ", "lone \ud83d"),)), encoder)

    assert sorted(encoder.encoded) == ["Hello, World!", "a", "lone \ufffd"]


def test_known_vectors_are_not_encoded_again():
    """Wherever their texts stand now."""
    encoder = WordHashEncoder()
    known = known_vectors(build(GREETING, encoder))
    encoder.encoded.clear()
    edited = Registry((intent("thanks", "thank you", "goodbye"), intent("greeting", "good morning", "good evening")))

    artefact = build(edited, encoder, known=known)

    assert encoder.encoded == ["good evening"]
    assert np.array_equal(artefact.vectors, build(edited, WordHashEncoder()).vectors)


def test_checked_registry_is_not_checked_again(monkeypatch):
    monkeypatch.setattr(builder, "check", lambda registry: pytest.fail("checked again"))

    assert build(GREETING, WordHashEncoder(), checked=True).registry is GREETING


def test_progress_is_zero_of_zero_with_a_full_cache(tmp_path):
    reported, encoder, cache = [], WordHashEncoder(), VectorCache(tmp_path)
    build(GREETING, WordHashEncoder(), cache=cache)

    build(GREETING, encoder, cache=cache, progress=lambda *done: reported.append(done))

    assert (reported, encoder.encoded) == ([(0, 0)], [])


def test_vectors_of_double_precision_become_float32():
    artefact = build(GREETING, BrokenEncoder(lambda vectors: vectors.astype(np.float64)))

    assert artefact.vectors.dtype == np.float32
    assert np.array_equal(artefact.vectors, build(GREETING, WordHashEncoder()).vectors)


@pytest.mark.parametrize(
    ("registry", "rule"),
    [
        (Registry(()), "no-intents"),
        (Registry((Intent("a", (Utterance("x"),)), Intent("a", (Utterance("y"),)))), "intent-redefined"),
        (Registry((Intent("a", (Utterance("x"),), threshold=1.5),)), "threshold"),
        (Registry((Intent("a", (Utterance("x"),), threshold=float("nan")),)), "threshold"),
        (Registry((intent("a"),)), "no-utterances"),
        (Registry((intent("a", "?!"),)), "empty-utterance"),
        (Registry((intent("a", "hi"), intent("b", "Hi!"))), "conflicting-utterance"),
        (Registry((intent("a", "hi", negatives=("Hi!",)),)), "contradicting-negative"),
    ],
)
def test_registry_that_breaks_a_rule_is_refused_before_encoding(registry, rule):
    encoder = WordHashEncoder()

    with pytest.raises(RegistryError, match=rule):
        build(registry, encoder)
    assert encoder.encoded == []


def test_warnings_do_not_stop_a_build():
    artefact = build(Registry((intent("a", "hi", "Hi!"),)), WordHashEncoder())

    assert len(artefact.vectors) == 2


def test_build_is_deterministic():
    """Another registry has another fingerprint."""
    first, second = build(GREETING, WordHashEncoder()), build(GREETING, WordHashEncoder())
    other = build(replace(GREETING, intents=GREETING.intents[:1]), WordHashEncoder())

    assert np.array_equal(first.vectors, second.vectors)
    assert first.calibration == second.calibration
    assert first.fingerprint == second.fingerprint != other.fingerprint


def test_uncovered_language_is_a_warning_at_its_first_line():
    """Negatives included; a registry made in code has the location `registry`."""
    first = Utterance("molo", "xh", Location("a.yaml", 4, 7))
    lines = (Utterance("hi", "en"), first, Utterance("ewe", "xh"), Utterance("x"))
    registry = Registry((Intent("a", lines, (Utterance("mbote", "ln"),)),))
    encoder = WordHashEncoder()
    encoder.languages = frozenset({"en"})

    xhosa, lingala = uncovered(registry, encoder)

    assert str(xhosa).startswith("a.yaml:4:7: warning [language-not-covered] fake was not trained on xh\n  hint: ")
    assert (lingala.location, lingala.severity, "ln" in lingala.message) == (Location("registry"), "warning", True)
    assert uncovered(registry, WordHashEncoder()) == []


THINGS = ("parcel", "bill", "password", "table", "flight", "doctor", "heating", "salary", "printer", "holiday")
FORMS = ("my {}", "what about the {} then", "help me with a {}", "{} please", "is the {} there")
TRAINABLE = Registry(tuple(intent(thing, *(form.format(thing) for form in FORMS)) for thing in THINGS))


def test_large_enough_registry_has_a_deterministic_head():
    vectors = WordHashEncoder().encode([utterance.text for utterance in TRAINABLE.utterances])

    labels = WordHashEncoder().encode([intent.label for intent in TRAINABLE])

    one, other = (
        load_or_train(TrainingData(TRAINABLE, rows, labels, Settings(), "static"), None)
        for rows in (vectors, vectors.copy())
    )

    assert one.trained_head.head.weights.tobytes() == other.trained_head.head.weights.tobytes()
    assert one.trained_head.head.weights.shape == (64 + DIM + 1, len(THINGS))
    assert one.trained_head.vectorizer.rarity.tobytes() == other.trained_head.vectorizer.rarity.tobytes()
    assert one.calibration == other.calibration
    assert 50 < one.calibration.cases <= 100


@pytest.mark.parametrize(
    ("registry", "settings"),
    [
        (TRAINABLE, Settings(scorer="cosine")),
        (replace(TRAINABLE, intents=TRAINABLE.intents[:1]), Settings()),
        (replace(TRAINABLE, intents=TRAINABLE.intents[:2]), Settings()),
        (GREETING, Settings()),
    ],
)
def test_no_head_without_cross_validation(registry, settings):
    """Nor if the setting asks for none."""
    artefact = build(registry, WordHashEncoder(), settings)

    assert artefact.trained_head is None
    assert (artefact.calibration.curve is None) == (settings == Settings())


def test_target_changes_the_threshold_but_not_the_head():
    strict, lax = (
        build(TRAINABLE, WordHashEncoder(), Settings(target=target))
        for target in ({"false_accept": 0.0}, {"false_accept": 1.0})
    )

    assert strict.calibration.cut.value > lax.calibration.cut.value
    assert strict.calibration.curve == lax.calibration.curve
    assert np.array_equal(strict.trained_head.head.weights, lax.trained_head.head.weights)
