"""The effect of an edit before it is written: which answers change, and why, within a time limit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from intentmatch.authoring.time_limit import StoppedError, after, stopping
from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.compare.changes import Edit, SourceName
from intentmatch.evaluation.compare.diff import TITLES, Asked, Diff
from intentmatch.evaluation.compare.paired import Paired, paired_rounds
from intentmatch.evaluation.runner import Runner
from intentmatch.matching.matcher import Matcher

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


def effect_of(matcher: Matcher, registry: Registry, messages: Sequence[Case] = (), *, seconds: float = 10.0) -> Effect:
    """Compare a matcher with one of the edited registry, on tests, logged messages and held-out utterances.

    Held-out utterances come last and take most of the time: they are compared fold by fold, until the time is up. Both
    registries are trained anew in each fold. The limit is checked between the steps of the work.

    Raises what `Matcher.load` raises for the edited registry, such as for a setting that names an unknown model.
    """
    logged = list(messages)[-MOST_MESSAGES:]
    edit = Edit.between(matcher.registry, registry)
    asked: list[Asked] = []
    compared: dict[SourceName, tuple[int, int]] = {
        "held_out": (0, len(matcher.registry.utterances)),
        "tests": (0, len(registry.tests)),
        "messages": (0, len(messages)),
    }
    edited: Matcher | None = None
    with suppress(StoppedError), stopping(after(seconds)):
        edited = matcher.trial(registry)
        sets: tuple[tuple[SourceName, Sequence[Case]], ...] = (("tests", registry.tests), ("messages", logged))
        for source, cases in sets:
            if cases:
                sides = (matcher, edited)
                before, now = (tuple(Runner(side, TITLES[source], len(cases)).run_all(cases)) for side in sides)
                asked.append(Asked(source, before, now))
                compared[source] = len(cases), compared[source][1]
        held_out = Paired((), ())
        for fold, total in paired_rounds(matcher, edited, edit.renamed):
            held_out = Paired(held_out.old + fold.old, held_out.new + fold.new)
            compared["held_out"] = len(held_out.new), total
            asked = [*(one for one in asked if one.source != "held_out"), Asked("held_out", *held_out)]
        # Utterances that cannot be held out, such as the only one of an intent, are not missing.
        compared["held_out"] = len(held_out.new), len(held_out.new)
    if edited is None:
        return Effect(None, compared)
    order: tuple[SourceName, ...] = ("held_out", "tests", "messages")
    asked.sort(key=lambda one: order.index(one.source))
    return Effect(Diff(_NAMES, edit, tuple(asked), (), (0, 0)), compared)
