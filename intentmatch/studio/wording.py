"""The words of authors, in place of those of YAML keys, machine learning and the API."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intentmatch.core.result import MatchResult
from intentmatch.matching.policy import NOTHING_LIKE
from intentmatch.studio.parts import BadgeKind

NO_INTENT = "no intent"
ANSWERS: Mapping[str, str] = {"out_of_scope": NO_INTENT, "ambiguous": "asks back"}
"""Answers that are no intent, by their names in the API."""
_COUNTS = {2: "two", 3: "three"}
_KEPT = re.compile(r"(“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w))")
_PLAIN = {
    re.compile(r"\butterance"): "example",
    re.compile(r"\bUtterance"): "Example",
    re.compile(r"\bthe head\b"): "the classifier",
    re.compile(r"\bheld[ -]out\b"): "left out",
}


def plainly(text: str) -> str:
    """Return a sentence of a finding or a trace in the words of authors. What it quotes stays as it is."""
    parts = _KEPT.split(text)
    for place in range(0, len(parts), 2):
        for pattern, plain in _PLAIN.items():
            parts[place] = pattern.sub(plain, parts[place])
    return "".join(parts)


def answer_in_words(answer: str | None) -> str:
    """Return the name of an intent, or what else the bot answers; nothing and `out_of_scope` are no intent."""
    return ANSWERS.get(answer, answer) if answer else NO_INTENT


def verdict_in_words(result: MatchResult) -> tuple[str, BadgeKind]:
    """Return a verdict in words, with the reason if the message is like no line, or like those of several intents."""
    if result.verdict == "matched":
        return "matched", "good"
    if result.verdict == "ambiguous":
        several = len(result.rivals)
        return (f"{_COUNTS.get(several, several)} of your intents" if several > 1 else "asks back"), "warn"
    return (NOTHING_LIKE if result.trace.reason.startswith(NOTHING_LIKE) else NO_INTENT), "plain"
