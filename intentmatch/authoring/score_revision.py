"""Evaluate a revision: the answers right before it and after it, within a time limit."""

from __future__ import annotations

import time
from contextlib import suppress

from intentmatch.authoring.effect import Effect, effect_of
from intentmatch.authoring.past_registries import registry_before, registry_to_try
from intentmatch.authoring.revision_scores import SECONDS, Scores, SourceScore
from intentmatch.authoring.time_limit import StoppedError, after, stopping
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher


def evaluate(workspace: Workspace, identity: str, matcher: Matcher, *, seconds: float = SECONDS) -> Scores:
    """Evaluate a revision and the one before it with the models of `matcher`, and keep the result.

    Takes about `seconds` at most; see `scores_of`. A revision before that is invalid counts as none. Raises as
    `registry_to_try`.
    """
    after_it = registry_to_try(workspace, identity)
    scores = scores_of(matcher, registry_before(workspace, identity), after_it, seconds=seconds)
    workspace.scores.write(identity, scores)
    return scores


def scores_of(matcher: Matcher, old: Registry | None, new: Registry, *, seconds: float = SECONDS) -> Scores:
    """Evaluate two states of a registry on tests and held-out utterances, with the models of `matcher`.

    Both states answer the same messages: the tests of the new state, and the utterances that both have. `old` is None
    for the first revision. The time limit is checked between the steps of the work. Raises as `effect_of`.
    """
    end = time.monotonic() + seconds
    before: Matcher | None = None
    with suppress(StoppedError), stopping(after(seconds)):
        # For the first revision both sides are the same, and only the new one is counted.
        before = matcher.trial(new if old is None else old)
    if before is None:
        return Scores((), 0, 0, sampled=True)
    # Without the likely changes first: a share of right answers needs a random sample if the time is up early.
    effect = effect_of(before, new, seconds=end - time.monotonic(), likely_first=False)
    return _counted(effect, first=old is None)


def _counted(effect: Effect, *, first: bool) -> Scores:
    if effect.diff is None:
        return Scores((), 0, 0, sampled=True)
    sources = tuple(
        SourceScore(
            one.source,
            *effect.compared[one.source],
            None if first else sum(outcome.right for outcome in one.old),
            sum(outcome.right for outcome in one.new),
        )
        for one in effect.diff.asked
        if one.new
    )
    return Scores(sources, effect.diff.count("better"), effect.diff.count("worse"), effect.sampled)
