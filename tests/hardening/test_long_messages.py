"""Long messages that repeat a fragment: time in proportion to the length, and bounded."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from hostile_texts import FRAGMENTS, mixed, repeated
from machine_speed import standard_seconds

from intentmatch import Dialogue, Matcher
from intentmatch.reading.reader import MAX_CHARACTERS

pytestmark = pytest.mark.end_to_end

_log = logging.getLogger(__name__)

SEED = 21
NOW = datetime(2028, 2, 29, 10)
LANGUAGES = ("en", "de", "tr", "zh", "ar", None, "fr", "th")
MOST_SECONDS = 0.18
"""Standard seconds for the slots of a message of 10,000 characters, of an intent with fifteen slots: 1.7 times the most
measured in the short form."""
MOST_SECONDS_TO_MATCH = 0.4
"""Standard seconds to match such a message and to read its slots: 1.7 times the most measured in the short form."""
MOST_GROWTH = 8.0
"""Of the time, when the length is four times as long; quadratic time gives 16."""
NOISE = 0.1
"""Seconds below which growth is not judged."""


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(Path(__file__).with_name("every_slot.yaml"), cache="off")


def slow_fragments(run: Callable[[str, str | None], object], rounds: int, most: float) -> list[str]:
    """Return the fragments whose repetition takes more than `most`, or time that grows faster than the length."""
    slow = []
    english = [(name, "en") for name in FRAGMENTS]
    others = [(name, language) for language in LANGUAGES[1:] for name in FRAGMENTS]
    for pairs in (english, others):
        random.Random(SEED).shuffle(pairs)
    for language in LANGUAGES:
        run("small 3", language)  # loads the words of the language
    # A sample of all missed what is slow in the language of most fragments only.
    for name, language in [*english[:rounds], *others[: rounds // 2]]:

        def take(text: str, language: str | None = language) -> object:
            return run(text, language)

        whole = standard_seconds(partial(take, repeated(name, MAX_CHARACTERS)), NOISE)
        quarter = NOISE
        if whole > NOISE:
            quarter = standard_seconds(partial(take, repeated(name, MAX_CHARACTERS // 4)), 0.0)
        if whole > most or whole > MOST_GROWTH * max(quarter, NOISE / 4):
            slow.append(f"{name} [{language}]: {quarter:.3f} s, {whole:.3f} s")
    return slow


@pytest.mark.rounds(180, 3000)
def test_slots_are_read_in_linear_time(matcher: Matcher, rounds: int) -> None:
    def fill(text: str, language: str | None) -> object:
        return matcher.fill(text, "everything", language=language, now=NOW)

    assert slow_fragments(fill, rounds, MOST_SECONDS) == []


CATASTROPHIC = (
    r"(a+)+$", r"(?:a|aa)+(?!a)b", r"(.*)*\d{9}x", r"(?=.*x)?a", r"(a|b|ab)*c", r"([a-z]+\s?)+:", r"(\w+\W?)+#",
    r"(?:\d+[,.]?)+€", r"(x?){30}x{30}", r".*.*.*=.*", r"(?i:[a-zäöü]+ )+[A-Z]$", r"(\p{M}*.)*!{3}", r"[\s\S]*?Q",
    r"(?P<value>(?:ab?)+)z", r"(1+,?)+;",
)  # fmt: skip
"""Patterns of careless authors, one for each of fifteen slots."""


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    slots = "".join(f"      s{number}: {{pattern: '{pattern}'}}\n" for number, pattern in enumerate(CATASTROPHIC))
    file = tmp_path_factory.mktemp("careless") / "slots.yaml"
    file.write_text(
        f"intents:\n  everything:\n    slots:\n{slots}    utterances: {{en: [hello there]}}\n", encoding="utf-8"
    )
    return Matcher.load(file, cache="off")


@pytest.mark.parametrize("patterns", [False, True], ids=["every kind", "patterns"])
@pytest.mark.rounds(50, 100_000)
def test_slots_of_mixed_texts_are_read_in_bounded_time(
    matcher: Matcher, careless: Matcher, rounds: int, patterns: bool
) -> None:
    """Texts of several fragments, whole and cut, and of random characters."""
    chosen = random.Random(SEED)
    asked = careless if patterns else matcher
    for language in LANGUAGES:
        asked.fill("small 3", "everything", language=language, now=NOW)
    slowest = 0.0
    for number in range(rounds):
        text = mixed(chosen, MAX_CHARACTERS)
        language = LANGUAGES[number % len(LANGUAGES)]

        def fill(text: str, language: str | None = language) -> object:
            return asked.fill(text, "everything", language=language, now=NOW)

        slowest = max(slowest, taken := standard_seconds(partial(fill, text), MOST_SECONDS))
        assert taken <= MOST_SECONDS, f"message {number} [{language}]: {taken:.3f} s"
    _log.info("%d messages, the slowest took %.0f ms", rounds, 1000 * slowest)  # --log-cli-level=INFO shows it


@pytest.mark.rounds(30, 3000)
def test_messages_are_matched_in_linear_time(matcher: Matcher, rounds: int) -> None:
    def match(text: str, language: str | None) -> object:
        return matcher.match(text, language=language, now=NOW)

    assert slow_fragments(match, rounds, MOST_SECONDS_TO_MATCH) == []


@pytest.mark.rounds(12, 3000)
def test_answers_are_read_in_linear_time(matcher: Matcher, rounds: int) -> None:
    dialogue = Dialogue(matcher)

    def answer(text: str, language: str | None) -> object:
        asked = dialogue.take("reserve a table", "one", language="en", now=NOW)
        assert asked.asks_for == "a_number"
        return dialogue.take(text, "one", language=language, now=NOW)

    assert slow_fragments(answer, rounds, MOST_SECONDS_TO_MATCH) == []


def test_free_text_reaches_beyond_the_words_that_are_read(matcher: Matcher) -> None:
    letter = "the oven is cold and " * 400

    (note,) = matcher.fill(f"tell a@b.co that {letter}", "everything", ["note"])

    assert str(note.value).endswith("is cold and")
    assert len(str(note.value)) > 0.9 * len(letter)
