"""Building: every text encoded once, progress told, and nothing wrong let through."""

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
from intentmatch.learning.training import train
from intentmatch.storage.vector_cache import VectorCache


def intent(name: str, *utterances: str, negatives: tuple[str, ...] = ()) -> Intent:
    return Intent(name, tuple(map(Utterance, utterances)), tuple(map(Utterance, negatives)))


GREETING = Registry(
    (intent("greeting", "hello", "good morning", negatives=("goodbye",)), intent("thanks", "thank you"))
)


def test_the_fake_encoder_is_an_encoder():
    """What stands in for an encoder keeps its protocol."""
    assert isinstance(WordHashEncoder(), Encoder)


def test_the_artefact_holds_a_vector_for_each_line_in_the_order_of_the_registry():
    """Utterances and negatives each have their rows, and the artefact says who made them, and how."""
    encoder, settings = WordHashEncoder(), Settings(aggregation="max")

    artefact = build(GREETING, encoder, settings)

    assert np.array_equal(artefact.vectors, encoder.encode(["hello", "good morning", "thank you"]))
    assert np.array_equal(artefact.negative_vectors, encoder.encode(["goodbye"]))
    assert np.array_equal(artefact.label_vectors, encoder.encode([intent.label for intent in GREETING]))
    assert (artefact.encoder_name, artefact.encoder_fingerprint) == (encoder.name, encoder.fingerprint)
    assert (artefact.registry, artefact.settings) == (GREETING, settings)


def test_identical_texts_are_encoded_once():
    """What reads the same to an encoder is one text, wherever and however often it stands."""
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


def test_encoders_see_cleaned_texts_and_nothing_else():
    """Control characters, odd spaces and lone surrogates never reach an encoder; case and punctuation do."""
    encoder = WordHashEncoder()

    build(Registry((intent("a", "  Hello,\t\u200bWorld!\0 ", "lone \ud83d"),)), encoder)

    assert sorted(encoder.encoded) == ["Hello, World!", "a", "lone \ufffd"]


def test_what_is_known_is_not_encoded():
    """Neither the lines of an earlier build nor its negatives and labels, wherever they stand now."""
    encoder = WordHashEncoder()
    known = known_vectors(build(GREETING, encoder))
    encoder.encoded.clear()
    edited = Registry((intent("thanks", "thank you", "goodbye"), intent("greeting", "good morning", "good evening")))

    artefact = build(edited, encoder, known=known)

    assert encoder.encoded == ["good evening"]
    assert np.array_equal(artefact.vectors, build(edited, WordHashEncoder()).vectors)


def test_rules_that_were_looked_at_are_not_looked_at_again(monkeypatch):
    """Where the caller says so."""
    monkeypatch.setattr(builder, "check", lambda registry: pytest.fail("looked"))

    assert build(GREETING, WordHashEncoder(), checked=True).registry is GREETING


def test_progress_ends_at_once_where_there_is_nothing_to_do(tmp_path):
    """A build from a full cache encodes nothing, and says so."""
    told, encoder, cache = [], WordHashEncoder(), VectorCache(tmp_path)
    build(GREETING, WordHashEncoder(), cache=cache)

    build(GREETING, encoder, cache=cache, progress=lambda *done: told.append(done))

    assert (told, encoder.encoded) == ([(0, 0)], [])


def test_an_encoder_may_work_in_double_precision():
    """Numbers of another precision are taken; the artefact holds float32."""
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
def test_a_registry_that_breaks_a_rule_is_not_built(registry, rule):
    """Errors are raised before anything is encoded."""
    encoder = WordHashEncoder()

    with pytest.raises(RegistryError, match=rule):
        build(registry, encoder)
    assert encoder.encoded == []


def test_warnings_do_not_stop_a_build():
    """A repeated line is worth a warning and nothing more."""
    artefact = build(Registry((intent("a", "hi", "Hi!"),)), WordHashEncoder())

    assert len(artefact.vectors) == 2


def test_the_same_registry_builds_the_same_artefact():
    """Two builds agree to the last digit, and have one fingerprint; another registry has another."""
    first, second = build(GREETING, WordHashEncoder()), build(GREETING, WordHashEncoder())
    other = build(replace(GREETING, intents=GREETING.intents[:1]), WordHashEncoder())

    assert np.array_equal(first.vectors, second.vectors)
    assert first.calibration == second.calibration
    assert first.fingerprint == second.fingerprint != other.fingerprint


def test_languages_that_the_encoder_does_not_cover_are_named():
    """One warning for each, at its first line, negatives included; what came from code stands at `registry`."""
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
TALKATIVE = Registry(tuple(intent(thing, *(form.format(thing) for form in FORMS)) for thing in THINGS))


def test_a_registry_that_is_large_enough_has_a_head():
    """What it teaches is deterministic to the last bit: weights, words and calibration."""
    vectors = WordHashEncoder().encode([utterance.text for utterance in TALKATIVE.utterances])

    labels = WordHashEncoder().encode([intent.label for intent in TALKATIVE])

    one, other = (train(TALKATIVE, rows, labels, Settings()) for rows in (vectors, vectors.copy()))

    assert one.trained_head.head.weights.tobytes() == other.trained_head.head.weights.tobytes()
    assert one.trained_head.head.weights.shape == (64 + DIM + 1, len(THINGS))
    assert one.trained_head.vectorizer.rarity.tobytes() == other.trained_head.vectorizer.rarity.tobytes()
    assert one.calibration == other.calibration
    assert 50 < one.calibration.cases <= 100


@pytest.mark.parametrize(
    ("registry", "settings"),
    [
        (TALKATIVE, Settings(scorer="cosine")),
        (replace(TALKATIVE, intents=TALKATIVE.intents[:1]), Settings()),
        (replace(TALKATIVE, intents=TALKATIVE.intents[:2]), Settings()),
        (GREETING, Settings()),
    ],
)
def test_what_was_not_put_to_the_test_is_not_relied_upon(registry, settings):
    """No head where none is asked for, nor where there are too few lines to know how good it is."""
    artefact = build(registry, WordHashEncoder(), settings)

    assert artefact.trained_head is None
    assert (artefact.calibration.curve is None) == (settings == Settings())


def test_a_target_moves_the_cut_and_not_the_head():
    """It decides from which confidence on an answer is given, and nothing else."""
    strict, lax = (
        build(TALKATIVE, WordHashEncoder(), Settings(target=target))
        for target in ({"false_accept": 0.0}, {"false_accept": 1.0})
    )

    assert strict.calibration.cut.value > lax.calibration.cut.value
    assert strict.calibration.curve == lax.calibration.curve
    assert np.array_equal(strict.trained_head.head.weights, lax.trained_head.head.weights)
