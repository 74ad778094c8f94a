"""Hold out the utterances of a registry and of an edited one, round by round, so that work can stop after any round.

The side before the edit does not depend on the edit: it is worked out once, however many edits are tried. Only the head
is trained anew in each round. Thresholds and confidences stay those of each whole registry, which are what users meet,
and whose cross-validation would take most of the time.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Intent, Registry
from intentmatch.evaluation.compare.paired import Key, keys_of
from intentmatch.evaluation.curve import case_of
from intentmatch.evaluation.folds import Fold, near_duplicates, split, without
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import CachingEncoder, Runner, vectors_of
from intentmatch.learning.fold_plan import representative
from intentmatch.learning.training import PreviousTraining
from intentmatch.matching.snapshot import BaseMatcher
from intentmatch.text.normalize import clean

FOLDS = 5
LIKELY = 100
"""Utterances in the round of those whose answers are likely to change."""
_MOST_KEPT = 4
_TITLE = "held-out utterances"


class Before:
    """The side before an edit. Safe to use from many threads."""

    def __init__(self, old: BaseMatcher) -> None:
        registry, artefact = old.registry, old.artefact
        self.encoder = CachingEncoder(old.encoder, vectors_of(old))
        vectors = artefact.wide_vectors
        # Negatives are not asked about here, and so need no fold.
        only_utterances = Registry(tuple(replace(intent, negatives=(), excluded=()) for intent in registry))
        self.folds = split(only_utterances, vectors, vectors[:0], FOLDS, 0).folds
        self._found: dict[int, dict[int, Outcome]] = {}
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Number of utterances that the folds ask about."""
        return sum(len(fold.asked) for fold in self.folds)

    def outcomes(self, old: BaseMatcher, number: int) -> Mapping[int, Outcome]:
        """Return the outcomes of a fold by row; they are kept."""
        with self._lock:
            found = self._found.get(number)
        if found is None:
            fold = self.folds[number]
            # Outside of the lock: two threads may find the same, and neither waits for the other.
            found = _outcomes(old, self.encoder, fold.utterances, fold.asked)
            with self._lock:
                self._found[number] = found
        return found


_kept: OrderedDict[int, Before] = OrderedDict()
_lock = threading.Lock()


def before(old: BaseMatcher) -> Before:
    """Return the side before an edit of a registry; it is kept until the registry is not in use any more."""
    artefact = old.artefact
    # By identity, which does not keep the artefact alive.
    number = id(artefact)
    with _lock:
        found = _kept.get(number)
        if found is not None:
            _kept.move_to_end(number)
            return found
    found = Before(old)
    with _lock:
        if number not in _kept:
            weakref.finalize(artefact, _forget, number)
        _kept[number] = found
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return found


def _forget(number: int) -> None:
    # Not under the lock: the garbage may be collected by the thread that holds it.
    _kept.pop(number, None)


class Rounds:
    """The rounds of one edit: first the utterances whose answers are likely to change, then fold after fold.

    Each utterance that both sides have is asked about in one fold; its outcome there replaces that of the first round.
    """

    def __init__(
        self, old: BaseMatcher, new: BaseMatcher, renamed: Mapping[str, str], *, likely_first: bool = True
    ) -> None:
        """`renamed` maps old intent names to new ones; snapshots, as both sides must not change."""
        self._old, self._new = old, new
        self._before = before(old)
        self._keys_before = keys_of(old.registry, renamed)
        # One cache for both sides: most texts are the same.
        same = new.encoder is old.encoder
        self._encoder = self._before.encoder if same else CachingEncoder(new.encoder, vectors_of(new))
        self._after = _After(old, new, renamed)
        likely = self._likely(renamed) if likely_first and self._before.total > 2 * LIKELY else frozenset()
        self._likely_rows = likely
        self._next = -1 if likely else 0
        self._found: dict[Key, tuple[Outcome, Outcome]] = {}

    @cached_property
    def total(self) -> int:
        """Number of utterances that can be compared."""
        return sum(self._keys_before[row] in self._after.asked for fold in self._before.folds for row in fold.asked)

    @property
    def finished(self) -> bool:
        """Whether there is no round left."""
        return self._next >= len(self._before.folds)

    @property
    def outcomes(self) -> tuple[tuple[Outcome, ...], tuple[Outcome, ...]]:
        """Outcomes of the same utterances before and after the edit."""
        pairs = self._found.values()
        return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)

    def go_on(self) -> None:
        """Do the next round. A round that an exception stops begins again with the next call."""
        if self._next < 0:
            rows = self._likely_rows
            was: Mapping[int, Outcome] = _outcomes(self._old, self._before.encoder, rows, sorted(rows))
        else:
            rows = self._before.folds[self._next].utterances
            was = self._before.outcomes(self._old, self._next)
        held_out = self._after.held_out({self._keys_before[row] for row in rows})
        asked = {self._keys_before[row]: row for row in was if self._keys_before[row] in self._after.asked}
        evaluated = {key: self._after.asked[key] for key in asked if self._after.asked[key] in held_out}
        now = _outcomes(self._new, self._encoder, held_out, list(evaluated.values()))
        self._found.update((key, (was[asked[key]], now[row])) for key, row in evaluated.items())
        self._next += 1

    def _likely(self, renamed: Mapping[str, str]) -> frozenset[int]:
        """Return rows of the old side whose answers are likely to change: those nearest to what the edit changes.

        A fifth of the utterances of an intent at most, as in a fold, and near-duplicates only together.
        """
        old, new = self._old, self._new
        changed = self._after.changed_vectors(self._keys_before)
        registry, vectors = old.registry, old.artefact.wide_vectors
        likeness = (vectors @ changed.T).max(axis=1) if len(changed) else np.zeros(len(vectors), dtype=np.float32)
        others = {renamed.get(intent.name, intent.name) for intent in old.registry} & {one.name for one in new.registry}
        edited = {
            name for name in others if _rules(self._after.of_old[name]) != _rules(new.registry[name])
        }  # such as a threshold, which any of its lines may feel
        owners = [renamed.get(registry.intents[owner].name, registry.intents[owner].name) for owner in registry.owners]
        likeness = np.where([owner in edited for owner in owners], 1.0, likeness)
        shared = {row for rows in SharedLines(registry).groups for row in rows}
        asked = (row for fold in self._before.folds for row in fold.asked if likeness[row] > 0.0)
        both = (row for row in asked if self._keys_before[row] in self._after.asked)
        # More than are wanted, since some will not fit: their intent has given enough, or has too many duplicates.
        order = sorted(both, key=lambda row: -likeness[row])[: 3 * LIKELY]
        groups = _Groups(registry, vectors)
        chosen: set[int] = set()
        taken: dict[int, int] = {}
        for row in order:
            if len(chosen) >= LIKELY:
                break
            group, owner = groups.of(row), registry.owners[row]
            # An intent that lost more would be asked about as another, smaller intent.
            room = len(groups.rows[owner]) // FOLDS - taken.get(owner, 0)
            if row not in chosen and len(group) <= room and shared.isdisjoint(group):
                chosen.update(group)
                taken[owner] = taken.get(owner, 0) + len(group)
        return frozenset(chosen)


class _After:
    """The side after an edit: what it must leave out when utterances of the side before are held out."""

    def __init__(self, old: BaseMatcher, new: BaseMatcher, renamed: Mapping[str, str]) -> None:
        self._registry = registry = new.registry
        self._new = new
        self.of_old = {renamed.get(intent.name, intent.name): intent for intent in old.registry}
        self._keys = keys_of(registry, {})
        self._vectors = vectors = new.artefact.wide_vectors
        groups = _Groups(registry, vectors)
        self._groups: dict[int, Sequence[int]] = {}
        for owner, intent in enumerate(registry):
            was = self.of_old.get(intent.name)
            # Only in an edited intent can near-duplicates differ from those that the folds keep together.
            if was is not None and _lines(was) != _lines(intent):
                self._groups.update((row, groups.of(row)) for row in groups.rows.get(owner, ()))
        self._shared = SharedLines(registry).groups
        flags = representative(registry.lines).tolist()
        self.asked = {key: row for row, (key, flag) in enumerate(zip(self._keys, flags, strict=True)) if flag}
        """Utterances that may be asked about, with their rows."""

    def held_out(self, keys: Collection[Key]) -> frozenset[int]:
        """Return the rows of these utterances, of their near-duplicates, and of the same lines of other intents.

        Intents that would lose all their utterances keep them.
        """
        rows = {row for row, key in enumerate(self._keys) if key in keys}
        rows.update(*(self._groups.get(row, ()) for row in [*rows]))
        rows.update(*(group for group in self._shared if not rows.isdisjoint(group)))
        owners = self._registry.owners
        left = {owner for row, owner in enumerate(owners) if row not in rows}
        kept = {row for row in rows if owners[row] not in left}
        # Nothing can be said about a line while another intent answers to it.
        kept.update(*(group for group in self._shared if not kept.isdisjoint(group)))
        return frozenset(rows - kept)

    def changed_vectors(self, before: Sequence[Key]) -> NDArray[np.float32]:
        """Return the vectors of the lines that the edit adds, moves and removes, shape `(lines, dim)`."""
        old_keys, new_keys = set(before), set(self._keys)
        added = [row for row, key in enumerate(self._keys) if key not in old_keys]
        removed = [text for key, text in old_keys if (key, text) not in new_keys]
        vectors = [self._vectors[added]]
        if removed:
            vectors.append(self._new.encoder.encode([clean(text) for text in removed]))
        return np.concatenate(vectors)


class _Groups:
    """The near-duplicates of each intent of a registry, worked out for the intents that are asked for."""

    def __init__(self, registry: Registry, vectors: NDArray[np.float32]) -> None:
        self._registry, self._vectors = registry, vectors
        self.rows: dict[int, list[int]] = {}
        for row, owner in enumerate(registry.owners):
            self.rows.setdefault(owner, []).append(row)
        self._found: dict[int, dict[int, list[int]]] = {}

    def of(self, row: int) -> list[int]:
        """Return a row and those that are near-duplicates of it, directly or in a chain."""
        owner = self._registry.owners[row]
        if owner not in self._found:
            rows, lines = self.rows[owner], self._registry.lines
            texts = [self._registry.utterances[one].text for one in rows]
            groups = near_duplicates(texts, self._vectors[rows], [lines[one] for one in rows])
            self._found[owner] = {rows[n]: [rows[m] for m in group] for group in groups for n in group}
        return self._found[owner][row]


def _outcomes(
    answers: BaseMatcher, encoder: CachingEncoder, held_out: frozenset[int], asked: Sequence[int]
) -> dict[int, Outcome]:
    """Return the outcomes of some rows from the registry without those that are held out."""
    if not asked:
        return {}
    registry = answers.registry
    rest = without(registry, Fold(held_out))
    runner = Runner(answers, _TITLE, len(asked), encoder=encoder, to_build=len(rest.utterances))
    cases = [case_of(registry, row) for row in asked]
    return dict(zip(asked, runner.run(rest, [], untimed=cases, provisional=_training(answers.artefact)), strict=True))


def _training(artefact: Artefact) -> PreviousTraining:
    """Return what the heads of the rounds start from; none may keep what the whole registry has taught it."""
    return PreviousTraining(
        artefact.calibration, artefact.trained_head, artefact.foreign, artefact.registry, keeps_head=False
    )


def _lines(intent: Intent) -> list[tuple[str, str | None]]:
    return [(utterance.text, utterance.template) for utterance in intent.all_utterances]


def _rules(intent: Intent) -> tuple[object, ...]:
    """Return what decides about answers beside the utterances."""
    return intent.threshold, intent.when, intent.label, [negative.text for negative in intent.all_negatives]
