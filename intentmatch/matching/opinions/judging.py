"""Let a judge, such as a chat model, decide doubtful messages: it chooses one of the first intents, none, or to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import UnavailableError
from intentmatch.core.result import Candidate
from intentmatch.core.types import Registry
from intentmatch.learning.cross_validation import RANKED
from intentmatch.matching.policy import LEAST_OFFERED, Decision, Policy
from intentmatch.matching.scoring import Scoring
from intentmatch.reading.reader import Reading
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.text.normalize import clean

_LINES_OF_AN_INTENT = 3


class IntentOption(NamedTuple):
    """An intent that a judge may choose."""

    title: str
    description: str | None
    lines: tuple[str, ...]
    """Its utterances nearest to the message."""
    confidence: float | None = None
    """How likely the bot itself holds it; None if it is not calibrated."""


class Opinion(NamedTuple):
    """What a judge says about a message."""

    choice: int | Literal["none", "ask"]
    """Position of the chosen option; "none" for out of scope; "ask" if the user should be asked."""
    prompt: str
    """What the judge was sent, as JSON, after redaction."""


@runtime_checkable
class Judge(Protocol):
    """Chooses among options, where a `Reranker` scores utterances."""

    @property
    def name(self) -> str:
        """Kind of judge and its model, for display."""

    def judge(self, message: str, options: Sequence[IntentOption]) -> Opinion:
        """Return an opinion. Raises `UnavailableError` without one; then the verdict stands."""


class Judging:
    """Puts the doubtful messages of one registry before a judge; with `shows_prompt` the trace holds what it read."""

    def __init__(self, judge: Judge, registry: Registry, *, shows_prompt: bool) -> None:
        self._judge, self._shows_prompt = judge, shows_prompt
        self._utterances, self._intents = registry.utterances, registry
        self._positions = registry.positions

    def decide(
        self, reading: Reading, vector: NDArray[np.float32], decision: Decision, by: tuple[Policy, Scoring]
    ) -> tuple[Decision | None, str]:
        """Return the judge's decision, None if the verdict stands, and a sentence for the trace.

        `by` are the thresholds and the scoring that made the first decision.
        """
        (policy, scoring), options = by, reading.options
        first = decision.ranked[:RANKED]
        # A check, such as for parts or shared lines, may ask about an intent that ranks behind the first.
        asked = [*first, *(rival for rival in decision.rivals if rival not in first)]
        offered = [self._option(candidate, vector, options, scoring) for candidate in asked]
        try:
            choice, prompt = self._judge.judge(clean(reading.message), offered)
        except UnavailableError as error:
            return None, f"in doubt, but the verdict stands: {error}"
        name, shown = self._judge.name, f"; it was asked: {prompt}" if self._shows_prompt else ""
        among = ", ".join(candidate.intent for candidate in asked)
        reason = f"the verdict was in doubt, and {name}"
        if isinstance(choice, int):
            chosen = asked[choice]
            others = tuple(candidate for candidate in decision.ranked if candidate is not chosen)
            cut = policy.cut(chosen, options.language)
            decided = Decision("matched", (chosen, *others), (), cut, True, f"{reason} chose {chosen.intent}.")
            did = f"chose {chosen.intent} among {among}"
        elif choice == "none":
            did = f"chose none of {among}"
            decided = replace(decision, verdict="out_of_scope", rivals=(), reason=f"{reason} {did}.")
        else:
            # A lone rival is an intent that the message refuses, and no choice.
            rivals = decision.rivals if len(decision.rivals) > 1 else _offered(asked)
            decided = replace(decision, verdict="ambiguous", rivals=rivals, reason=f"{reason} would ask the user.")
            did = f"would ask between {among}"
        return decided, f"in doubt ({decision.verdict}), {name} {did}{shown}"

    def _option(
        self, candidate: Candidate, vector: NDArray[np.float32], options: ResolvedOptions, scoring: Scoring
    ) -> IntentOption:
        intent = self._intents[candidate.intent]
        position = self._positions[candidate.intent]
        rows = scoring.nearest_rows(vector, position, _LINES_OF_AN_INTENT, options.hidden)
        lines = tuple(clean(self._utterances[row].text) for row in rows)
        title = intent.title_in(options.language) or intent.label
        return IntentOption(title, intent.description, lines, candidate.confidence)


def _offered(asked: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the intents to ask about: the likely ones, at least two."""
    likely = [candidate for candidate in asked if (candidate.confidence or 0.0) >= LEAST_OFFERED]
    return tuple(likely if len(likely) > 1 else asked[:2])
