"""Ask about a message that reads like an utterance but for a negation: "please don't cancel my order"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from intentmatch.core.result import Candidate
from intentmatch.matching.policy import Decision
from intentmatch.text.normalize import clean
from intentmatch.text.refusals import refusal

# A score this much lower still counts as high as the other: without its negation, a message may read a little worse.
# Chosen with the development half of `tests/matching/negation.yaml` and the development rows of clinc150 and banking77.
_AS_NEAR = 0.02


class Checked(NamedTuple):
    """A decision after the check for a negation."""

    decision: Decision
    says: str | None
    """What was found, for the trace; None if the message refuses nothing."""


def check_negation(
    decision: Decision,
    text: str,
    language: str | None,
    read: Callable[[str], Decision],
) -> Checked:
    """Turn a match into a question if only a negation keeps the message from reading like the intent.

    `text` is the cleaned message; `read` decides on another text as the pipeline would. The message refuses the intent
    if all of this holds:

    - One of its clauses has a negation that refuses ("don't", "I don't want to"), `intentmatch.text.refusals`.
    - The intent's utterance nearest to the message has none. Other utterances may have one.
    - The clause without the negation is in scope, first as the same intent, and scores at least as high as the message.
      A negation that belongs to the intent ("I don't want the lamp" for "cancel") lowers the score when it is left out.
    """
    if decision.verdict != "matched" or (found := refusal(text, language)) is None:
        return Checked(decision, None)
    best = decision.ranked[0]
    if _refuses(best, language):
        return Checked(decision, f"“{found.words}” refuses, as does the nearest utterance of {best.intent}")
    without = read(found.without)
    if not _is_refused(best, without, language):
        return Checked(decision, f"“{found.words}” refuses something other than {best.intent}")
    says = f"“{found.words}” refuses {best.intent}, which “{found.without}” would be"
    line = f"“{best.utterance.text}”" if best.utterance else "an utterance"
    reason = f"it reads like {line} of {best.intent} but for the negation “{found.words}”."
    return Checked(replace(decision, verdict="ambiguous", rivals=(best,), reason=reason), says)


def _is_refused(best: Candidate, without: Decision, language: str | None) -> bool:
    """Return whether the clause without its negation reads like the intent, at least as well as the message."""
    if without.verdict == "out_of_scope":
        return False
    first = without.ranked[0]
    return first.intent == best.intent and first.score >= best.score - _AS_NEAR and not _refuses(first, language)


def _refuses(candidate: Candidate, language: str | None) -> bool:
    line = candidate.utterance
    return line is not None and refusal(clean(line.text), line.language or language) is not None
