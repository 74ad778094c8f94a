"""The effect of an edit before it is written: which answers change, and why, within a time limit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from intentmatch.authoring.time_limit import StoppedError, after, stopping
from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.compare.changes import RegistryDifference, SourceName
from intentmatch.evaluation.compare.diff import TITLES, ComparedCases, Diff
from intentmatch.evaluation.compare.rounds import Rounds
from intentmatch.evaluation.runner import Runner
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.snapshot import Snapshot

MOST_MESSAGES = 500
"""Logged messages that are compared, the newest."""

_NAMES = ("before the edit", "after the edit")


@dataclass(frozen=True, slots=True)
class Effect:
    """The answers that an edit changes."""

    diff: Diff | None
    """The comparison; None if not even the changed registry could be built in time."""
    compared: dict[SourceName, tuple[int, int]]
    """By source: how many messages were compared, and how many there are."""

    @property
    def sampled(self) -> bool:
        """Whether some messages were not compared, for lack of time or because there are too many."""
        return self.diff is None or any(done < total for done, total in self.compared.values())

    @property
    def summary(self) -> str | None:
        """The comparison in one sentence; None if not even the changed registry could be built in time."""
        if self.diff is None:
            return None
        done, total = (sum(part) for part in zip(*self.compared.values(), strict=True))
        return f"none of {total:,} messages could be compared in time" if total and not done else self.diff.summary

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "sampled": self.sampled,
            "compared": {source: {"messages": n, "of": total} for source, (n, total) in self.compared.items()},
            "summary": self.summary,
            "fixed": 0 if self.diff is None else self.diff.count("better"),
            "broken": 0 if self.diff is None else self.diff.count("worse"),
            "changes": [] if self.diff is None else [change.to_dict() for change in self.diff.changes],
        }


def effect_of(
    matcher: Matcher,
    registry: Registry,
    messages: Sequence[Case] = (),
    *,
    seconds: float = 10.0,
    likely_first: bool = True,
) -> Effect:
    """Compare a matcher with one of the edited registry, on tests, logged messages and held-out utterances.

    See `Comparison`. Raises what `Matcher.load` raises for the edited registry, such as for a setting that names an
    unknown model.
    """
    return Comparison(matcher, registry, messages, likely_first=likely_first).go_on(seconds)


class Comparison:
    """Compares a matcher with one of the edited registry, on tests, logged messages and held-out utterances.

    Held-out utterances come last and take most of the time: they are compared round by round, see `Rounds`, until the
    time is up. The limit is checked between the steps of the work. Not for several threads at a time.
    """

    def __init__(
        self, matcher: Matcher, registry: Registry, messages: Sequence[Case] = (), *, likely_first: bool = True
    ) -> None:
        """With `likely_first`, utterances near the edited ones come first: a part of all is then no random sample."""
        self._matcher, self._before = matcher, matcher.snapshot()
        self._registry, self._likely_first = registry, likely_first
        self._edit = RegistryDifference.between(self._before.registry, registry)
        logged = list(messages)[-MOST_MESSAGES:]
        self._sets: list[tuple[SourceName, Sequence[Case]]] = [("tests", registry.tests), ("messages", logged)]
        self._asked: list[ComparedCases] = []
        self._compared: dict[SourceName, tuple[int, int]] = {
            "held_out": (0, len(self._before.registry.utterances)),
            "tests": (0, len(registry.tests)),
            "messages": (0, len(messages)),
        }
        self._edited: Snapshot | None = None
        self._rounds: Rounds | None = None

    @property
    def finished(self) -> bool:
        """Whether more time would compare nothing more."""
        return self._rounds is not None and self._rounds.finished

    def go_on(self, seconds: float) -> Effect:
        """Return the effect after at most so many more seconds; what was compared before is not compared again.

        Raises what `Matcher.load` raises for the edited registry.
        """
        with suppress(StoppedError), stopping(after(seconds)):
            self._work()
        return self._effect()

    def _work(self) -> None:
        # Each part is done once and kept, so that a later call goes on where the time was up.
        if self._edited is None:
            self._edited = self._matcher.trial(self._registry).snapshot()
        while self._sets:
            source, cases = self._sets[0]
            if cases:
                sides = (self._before, self._edited)
                before, now = (tuple(Runner(side, TITLES[source], len(cases)).run_all(cases)) for side in sides)
                self._asked.append(ComparedCases(source, before, now))
                self._compared[source] = len(cases), self._compared[source][1]
            del self._sets[0]
        if self._rounds is None:
            likely_first = self._likely_first
            self._rounds = Rounds(self._before, self._edited, self._edit.renamed, likely_first=likely_first)
        while not self._rounds.finished:
            self._rounds.go_on()

    def _effect(self) -> Effect:
        if self._edited is None:
            return Effect(None, self._compared)
        asked, compared = [*self._asked], {**self._compared}
        if self._rounds is not None:
            before, now = self._rounds.outcomes
            asked.insert(0, ComparedCases("held_out", before, now))
            # Utterances that cannot be held out, such as the only one of an intent, are not missing.
            compared["held_out"] = len(now), len(now) if self._rounds.finished else self._rounds.total
        return Effect(Diff(_NAMES, self._edit, tuple(asked), (), (0, 0)), compared)
