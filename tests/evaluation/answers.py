"""A small registry and a builder of outcomes."""

from __future__ import annotations

from dataclasses import replace

from intentmatch import Intent, Registry, Utterance
from intentmatch.core.errors import Location
from intentmatch.core.types import Case
from intentmatch.evaluation.outcomes import Outcome

LINES = {
    "status": [
        "where is my order",
        "where is my order?!",
        "where is my ordre",
        "track the parcel",
        "has the package been shipped",
        "when does it arrive",
        "delivery date please",
    ],
    "cancel": [
        "cancel my order",
        "stop the purchase",
        "I do not want it any more",
        "withdraw from the contract",
        "please undo what I bought",
    ],
    "hours": [
        "when do you open",
        "opening hours on Sunday",
        "are you closed today",
        "how late is the shop open",
        "business hours",
    ],
    "agent": ["talk to a human"],
}
NEGATIVES = {"cancel": ["cancel my appointment", "cancel the subscription"]}


def registry_of(lines: dict[str, list[str]], negatives: dict[str, list[str]] | None = None) -> Registry:
    """Build a registry from English utterances, located on successive lines of `shop.yaml`."""
    number = iter(range(1, 10_000))

    def utterances(texts: list[str]) -> tuple[Utterance, ...]:
        return tuple(Utterance(text, "en", Location("shop.yaml", next(number), 5)) for text in texts)

    return Registry(
        tuple(
            Intent(name, utterances(texts), utterances((negatives or {}).get(name, [])))
            for name, texts in lines.items()
        )
    )


def outcome(
    expected: str | tuple[str, ...] | None,
    answer: str | tuple[str, ...] | None,
    *,
    leading: str | None = None,
    confidence: float | None = 0.5,
    score: float = 0.5,
    language: str | None = None,
    text: str = "a message",
) -> Outcome:
    """Build an outcome; `answer` is an intent, None for a refusal, or the rivals of an ambiguous result."""
    verdict = "matched" if isinstance(answer, str) else "ambiguous" if answer else "out_of_scope"
    return Outcome(
        case=Case(text, expected, language, Location("tests.yaml", 7, 3)),
        verdict=verdict,
        intent=answer if isinstance(answer, str) else None,
        leading=leading or (answer if isinstance(answer, str) else answer[0] if answer else None),
        rivals=answer if isinstance(answer, tuple) else (),
        score=score,
        confidence=confidence,
        nearest=Utterance("the nearest", "en", Location("shop.yaml", 3, 5)),
    )


YES = ["yes", "yes please", "certainly", "go ahead", "sure thing", "why not"]


def follow_ups(topics: int, talk: list[str] | None = None) -> Registry:
    """Build an intent for yes for each of several topics, with the same lines, one without `when`, and three others."""
    yes = {f"yes{topic}": [*YES, f"yes do number {topic}"] for topic in range(topics)}
    whole = registry_of({**yes, **({"talk": talk} if talk else {}), **LINES})
    tagged = (
        replace(intent, when=(intent.name.replace("yes", "topic"),)) if intent.name in yes else intent
        for intent in whole
    )
    return replace(whole, intents=tuple(tagged))
