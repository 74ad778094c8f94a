"""Prove that adaptation helps a registry: train on a part, and compare both models on what was left out.

Each fold leaves out utterances, which must still find their intent, and whole intents, whose utterances must be told
apart from the others. The model of a fold has seen neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.build import build, training_data
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import USUAL_SHARE, Settings
from intentmatch.core.types import Case, Encoder, Registry, Vectors
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.folds import split, without_intents
from intentmatch.evaluation.metrics import auroc
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.fold_plan import representative
from intentmatch.learning.labelled_cases import Labelled, labelled_cases
from intentmatch.learning.training import calibrated, cross_validate_registry
from intentmatch.learning.unseen_cases import unseen_of
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import Snapshot
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

_PARTS = 5
"""A fold leaves out at most one of so many parts of the intents."""
_FEWEST_INTENTS = 2
_ROUNDS = 5
"""The messages of a fold are answered in so many rounds, each with a calibration on those of the other rounds."""
_FIRST, _OVERALL = "first candidate", "overall accuracy"
# Decimals of a share that a report shows: a smaller loss is none.
_DECIMALS = 3


class ProofFold(NamedTuple):
    """A registry to train on, and the messages to answer afterwards."""

    registry: Registry
    messages: tuple[str, ...]
    expected: tuple[str | None, ...]
    """Intent of each message; None if the registry does not have it."""


class ProofAnswer(NamedTuple):
    """How one message was answered."""

    right: bool
    """Whether the first candidate is the expected intent; False for messages of intents that were left out."""
    scope: float
    """Probability of being in scope; the score if the registry is too small to calibrate."""
    verdict: bool = False
    """Whether the verdict is right; see `right_verdict`."""


class ProofMeasures(NamedTuple):
    """What one model does in one fold."""

    answers: tuple[ProofAnswer, ...]
    languages: float | None
    """Share of translations that are found in languages that the registry lacks; None without such languages."""
    cases: HeldOut | None = None
    """The messages as cases of a calibration."""


class BeforeAfter(NamedTuple):
    """One number before and after, in [0, 1]."""

    name: str
    before: float
    after: float
    error: float | None = None
    """Standard error of the difference, if it is known."""

    @property
    def lost(self) -> bool:
        """Whether the number has become lower by more than rounding."""
        # What a report shows as equal must not decide.
        return round(self.after, _DECIMALS) < round(self.before, _DECIMALS)

    @property
    def gained(self) -> bool:
        """Whether the number has become higher by more than rounding."""
        return round(self.after, _DECIMALS) > round(self.before, _DECIMALS)


@dataclass(frozen=True, slots=True)
class Proof:
    """Comparison of a model before and after training, over all folds."""

    rows: tuple[BeforeAfter, ...]
    messages: int
    """Messages of intents that the model has seen."""
    out_of_scope: int
    """Messages of intents that were left out."""
    folds: int
    deciding: tuple[str, ...] = ()
    """Names of the numbers of which one must be higher than before."""

    @property
    def kept(self) -> bool:
        """Whether the model is good enough to be written: a deciding number is higher than before, and none lower."""
        return any(row.gained for row in self.rows if row.name in self.deciding) and not any(
            row.lost for row in self.rows
        )

    @property
    def perhaps_chance(self) -> bool:
        """Whether every gain of a deciding number is within its standard error."""
        return not any(
            row.after - row.before > (row.error or 0.0) for row in self.rows if row.name in self.deciding and row.gained
        )


def folds_of(registry: Registry, encoder: Encoder, settings: Settings, folds: int, seed: int) -> list[ProofFold]:
    """Split a registry into folds; see the module. Raises `InputError` for fewer than two folds."""
    cache = VectorCache.at(settings.cache)
    # Only the vectors are needed to split, and a head takes most of a build.
    artefact = build(registry, encoder, replace(settings, scorer="cosine"), cache=cache)
    found = split(registry, artefact.wide_vectors, artefact.negative_vectors, folds, seed)
    order = np.random.default_rng(seed).permutation(len(registry)).tolist()
    parts = max(_PARTS, folds)
    evaluated = representative(registry.lines)
    made = []
    for number, fold in enumerate(found.folds):
        # One intent cannot be told apart from others.
        left_out = set(order[number::parts]) if len(registry) - len(order[number::parts]) >= _FEWEST_INTENTS else set()
        names = frozenset(registry.intents[owner].name for owner in left_out)
        rest = registry.keeping(set(range(len(registry.owners))) - fold.utterances, fold.negatives)
        rows = [row for row in fold.asked if registry.owners[row] not in left_out]
        others = [row for row, owner in enumerate(registry.owners) if owner in left_out and evaluated[row]]
        expected = [registry.intents[registry.owners[row]].name for row in rows]
        texts = tuple(registry.utterances[row].text for row in (*rows, *others))
        made.append(ProofFold(without_intents(rest, names), texts, (*expected, *(None for _ in others))))
    return made


def measure(fold: ProofFold, encoder: Encoder, settings: Settings, languages: float | None) -> ProofMeasures:
    """Answer the messages of a fold with a matcher that is built on its registry.

    The utterances look too easy to an encoder that was trained on them. So matchers are calibrated on messages of the
    fold, before and after the training, and each message is answered with a calibration on others.
    """
    artefact = build(fold.registry, encoder, settings)
    cases = _cases(fold, artefact, encoder)
    results: list[MatchResult | None] = [None] * len(fold.messages)
    for positions, matcher in _matchers(fold, artefact, encoder, cases):
        messages = [fold.messages[position] for position in positions]
        found = matcher.match_many(messages, top_k=1, context=fold.registry.tags)
        for position, result in zip(positions, found, strict=True):
            results[position] = result
    answers = [
        ProofAnswer(
            right_first(result, expected),
            result.score if result.in_scope is None else result.in_scope,
            right_verdict(result, expected),
        )
        for result, expected in zip(results, fold.expected, strict=True)
        if result is not None
    ]
    return ProofMeasures(tuple(answers), languages, cases)


def _cases(fold: ProofFold, artefact: Artefact, encoder: Encoder) -> HeldOut:
    cases = [Case(text, expected) for text, expected in zip(fold.messages, fold.expected, strict=True)]
    vectors = encode_all(encoder, [clean(text) for text in fold.messages], "query")
    found = labelled_cases(
        fold.registry,
        artefact.wide_vectors,
        artefact.settings.aggregation,
        artefact.trained_head,
        Labelled(None, cases, vectors),
    )
    # Each counts once here; `labelled_cases` weighs them as an addition to held-out utterances.
    return replace(found, weights=np.ones(len(cases)))


def _matchers(
    fold: ProofFold, artefact: Artefact, encoder: Encoder, cases: HeldOut
) -> Iterator[tuple[list[int], Snapshot]]:
    """Yield positions of messages with the matcher that answers them."""
    everything = range(len(fold.messages))
    registry, settings = fold.registry, artefact.settings
    vectors, labels = artefact.wide_vectors, artefact.label_vectors
    data = training_data(registry, vectors, labels, settings, encoder=encoder)
    validated = cross_validate_registry(data)
    for number in range(_ROUNDS):
        positions = list(everything[number::_ROUNDS])
        others = np.ones(len(everything), dtype=bool)
        others[positions] = False
        unseen = unseen_of([cases.select(others)], registry, settings)
        again = calibrated(validated, data._replace(unseen=unseen))
        yield positions, Snapshot(Engine(replace(artefact, **again._asdict()), encoder, None))


def right_first(result: MatchResult, expected: str | None) -> bool:
    """Return whether the first candidate is the expected intent; False if none is expected."""
    return expected is not None and bool(result.candidates) and result.candidates[0].intent == expected


def right_verdict(result: MatchResult, expected: str | None) -> bool:
    """Return whether the expected intent is matched, or a message is refused whose intent was left out."""
    if expected is None:
        return result.verdict == "out_of_scope"
    return result.verdict == "matched" and result.intent == expected


def proof_of(
    folds: Sequence[ProofFold],
    before: Sequence[ProofMeasures],
    after: Sequence[ProofMeasures],
    share: float = USUAL_SHARE,
) -> Proof:
    """Compare the measurements of all folds. AUROC and languages are means over folds.

    `share` is the expected share of out-of-scope messages, by which the overall accuracy weighs those of the folds.
    """
    known = [expected is not None for fold in folds for expected in fold.expected]
    rows = [_first_candidates(known, before, after)]
    rows += _mean("AUROC", folds, before, after, _auroc)
    rows.append(_overall(known, before, after, share))
    rows += _mean("languages the registry lacks", folds, before, after, lambda _, measured: measured.languages)
    return Proof(tuple(rows), sum(known), len(known) - sum(known), len(folds), (_FIRST, _OVERALL))


def _first_candidates(
    known: Sequence[bool], before: Sequence[ProofMeasures], after: Sequence[ProofMeasures]
) -> BeforeAfter:
    old, new = (
        np.array([answer.right for one in measured for answer in one.answers], dtype=np.float64)[np.array(known)]
        for measured in (before, after)
    )
    # Standard error under the hypothesis of no difference.
    error = math.sqrt(float(((new - old) ** 2).sum())) / max(1, len(old))
    return BeforeAfter(_FIRST, float(old.mean()), float(new.mean()), error)


def _overall(
    known: Sequence[bool], before: Sequence[ProofMeasures], after: Sequence[ProofMeasures], share: float
) -> BeforeAfter:
    """Compare the shares of right verdicts, with as many out-of-scope messages as the thresholds are learned for."""
    inside = np.array(known)
    # Where all messages are of one sort, it has all the weight.
    share = share if inside.any() and not inside.all() else float(not inside.any())
    weights = np.where(inside, (1.0 - share) / max(1, inside.sum()), share / max(1, (~inside).sum()))
    old, new = (
        np.array([answer.verdict for one in measured for answer in one.answers], dtype=np.float64)
        for measured in (before, after)
    )
    error = math.sqrt(float((weights * weights * (new - old) ** 2).sum()))
    return BeforeAfter(_OVERALL, float(weights @ old), float(weights @ new), error)


def _mean(
    name: str,
    folds: Sequence[ProofFold],
    before: Sequence[ProofMeasures],
    after: Sequence[ProofMeasures],
    number: Callable[[ProofFold, ProofMeasures], float | None],
) -> list[BeforeAfter]:
    """Return the comparison of the means; nothing if a fold does not have the number."""
    old = [number(fold, measured) for fold, measured in zip(folds, before, strict=True)]
    new = [number(fold, measured) for fold, measured in zip(folds, after, strict=True)]
    pairs = [(one, other) for one, other in zip(old, new, strict=True) if one is not None and other is not None]
    if not pairs:
        return []
    return [BeforeAfter(name, float(np.mean([one for one, _ in pairs])), float(np.mean([other for _, other in pairs])))]


def _auroc(fold: ProofFold, measured: ProofMeasures) -> float | None:
    return auroc([one is not None for one in fold.expected], [answer.scope for answer in measured.answers])


class AccuracyProbe:
    """The accuracy on held-out messages while a model trains: the nearest of some utterances has the right intent."""

    _MESSAGES, _UTTERANCES, _TIMES = 128, 512, 4

    def __init__(self, fold: ProofFold, total: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        asked = [number for number, expected in enumerate(fold.expected) if expected is not None]
        chosen = sorted(random.permutation(asked)[: self._MESSAGES].tolist())
        self._messages = [fold.messages[number] for number in chosen]
        self._expected = [fold.expected[number] for number in chosen]
        rows = sorted(random.permutation(len(fold.registry.owners))[: self._UTTERANCES].tolist())
        self._utterances = [fold.registry.utterances[row].text for row in rows]
        self._owners = [fold.registry.intents[fold.registry.owners[row]].name for row in rows]
        self._every = max(1, total // self._TIMES)

    def __call__(self, encode: Callable[[list[str]], Vectors], step: int) -> str:
        """Return what to report after a step, or nothing if the model is not looked at then."""
        if step % self._every or not self._messages:
            return ""
        nearest = (encode(self._messages) @ encode(self._utterances).T).argmax(axis=1).tolist()
        right = [self._owners[row] == name for row, name in zip(nearest, self._expected, strict=True)]
        return f", held-out accuracy {sum(right) / len(right):.0%}"
