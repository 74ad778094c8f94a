"""Messages of all kinds: an answer whose entities stand in the message, and probabilities."""

from __future__ import annotations

import math
import random
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hostile_texts import mixed

from intentmatch import Dialogue, Matcher
from intentmatch.core.result import MatchResult
from intentmatch.reading.reader import MAX_CHARACTERS

SEED = 21
LANGUAGES = (None, "en", "de", "tr", "ar", "zh", "th", "ja", "xx")
NOW = datetime(2028, 2, 29, 23, 59)


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(Path(__file__).with_name("every_slot.yaml"), cache="off")


def check(result: MatchResult, message: str) -> None:
    assert result.message == message
    confidences = [candidate.confidence for candidate in result.candidates if candidate.confidence is not None]
    assert all(math.isfinite(one) and 0.0 <= one <= 1.0 for one in confidences)
    assert sum(confidences) <= 1.0 + 1e-6


@pytest.mark.rounds(600, 100_000)
def test_no_message_raises_and_every_entity_stands_in_it(matcher: Matcher, rounds: int) -> None:
    chosen = random.Random(SEED)
    dialogue = Dialogue(matcher)
    found = 0
    for number in range(rounds):
        length = chosen.choice([3, 20, 60, 200, MAX_CHARACTERS + 50 if number % 100 == 0 else 500])
        message = mixed(chosen, length)
        language = chosen.choice(LANGUAGES)

        result = matcher.match(message, language=language, now=NOW)
        filled = matcher.fill(message, "everything", language=language, now=NOW)
        turn = dialogue.take(message, f"user {number}", language=language, now=NOW)

        check(result, message)
        for entity in (*result.entities, *filled, *turn.entities):
            assert message[entity.start : entity.end] == entity.text
            assert entity.text
        starts = [(entity.start, entity.end) for entity in filled]
        assert all(before[1] <= after[0] for before, after in pairwise(starts))
        found += len(filled)
    assert found > rounds
