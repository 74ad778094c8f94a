"""Choose the thresholds and the margin in use: the author's, or the learned ones where the author wrote none."""

from __future__ import annotations

from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.threshold_choice import LearnedCut
from intentmatch.matching.policy import Cut, Policy, author_cut, policy_cuts

FALLBACK_THRESHOLD = 0.32
"""Score threshold of registries too small to calibrate: just above it, a match is right in three of four cases.

Measured on registries of 2 to 10 intents with 2 to 8 utterances, drawn from development sets, a fifth of the messages
out of scope: 73% are right with the embedded encoder (170 registries), 77% with all-MiniLM-L6-v2 (86).
"""


FALLBACK_MARGIN = 0.05
"""Score margin of registries too small to calibrate."""

# Held-out cases below which a threshold that refuses nothing is not believed.
_FEW_CASES = 60


def policy_of(
    registry: Registry, settings: Settings, calibration: Calibration, scope: str = "from this registry"
) -> Policy:
    """Return the thresholds and the margin that a registry uses under its settings and calibration.

    `scope` says in words where the learned default threshold comes from.
    """
    cut = calibration.cut
    if cut is None:
        learned = Cut(FALLBACK_THRESHOLD, "the default; too few utterances to learn one")
    elif calibration.promise is not None and calibration.promise.kept:
        learned = _learned(cut, f"as the promise of {calibration.promise.cases} labelled messages")
    elif cut.refused == 0.0 and cut.cases < _FEW_CASES and settings.out_of_scope_share != 0.0:
        # The intents of a tiny bot resemble each other: left-out ones say nothing about unrelated messages.
        learned = Cut(FALLBACK_THRESHOLD, "the default; the learned one would refuse nothing")
    elif all(registry.is_described):
        learned = _learned(cut, "from other bots")
    else:
        labelled = calibration.labelled
        learned = _learned(cut, scope if labelled is None else f"{scope} and {labelled.cases} labelled messages")
    default, by_language = policy_cuts(settings.threshold, settings.origin("threshold"), learned)
    by_intent = {}
    if not settings.threshold:
        # A threshold that the author wrote, if only for one language, wins over all learned ones.
        by_language = {name: _learned(of, f"for {name}") for name, of in calibration.by_language.items()}
        by_intent = {name: _learned(of, f"for {name}") for name, of in calibration.by_intent.items()}
    written = {
        intent.name: author_cut(
            intent.threshold, f"the author's, {intent.location.short if intent.location else 'from code'}"
        )
        for intent in registry
        if intent.threshold is not None
    }
    margin = settings.margin
    if calibration.curve is None:
        margin = FALLBACK_MARGIN if margin is None else margin
        default = _on_score(default)
        by_language = {name: _on_score(of) for name, of in by_language.items()}
        written = {name: _on_score(of) for name, of in written.items()}
    return Policy(default, by_language, by_intent | written, margin, settings.band, learned=by_intent)


def _on_score(cut: Cut) -> Cut:
    """Return a threshold for a registry without confidences: the default one instead of a percentage."""
    if cut.on == "score":
        return cut
    origin = f"the default; too few utterances for a confidence, which {cut.in_words(cut.value)} needs: {cut.origin}"
    return Cut(FALLBACK_THRESHOLD, origin)


def _learned(cut: LearnedCut, scope: str) -> Cut:
    return Cut(cut.value, f"learned {scope}", cut.on)
