"""The words of authors, in place of those of YAML keys, machine learning and the API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from intentmatch.core.errors import public_text
from intentmatch.core.relative_paths import relative
from intentmatch.core.result import MatchResult
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.matching.policy import NOTHING_LIKE

BadgeKind = Literal["plain", "primary", "good", "warn", "bad"]
NO_INTENT = "no intent"
ANSWERS: Mapping[str, str] = {"out_of_scope": NO_INTENT, "ambiguous": "asks back"}
"""Answers that are no intent, by their names in the API."""
_COUNTS = {2: "two", 3: "three"}
_KEPT = re.compile(r"(“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w))")
_PLAIN: Mapping[str, str] = {
    "utterance": "example",
    "held-out": "left out",
    "held out": "left out",
    "head": "classifier",
    "revision": "version",
    "mended": "fixed",
    "mends": "fixes",
    "mend": "fix",
    "out of scope": "no intent",
    "out-of-scope": "no-intent",
    "in scope": "for any intent",
}
_OF_ANSWERS: Mapping[str, str] = {"confidence": "certainty", "threshold": "mark"}
"""Words of reasons beside bars: the key `threshold` of the files keeps its name."""


def plainly(text: str) -> str:
    """Return a sentence of a finding or a trace in the words of authors. What it quotes stays as it is."""
    return _reworded(text.replace("below `utterances:`", "among the examples"), _PLAIN)


def reason_in_words(text: str) -> str:
    """Return why a message gets its answer in the words of authors."""
    return _reworded(plainly(text), _OF_ANSWERS)


def error_in_words(error: Exception) -> str:
    """Return what went wrong in the words of authors, without paths of the machine."""
    return plainly(relative(public_text(error)))


def _reworded(text: str, plain: Mapping[str, str]) -> str:
    def reword(found: re.Match[str]) -> str:
        new = plain[found[0].lower()]
        # A word that begins a sentence keeps its capital.
        return new if found[0][0].islower() else new[0].upper() + new[1:]

    pattern = re.compile(rf"\b(?:{'|'.join(plain)})(?=s?\b)", re.IGNORECASE)
    # `split` yields what is between quotes at the odd places.
    parts = _KEPT.split(text)
    return "".join(part if place % 2 else pattern.sub(reword, part) for place, part in enumerate(parts))


def answer_in_words(answer: str | None) -> str:
    """Return the name of an intent, or what else the bot answers; nothing and `out_of_scope` are no intent."""
    return ANSWERS.get(answer, answer) if answer else NO_INTENT


def outcome_in_words(outcome: Outcome) -> str:
    """Return what the bot answers: an intent, no intent, or that it asks, with the intents that it asks about."""
    if outcome.verdict == "ambiguous" and outcome.rivals:
        return f"asks about {' or '.join(outcome.rivals)}"
    return answer_in_words(outcome.intent or outcome.verdict)


def verdict_in_words(result: MatchResult) -> tuple[str, BadgeKind]:
    """Return a verdict in words, with the reason if the message is like no line, or like those of several intents."""
    if result.verdict == "matched":
        return "matched", "good"
    if result.verdict == "ambiguous":
        several = len(result.rivals)
        return (f"{_COUNTS.get(several, several)} of your intents" if several > 1 else "asks back"), "warn"
    return (NOTHING_LIKE if result.trace.reason.startswith(NOTHING_LIKE) else NO_INTENT), "plain"
