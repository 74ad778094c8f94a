"""Cross-fitting: no test case is answered by a matcher that learned its confidences from this case.

With `out_of_scope_share: tests`, share and confidence curve are learned from the registry's tests; with a promised
precision, the threshold is. To measure them, the tests are split into rounds. The cases of a round are answered by a
matcher that learned from all other rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from intentmatch.artefact.build import labelled_messages
from intentmatch.core.types import Case
from intentmatch.encoders.translations import translations_of
from intentmatch.encoders.unseen_messages import unseen_messages_of
from intentmatch.evaluation.runner import CachingEncoder, vectors_of
from intentmatch.learning.training import TrainingData, background_for, calibrated, cross_validate_registry
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import BaseMatcher, Snapshot
from intentmatch.text.normalize import fold

_ROUNDS = 10


def cross_fitted(matcher: BaseMatcher, cases: Sequence[Case]) -> Iterator[tuple[list[int], BaseMatcher]]:
    """Yield positions of cases with the matcher that answers them; each position occurs once.

    Cases that the matcher did not learn from are answered by the matcher itself. Cases with the same text are in the
    same round.
    """
    artefact = matcher.artefact
    calibration = artefact.calibration
    learns = calibration.labelled is not None or calibration.promise is not None
    learned = artefact.registry.tests if learns else ()
    # By text: a case that is repeated in another round would be learned from.
    texts = dict.fromkeys(fold(case.text) for case in learned)
    round_of = {text: number % _ROUNDS for number, text in enumerate(texts)}
    places: dict[int | None, list[int]] = {}
    for position, case in enumerate(cases):
        places.setdefault(round_of.get(fold(case.text)), []).append(position)
    if others := places.pop(None, []):
        yield others, matcher
    if not places:
        return
    registry, settings, vectors = artefact.registry, artefact.settings, artefact.wide_vectors
    encoder = CachingEncoder(matcher.encoder, vectors_of(matcher))
    data = TrainingData(
        registry,
        vectors,
        artefact.label_vectors,
        settings,
        artefact.encoder_name,
        background_for(registry, settings, matcher.encoder),
        translations_of(matcher.encoder),
        unseen=unseen_messages_of(matcher.encoder),
    )
    validated = cross_validate_registry(data)
    for number, positions in places.items():
        rest = replace(registry, tests=tuple(case for case in learned if round_of[fold(case.text)] != number))
        # The number of tests that a build requires was there before a round was left out.
        labelled = labelled_messages(rest, settings, encoder, fewest=1)
        trained = calibrated(validated, data._replace(registry=rest, labelled=labelled))
        yield positions, Snapshot(Engine(replace(artefact, **trained._asdict()), matcher.encoder, matcher.reranker))
