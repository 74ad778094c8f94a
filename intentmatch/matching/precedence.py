"""Which of several intents a shared line belongs to, given the active tags; the rule is in `core.shared_lines`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import replace
from functools import lru_cache, partial

from intentmatch.core.result import Candidate
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Registry
from intentmatch.matching.policy import Decision
from intentmatch.text.normalize import fold

# Conversations are at few different points at once.
_CACHED = 256


_Eligible = tuple[frozenset[int] | None, frozenset[int]]


class Precedence:
    """Applies the rule for shared lines at match time. Does nothing for a registry without such lines."""

    def __init__(self, registry: Registry) -> None:
        self._shared = SharedLines(registry)
        rows: dict[int, set[int]] = {intent: set() for intent in self._shared.sharers}
        for row, owner in enumerate(registry.owners) if self._shared else ():
            if owner in rows:
                rows[owner].add(row)
        # No bound method: that would keep a replaced registry until the garbage collector finds the cycle.
        self._cached = lru_cache(_CACHED)(partial(_eligible, self._shared, rows))

    def eligible(self, allowed: frozenset[int] | None, active: Collection[str]) -> _Eligible:
        """Return who may answer with these active tags, None for all, and the rows that do not count for them.

        These are rows that another of the intents has too and answers first. An intent without other rows may not
        answer.
        """
        return self._cached(allowed, frozenset(active)) if self._shared else (allowed, frozenset())

    def asked(self, decision: Decision, *, exact: bool = False) -> Decision:
        """Turn a match into a question if another candidate has the same line as its nearest utterance.

        Then the tags of both are active, and nothing tells the intents apart. With `exact`, the message is the line.
        """
        same = self.same_line(decision) if exact or decision.verdict == "matched" else ()
        if not same:
            return decision
        names = " and of ".join(candidate.intent for candidate in same)
        line = same[0].utterance.text if same[0].utterance else ""
        reason = f"“{line}” is an utterance of {names}, and no active tag tells them apart."
        return replace(decision, verdict="ambiguous", rivals=same, doubtful=True, reason=reason)

    def same_line(self, decision: Decision) -> tuple[Candidate, ...]:
        """Return the first candidate and all others with the same nearest utterance; none if there are no others."""
        line = decision.ranked[0].utterance if self._shared and decision.ranked else None
        if line is None:
            return ()
        text = fold(line.text)
        same = tuple(c for c in decision.ranked if c.utterance is not None and fold(c.utterance.text) == text)
        return same if len(same) > 1 else ()


def _eligible(
    shared: SharedLines, rows: Mapping[int, Set[int]], allowed: frozenset[int] | None, active: frozenset[str]
) -> _Eligible:
    hidden = shared.hidden(allowed, active)
    if hidden and allowed is not None:
        allowed -= {intent for intent, own in rows.items() if own <= hidden}
    return allowed, hidden
