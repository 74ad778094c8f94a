"""The registry in `intents/`: the demo, the documentation and a test registry."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from intentmatch.core.types import Registry
from intentmatch.lint import lint
from intentmatch.matching.matcher import Matcher
from intentmatch.registry import examine

SHIPPED = Path(__file__).parents[1] / "intents"
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "ru", "ar", "hi", "zh", "ja", "ko"}


@pytest.fixture(scope="module")
def registry() -> Registry:
    found, problems = examine(SHIPPED)
    assert problems == []
    return found


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(SHIPPED, cache="off")


def test_is_as_large_as_it_says(registry: Registry) -> None:
    """At least 32 intents, each titled, with 6 to 12 English utterances and 3 to 6 in each other language."""
    assert len(registry) >= 32
    assert set(registry.languages) == LANGUAGES
    for intent in registry:
        by_language = Counter(u.language for u in intent.utterances)
        assert intent.title
        assert 6 <= by_language["en"] <= 12, intent.name
        assert all(3 <= by_language[language] <= 6 for language in LANGUAGES - {"en"}), intent.name


def test_shows_negatives(registry: Registry) -> None:
    """Some intents that are easily confused carry negative utterances."""
    assert sum(bool(intent.negatives) for intent in registry) >= 4


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("wo ist mein Paket?", "order_status"),
        ("siparişimi iptal et", "order_cancel"),
        ("ich habe mein Passwort vergessen", "password_reset"),
        ("I would like to speak with a real human being", "talk_to_agent"),
        ("mi tarjeta ha sido robada", "card_lost"),
        ("à quelle heure ouvrez-vous ?", "opening_hours"),
        ("no", "no"),
        ("merci beaucoup", "thanks"),
    ],
)
def test_understands_everyday_messages(matcher: Matcher, message: str, intent: str) -> None:
    """Messages in several languages find their intent with the embedded encoder."""
    assert matcher.match(message).intent == intent


@pytest.mark.parametrize(
    "message", ["what is the capital of Peru", "recommend me a good book", "how tall is mount everest"]
)
def test_refuses_what_is_none_of_its_business(matcher: Matcher, message: str) -> None:
    """Messages about something else are out of scope."""
    assert matcher.match(message).verdict == "out_of_scope"


def test_the_demo_message_shows_runners_up(matcher: Matcher) -> None:
    """The first command of the README is no exact hit, or there would be no runners-up to show."""
    result = matcher.match("wo ist mein Paket?")

    assert result.trace.decided_by == "head"
    assert len(result.candidates) > 1
    assert result.response is not None
    assert result.language == "de"


def test_is_healthy(registry: Registry) -> None:
    """No error by meaning either: each language is written where it says, and nothing is thin, doubled or left out.

    What stays are lines that the embedded encoder takes for another intent's, and neighbours such as booking, moving
    and cancelling an appointment: true, and the price of 46 intents that belong to one shop.
    """
    report = lint(SHIPPED, cache="off")
    count = Counter(problem.rule for problem in report.problems)

    assert {problem.severity for problem in report.problems} <= {"warning", "info"}
    assert set(count) <= {"misplaced-utterance", "overlapping-intents", "near-duplicate", "two-clusters"}
    assert count["misplaced-utterance"] <= 0.015 * len(registry.utterances)
    assert count["overlapping-intents"] + count["near-duplicate"] + count["two-clusters"] <= 10
