"""What people write to other bots tells how much evidence a message has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.learning import background as background_module
from intentmatch.learning.background import Background, BackgroundFit, Sample, background_sample, background_texts
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean, fold

INTENTS = Path(__file__).parents[2] / "intents"
LINES = {
    "loan": "renew my book, extend the loan of my novel, can I keep the book longer, prolong my loan",
    "card": "I lost my library card, get a library card, new reader card please, register as a reader",
    "hours": "when is the library open, opening hours on Sunday, are you open tomorrow, hours",
    "return": "return a book, where do I bring back my books, drop off books at night, hand in a novel",
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(tuple(Intent(name, tuple(map(Utterance, lines.split(", ")))) for name, lines in LINES.items()))


def unit(*rows: list[float]) -> np.ndarray:
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_message_gains_more_evidence_the_less_it_is_like_the_sample() -> None:
    background = BackgroundFit(Sample(unit([1, 0, 0], [1, 0.2, 0])), unit([0, 0, 1], [0, 0.2, 1])).of_all()

    like_sample, between, like_utterances = map(background.evidence, unit([1, 0.1, 0], [1, 0.1, 1], [0, 0.1, 1]))

    assert like_sample < 0.0 < like_utterances
    assert like_sample < between < like_utterances


def test_background_of_a_registry_about_the_same_says_nothing() -> None:
    sample = unit([1, 0, 0], [1, 0.2, 0])

    background = BackgroundFit(Sample(sample), sample).of_all()

    assert background.evidence_many(unit([1, 0, 0], [0, 0, 1])).tolist() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_many_messages_gain_what_each_gains_alone(registry: Registry) -> None:
    encoder = WordHashEncoder()
    lines = encoder.encode([u.text for u in registry.utterances])
    background = BackgroundFit(background_sample(encoder), lines).of_all()
    messages = encoder.encode(["renew my passport", "where is my book", "cancel the gym", ""])

    many = background.evidence_many(messages)

    assert many.tolist() == pytest.approx([background.evidence(message) for message in messages], abs=1e-6)


@pytest.mark.parametrize("part", [0.1, 0.2, 0.34])
def test_background_without_some_utterances_is_nearly_that_of_the_others(part: float) -> None:
    """Those that are left weigh a little less. In the middle between them and the sample nothing is gained."""
    chance = np.random.default_rng(1)
    sample, lines = unit(*chance.normal(size=(80, 12))), unit(*chance.normal(0.4, 1.0, size=(200, 12)))
    left_out = np.arange(200) < 200 * part

    found = BackgroundFit(Sample(sample), lines).without(left_out)
    wanted = BackgroundFit(Sample(sample), lines[~left_out]).of_all()

    cosine = found.direction @ wanted.direction / np.linalg.norm(found.direction) / np.linalg.norm(wanted.direction)
    assert cosine > 0.99
    assert found.evidence_many(lines) == pytest.approx(wanted.evidence_many(lines), abs=0.02)
    middle = (sample.mean(axis=0) + lines[~left_out].mean(axis=0)) / 2
    assert found.evidence(middle) == pytest.approx(0.0, abs=1e-6)


def test_nothing_left_out_is_the_background_of_all() -> None:
    chance = np.random.default_rng(1)
    fit = BackgroundFit(Sample(unit(*chance.normal(size=(40, 8)))), unit(*chance.normal(size=(30, 8))))

    assert fit.without(np.zeros(30, dtype=bool)).direction.tolist() == fit.of_all().direction.tolist()


def test_background_without_most_utterances_is_that_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if none of the others is among those that the direction was found with."""
    monkeypatch.setattr(background_module, "_MOST_UTTERANCES", 20)
    chance = np.random.default_rng(1)
    sample, lines = Sample(unit(*chance.normal(size=(40, 8)))), unit(*chance.normal(size=(21, 8)))
    left_out = np.arange(21) != 1

    found, wanted = BackgroundFit(sample, lines).without(left_out), BackgroundFit(sample, lines[1:2]).of_all()

    assert found.direction.tolist() == wanted.direction.tolist()
    assert found.offset == wanted.offset


def test_samples_of_few_encoders_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "_known", {})

    for number in range(20):
        background_sample(WordHashEncoder(fingerprint=f"another-{number}"))

    assert len(background_module._known) < 10


def test_encoders_that_differ_in_size_alone_have_samples_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "_known", {})
    narrow, wide = WordHashEncoder(), WordHashEncoder()
    wide.dim = 128

    assert [background_sample(one).vectors.shape[1] for one in (narrow, wide)] == [64, 128]


def test_background_of_many_utterances_is_that_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "_MOST_UTTERANCES", 20)
    chance = np.random.default_rng(1)
    sample, lines = Sample(unit(*chance.normal(size=(40, 8)))), unit(*chance.normal(size=(55, 8)))
    left_out = np.arange(55) < 10

    many, some = BackgroundFit(sample, lines), BackgroundFit(sample, lines[::3])

    assert many.of_all().direction.tolist() == some.of_all().direction.tolist()
    assert many.without(left_out).direction.tolist() == some.without(left_out[::3]).direction.tolist()


def test_an_encoder_encodes_the_sample_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "_known", {})
    encoder = WordHashEncoder()

    first, again = background_sample(encoder), background_sample(encoder)

    assert again is first
    assert sorted(encoder.encoded) == sorted(background_texts())


def test_each_message_of_the_sample_is_there_once_and_none_is_measured_with() -> None:
    folded = [fold(text) for text in background_texts()]

    assert len({*folded}) == len(folded) > 500
    assert all(clean(text) == text for text in background_texts())
    assert {*folded}.isdisjoint(fold(case.text) for case in everyday_messages())


def test_requests_of_other_trades_are_likelier_out_of_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    """Than in the same bot without the background, whose held-out lines say nothing about these."""
    strangers = ["cancel my gym membership", "where is my passport", "change the date of my driving test"]
    own = ["please stop my order", "where did my parcel go", "change the address of my delivery"]

    def apart() -> float:
        bot = Matcher.load(INTENTS / "orders.yaml", cache="off")
        return sum(
            bot.match(mine).in_scope - bot.match(other).in_scope for mine, other in zip(own, strangers, strict=True)
        )

    with_background = apart()
    monkeypatch.setattr(Background, "evidence", lambda background, vector: 0.0)
    monkeypatch.setattr(Background, "evidence_many", lambda background, vectors: np.zeros(len(vectors)))
    assert with_background > apart() + 0.1
