"""A registry with two intents that are hard to tell apart, and its held-out cases."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases, held_out_cases

TOPICS = {
    "book": "book reserve schedule arrange plan fix take request",
    "cancel": "cancel drop stop revoke annul undo scrap abandon",
    "track": "track follow locate trace find watch monitor see",
    "refund": "refund repay return reimburse restore credit compensate recover",
    "hours": "open close start end begin finish serve work",
}
THINGS = ("my visit", "the appointment", "our meeting", "a date", "this order", "that parcel")


def registry_of_topics() -> Registry:
    """Five intents of 24 lines in two languages; some lines of `cancel` read like those of `book`."""
    intents, line = [], 0
    for name, verbs in TOPICS.items():
        utterances = []
        for number, verb in enumerate(verbs.split()):
            for thing in THINGS[number % 2 :: 2]:
                line += 1
                stray = name == "cancel" and line % 5 == 0
                text = f"book {thing} {line}" if stray else f"{verb} {thing} {number}"
                language = "de" if line % 4 == 0 else "en"
                utterances.append(Utterance(text, language, Location("bot.yaml", line, 7)))
        intents.append(Intent(name, tuple(utterances), location=Location("bot.yaml", 1000 + line, 3)))
    return Registry(tuple(intents))


@pytest.fixture(scope="package")
def matcher() -> Matcher:
    return Matcher.load(registry_of_topics(), encoder=WordHashEncoder(), cache="off")


@pytest.fixture(scope="package")
def cases(matcher: Matcher) -> HeldOutCases:
    return held_out_cases(matcher.artefact, matcher.encoder)
