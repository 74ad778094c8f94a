"""What people write to other bots takes evidence from a message that is like it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.learning import background as background_module
from intentmatch.learning.background import Background, background_texts, background_vectors
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


def test_sample_takes_more_from_a_message_the_nearer_it_is() -> None:
    sample, utterances = unit([1, 0, 0], [0, 1, 0]), unit([0, 0, 1], [0, 1, 4])
    background = Background.of(sample, utterances)

    like_sample, between, like_utterance = map(background.against, unit([1, 0, 0.1], [1, 0, 1], [0, 0, 1]))

    assert like_sample > between > like_utterance
    assert like_utterance < 0.0


def test_sample_that_utterances_are_near_to_says_little() -> None:
    sample = unit([1, 0, 0])
    message = unit([0.9, 0.1, 0.1])[0]

    near, far = (Background.of(sample, unit([1, y, 0], [1, 0, y])).against(message) for y in (0.1, 3.0))

    assert near < far


def test_many_messages_lose_what_each_loses_alone(registry: Registry) -> None:
    encoder = WordHashEncoder()
    background = Background.of(background_vectors(encoder), encoder.encode([u.text for u in registry.utterances]))
    messages = encoder.encode(["renew my passport", "where is my book", "cancel the gym", ""])

    many = background.against_many(messages)

    assert many.tolist() == pytest.approx([background.against(message) for message in messages], abs=1e-5)


def test_blocks_of_utterances_change_nothing(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = WordHashEncoder()
    sample, utterances = background_vectors(encoder), encoder.encode([u.text for u in registry.utterances])
    at_once = Background.of(sample, utterances)
    monkeypatch.setattr(background_module, "BACKGROUND_UTTERANCES", 5)

    assert np.allclose(Background.of(sample, utterances).nearness, at_once.nearness, atol=1e-6)


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
    monkeypatch.setattr(Background, "against", lambda background, vector: 0.0)
    monkeypatch.setattr(Background, "against_many", lambda background, vectors: np.zeros(len(vectors)))
    assert with_background > apart() + 0.1
