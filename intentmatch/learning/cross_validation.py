"""Cross-validation on a registry's own utterances.

Every utterance is left out in a fold and is then a message that the bot should understand. With its whole intent left
out as well, it is an out-of-scope message that the bot should refuse. Nothing is encoded for this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.background import Background, BackgroundFit
from intentmatch.learning.fold_plan import Plan, Round, Utterances, plan_rounds
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.head import Fitting, Near, held_out_head
from intentmatch.learning.word_alignment import LEADING, WordAlignment
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import (
    CROSS_VALIDATION_COSINES,
    CROSS_VALIDATION_MAX_CASES,
    CROSS_VALIDATION_MIN_CASES,
)
from intentmatch.runtime.threads import Each, one_by_one

Translate = Callable[[Vectors, NDArray[np.int64]], Vectors]
"""Returns vectors of several translations each from vectors of utterances and their owners: shapes `(utterances, dim)`,
`(utterances,)` and `(translations, utterances, dim)`."""

RANKED = 5
"""First intents of a message that share its confidence. Matching ranks at least so many."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out cases; arrays have shape `(cases,)` unless stated otherwise."""

    ranked: NDArray[np.float64]
    """Evidence of the first intents in falling order, -inf if there are fewer; shape `(cases, RANKED)`."""
    first: NDArray[np.int64]
    """Position of the first intent."""
    place: NDArray[np.int64]
    """Place of the utterance's own intent among them, 0 for the first; `RANKED` if it is not among them."""
    known: NDArray[np.bool_]
    """Whether the utterance's own intent was there to be found, so that the message is in scope."""
    rows: NDArray[np.int64]
    """Row of the utterance; -1 for a labelled message."""
    weights: NDArray[np.float64]
    """How much the case counts among those in scope, or among those out of scope."""

    def select(self, some: slice | NDArray[np.bool_] | NDArray[np.int64]) -> HeldOut:
        """Return some of the cases."""
        return HeldOut(*(getattr(self, name)[some] for name in self.__slots__))

    @property
    def evidence(self) -> NDArray[np.float64]:
        """Evidence of the first intent."""
        first: NDArray[np.float64] = self.ranked[:, 0]
        return first

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the first intent is the utterance's own."""
        right: NDArray[np.bool_] = self.place == 0
        return right


class Scorer(NamedTuple):
    """How the evidence of an intent is computed: from similarity, and from a head and from words if there are any."""

    aggregation: str
    fitting: Fitting | None = None
    """Training data of the head; None without one."""
    near: Near | None = None
    """Weights of a head that is trained on all utterances, from which the heads of the rounds are found sooner."""
    words: WordAlignment | None = None
    background: BackgroundFit | None = None
    """None if evidence does not count on what people write to other bots."""


def cross_validate(
    utterances: Utterances,
    scorer: Scorer,
    translate: Translate | None = None,
    *,
    sample: NDArray[np.int64] | None = None,
    each: Each = one_by_one,
) -> tuple[HeldOut, HeldOut | None]:
    """Match held-out utterances as they are, and again as if said in languages that the registry lacks.

    Each is matched against the rest of the registry, with and without its own intent. Deterministic.

    `translate` makes the vectors of translations; their words do not count, as translations share few words with the
    registry. The second result is None without `translate`. With a `sample`, rising rows of the utterances, only these
    are asked about, and the fitting of the `scorer` covers only these.
    """
    matcher = _Matcher(
        utterances, scorer, ExactIndex(utterances.vectors, utterances.owner.tolist(), scorer.aggregation)
    )
    found: list[list[_Cases]] = []
    if len(matcher.index.owners) >= 2:
        plan = plan_rounds(utterances, sample, translated=translate is not None)
        if plan.rounds:
            messages = matcher.messages(plan, translate, each)
            of_rounds = each(lambda one: matcher.cases(one, plan.rows, messages), plan.rounds)
            found = list(steps.counted("cross-validating", of_rounds, len(plan.rounds)))
    held_out = _held_out([as_said for as_said, *_ in found], utterances.owner)
    if translate is None:
        return held_out, None
    return held_out, _held_out([one for _, *translations in found for one in translations], utterances.owner)


class _Messages(NamedTuple):
    """Held-out utterances as messages: all as they are, or all translated."""

    asked: NDArray[np.bool_]
    """Mask of these utterances over the rows of the plan."""
    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    """Scores against the utterances that count for each, without a head; shape `(messages, owners)`."""
    translations: Vectors | None = None
    """Their vectors if they are translated."""

    def select(self, some: NDArray[np.bool_]) -> _Messages:
        """Return some of the messages; `some` is a mask over the rows of the plan."""
        own, moved = some[self.asked], self.translations
        return _Messages(some & self.asked, self.rows[own], self.scores[own], None if moved is None else moved[own])

    def features(self, fitting: Fitting) -> NDArray[np.float32]:
        """Return the features that a head reads."""
        if self.translations is None:
            return fitting.features[: fitting.utterances][self.asked]
        return fitting.without_words(self.translations)


class _Cases(NamedTuple):
    """Cases of one round with their first intents and the evidence for them, shape `(cases, RANKED)` each."""

    rows: NDArray[np.int64]
    evidence: NDArray[np.float64]
    intents: NDArray[np.int64]
    known: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Matcher:
    """Matches held-out utterances against the rest of their registry."""

    utterances: Utterances
    scorer: Scorer
    index: ExactIndex

    def messages(self, plan: Plan, translate: Translate | None, each: Each) -> list[_Messages]:
        """Score the utterances that a plan asks about, followed by each translation of those that are translated."""
        vectors, rows, repeated = self.utterances.vectors, plan.rows[plan.asked], plan.rows[plan.translated]
        moved: Vectors = np.empty((0, 0, vectors.shape[1]), dtype=np.float32)
        if translate is not None:
            moved = translate(vectors[repeated], self.utterances.owner[repeated])
        again = plan.translated[plan.asked]
        place_of_moved = np.cumsum(again) - 1

        def scores(part: slice) -> list[NDArray[np.float32]]:
            cosines: Vectors = vectors[rows[part]] @ vectors.T
            left_out, chosen = self.utterances.left_out(rows[part], cosines), again[part]
            # Before the aggregation: a mean of two must not count a copy of the message itself.
            cosines[left_out] = -np.inf
            found = [self.index.aggregate(cosines)]
            for one in moved[:, place_of_moved[part][chosen]]:
                cosines_of_moved: Vectors = one @ vectors.T
                cosines_of_moved[left_out[chosen]] = -np.inf
                found.append(self.index.aggregate(cosines_of_moved))
            return found

        many = CROSS_VALIDATION_COSINES // max(1, len(vectors))
        block = max(CROSS_VALIDATION_MIN_CASES, min(CROSS_VALIDATION_MAX_CASES, many))
        parts = [slice(start, start + block) for start in range(0, len(rows), block)]
        as_said, *of_moved = map(np.concatenate, zip(*each(scores, parts), strict=True))
        translations = zip(of_moved, moved, strict=True)
        return [
            _Messages(plan.asked, rows, as_said),
            *(_Messages(plan.translated, repeated, of_one, one) for of_one, one in translations),
        ]

    def cases(self, one: Round, rows: NDArray[np.int64], messages: Sequence[_Messages]) -> list[_Cases]:
        """Return the cases of a round among each of these messages; `rows` are those of the plan."""
        fitting, owners = self.scorer.fitting, self.index.owners
        head = None if fitting is None else held_out_head(fitting, one.left_out, self.scorer.near)
        absent = np.isin(owners, self.utterances.owner[rows[one.left_out]])
        background = self._background(one, rows)
        found = []
        for some in (asked.select(one.left_out) for asked in messages):
            if not one.known:
                some.scores[:, absent] = -np.inf
            usable = self._usable(some, known=one.known)
            logits = head.logits(some.features(fitting)) if head and fitting else None
            evidence, intents = first_ranked(self._evidence(some, logits)[usable], owners)
            if background is not None:
                vectors = self.utterances.vectors[some.rows] if some.translations is None else some.translations
                evidence += background.evidence_many(vectors[usable])[:, None]
            found.append(_Cases(some.rows[usable], evidence, intents, np.full(len(evidence), one.known)))
        return found

    def _background(self, one: Round, rows: NDArray[np.int64]) -> Background | None:
        """Return the background as the registry sees it without what a round leaves out."""
        if self.scorer.background is None:
            return None
        owner, out = self.utterances.owner, rows[one.left_out]
        if not one.known:
            return self.scorer.background.without(np.isin(owner, owner[out]))
        left_out = np.zeros(len(owner), dtype=bool)
        left_out[out] = True
        return self.scorer.background.without(left_out)

    def _usable(self, messages: _Messages, *, known: bool) -> NDArray[np.bool_]:
        """Return which messages are cases: those in scope whose intent has another utterance, or out of scope."""
        finite, shared = np.isfinite(messages.scores), self.utterances.shared
        if known:
            own = np.searchsorted(self.index.owners, self.utterances.owner[messages.rows])
            return finite[np.arange(len(finite)), own]
        if shared is None:
            return np.ones(len(finite), dtype=bool)
        usable: NDArray[np.bool_] = finite.any(axis=1) & ~shared.answered_elsewhere[messages.rows]
        return usable

    def _evidence(self, messages: _Messages, logits: NDArray[np.float32] | None) -> NDArray[np.float64]:
        """Return the evidence of each intent, shape `(messages, owners)`; -inf if none of its utterances counts."""
        scores, shared = messages.scores, self.utterances.shared
        evidence = scores.astype(np.float64)
        if logits is not None:
            logits = logits[:, self.index.owners]
            present = np.isfinite(scores) & np.isfinite(logits)
            fused = fused_score(scores, logits, {} if shared is None else shared.apart)
            evidence = np.where(present, fused, -np.inf)
        if self.scorer.words is not None and messages.translations is None:
            self._add_words(self.scorer.words, evidence, messages.rows)
        return evidence

    def _add_words(self, words: WordAlignment, evidence: NDArray[np.float64], rows: NDArray[np.int64]) -> None:
        """Add the word similarity of the leading intents to the evidence, as matching does."""
        leading = np.argsort(-evidence, axis=1, kind="stable")[:, :LEADING]
        present = np.isfinite(np.take_along_axis(evidence, leading, axis=1))
        nearest, copies = self._nearest(leading, rows)
        others = [near[those].tolist() for near, those in zip(nearest, present, strict=True)]
        similar = words.similarities_of_rows(rows, others, copies)
        for place, (columns, those, similarities) in enumerate(zip(leading, present, similar, strict=True)):
            evidence[place, columns[those]] += words.weight * np.array(similarities)

    def _nearest(self, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[set[int]]]:
        """Return the row of the nearest utterance that counts, of each intent in the columns of each held-out row.

        The second value holds for each held-out row its copies among the utterances of these intents.
        """
        vectors, copies = self.utterances.vectors, [set[int]() for _ in rows]
        nearest = np.empty(columns.size, dtype=np.int64)
        case, column = np.repeat(rows, columns.shape[1]), columns.ravel()
        # Intent by intent, since the utterances of one intent are one block of vectors.
        order = np.argsort(column, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(column[order])) + 1) if len(order) else ():
            span = self.index.span(int(column[pairs[0]]))
            cosines: Vectors = vectors[case[pairs]] @ vectors[span].T
            copied = self.utterances.copies(case[pairs], cosines, span)
            for place, row in np.argwhere(copied).tolist():
                copies[pairs[place] // columns.shape[1]].add(span.start + row)
            cosines[self.utterances.with_silent(copied, case[pairs], span)] = -np.inf
            nearest[pairs] = span.start + cosines.argmax(axis=1)
        return nearest.reshape(columns.shape), copies


def first_ranked(
    evidence: NDArray[np.float64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the highest evidence of each row and the intents that have it, shape `(rows, RANKED)` each.

    `evidence` has shape `(rows, owners)`. Where there are fewer owners, -inf and -1 stand in the last places.
    """
    order = np.argsort(-evidence, axis=1, kind="stable")[:, :RANKED]
    ranked = np.full((len(order), RANKED), -np.inf)
    ranked[:, : order.shape[1]] = np.take_along_axis(evidence, order, axis=1)
    intents = np.full((len(order), RANKED), -1)
    intents[:, : order.shape[1]] = owners[order]
    return ranked, intents


def _held_out(rounds: Sequence[_Cases], owner: NDArray[np.int64]) -> HeldOut:
    """Return all cases, the known ones first."""
    if not rounds:
        whole = np.empty(0, dtype=np.int64)
        return HeldOut(np.empty((0, RANKED)), whole, whole, whole.astype(bool), whole, np.empty(0))
    rows, ranked, intents, known = map(np.concatenate, zip(*rounds, strict=True))
    own = np.isfinite(ranked) & (intents == owner[rows][:, None])
    return HeldOut(
        ranked=ranked,
        first=intents[:, 0],
        place=np.where(own.any(axis=1) & known, own.argmax(axis=1), RANKED),
        known=known,
        rows=rows,
        weights=np.ones(len(rows)),
    )
