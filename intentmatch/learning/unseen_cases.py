"""Held-out cases for encoders that were trained on the registry's own utterances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.encoders.unseen_messages import UnseenMessages, digests_of
from intentmatch.learning.calibration import FEWEST_CASES
from intentmatch.learning.cross_validation import RANKED, HeldOut


def scoring_of(settings: Settings) -> str:
    """Name the settings that decide what the evidence of an intent is."""
    return f"{settings.scorer} {settings.aggregation} background"


def unseen_of(cases: Sequence[HeldOut], registry: Registry, settings: Settings) -> UnseenMessages:
    """Return what is kept with an encoder that is trained on a registry: cases that models of its folds answered."""
    ranked, place, known = (
        np.concatenate([getattr(one, name) for one in cases]) for name in ("ranked", "place", "known")
    )
    return UnseenMessages(np.unique(digests_of(registry.folded)), ranked, place, known, scoring_of(settings))


def as_cases(unseen: UnseenMessages) -> HeldOut:
    """Return the messages as cases that weigh 1 each."""
    count = len(unseen.known)
    return HeldOut(
        ranked=unseen.ranked,
        first=np.zeros(count, dtype=np.int64),
        place=unseen.place,
        known=unseen.known,
        rows=np.full(count, -1),
        weights=np.ones(count),
    )


def with_unseen(held_out: HeldOut, registry: Registry, settings: Settings, unseen: UnseenMessages | None) -> HeldOut:
    """Replace the cases of utterances that the encoder was trained on by messages that it was not trained on.

    These weigh together as much as the cases that they replace, in scope and out of scope. Without any of one kind,
    with too few for a calibration, and under settings that change the evidence, the cases stay.
    """
    # Evidence of another scorer is on another scale.
    if unseen is None or unseen.scoring != scoring_of(settings) or unseen.ranked.shape[1] != RANKED:
        return held_out
    trained = np.isin(digests_of(registry.folded), unseen.lines)
    seen = (held_out.rows >= 0) & trained[held_out.rows]
    parts, kept = [], np.ones(len(seen), dtype=bool)
    for known in (True, False):
        replaced, instead = seen & (held_out.known == known), as_cases(unseen).select(unseen.known == known)
        if replaced.any() and len(instead.known):
            kept &= ~replaced
            instead.weights[:] = float(held_out.weights[replaced].sum()) / len(instead.weights)
            parts.append(instead)
    together = [held_out.select(kept), *parts]
    found = HeldOut(*(np.concatenate([getattr(one, name) for one in together]) for name in HeldOut.__slots__))
    return found if min(found.right.sum(), (~found.right).sum()) >= FEWEST_CASES else held_out
