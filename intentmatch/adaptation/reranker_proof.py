"""Measure what a trained cross-encoder does in the doubtful band: the messages that a bot asks a reranker about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from intentmatch.adaptation.proof import BeforeAfter, Proof, ProofFold, right_first, right_verdict
from intentmatch.artefact.build import build
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Reranker
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import Snapshot
from intentmatch.storage.vector_cache import VectorCache

_NO_HURRY = 3600.0
"""Seconds for a message: the proof must not depend on the speed of the machine."""


class Doubtful(NamedTuple):
    """One message of the doubtful band, without and with the reranker."""

    in_scope: bool
    right_before: bool
    right_after: bool
    first_before: bool
    """Whether the first candidate is the expected intent."""
    first_after: bool


def doubtful_messages(fold: ProofFold, encoder: Encoder, reranker: Reranker, settings: Settings) -> list[Doubtful]:
    """Answer the messages of a fold with and without the reranker; return those that it was asked about.

    Right is a match of the expected intent, and the refusal of a message whose intent was left out.
    """
    patient = replace(settings, reranker_seconds=_NO_HURRY)
    artefact = build(fold.registry, encoder, patient, cache=VectorCache.at(settings.cache))
    plain, second = (
        Snapshot(Engine(artefact, encoder, one)).match_many(fold.messages, top_k=1, context=fold.registry.tags)
        for one in (None, reranker)
    )
    return [
        Doubtful(
            expected is not None,
            right_verdict(before, expected),
            right_verdict(after, expected),
            right_first(before, expected),
            right_first(after, expected),
        )
        for before, after, expected in zip(plain, second, fold.expected, strict=True)
        if after.trace.decided_by == "reranker"
    ]


def proof_of(folds: Sequence[ProofFold], found: Sequence[Doubtful]) -> Proof:
    """Compare the doubtful messages of all folds without and with the reranker.

    Right answers must become more, and right first candidates not fewer.
    """
    inside = [one for one in found if one.in_scope]
    rows = []
    if found:
        pairs = [(one.right_before, one.right_after) for one in found]
        rows.append(_compared(f"right answers to {len(found):,} doubtful messages", pairs))
    if inside:
        pairs = [(one.first_before, one.first_after) for one in inside]
        rows.append(_compared(f"first candidate of {len(inside):,} of them", pairs))
    known = [expected is not None for fold in folds for expected in fold.expected]
    deciding = tuple(row.name for row in rows[:1])
    return Proof(tuple(rows), sum(known), len(known) - sum(known), len(folds), deciding)


def _compared(name: str, pairs: Sequence[tuple[bool, bool]]) -> BeforeAfter:
    before, after = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    changed = sum(one != other for one, other in pairs)
    # Standard error under the hypothesis of no difference, as in `proof`.
    return BeforeAfter(name, before, after, math.sqrt(changed) / len(pairs))
