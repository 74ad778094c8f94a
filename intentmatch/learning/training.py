"""Train head and calibration from a registry's own utterances."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.settings import Settings
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Encoder, Registry, Vectors
from intentmatch.encoders.translations import Translations
from intentmatch.encoders.unseen_messages import UnseenMessages
from intentmatch.learning.background import WIDEST, Background, BackgroundFit, Sample, background_sample
from intentmatch.learning.calibration import FEWEST_CASES, Calibration, calibrate
from intentmatch.learning.cross_validation import HeldOut, Scorer, cross_validate
from intentmatch.learning.described_calibration import calibrate_descriptions
from intentmatch.learning.fold_plan import Utterances
from intentmatch.learning.head import Fitting, TrainedHead, fit_head, nearby, prepare
from intentmatch.learning.labelled_cases import Labelled, joined, labelled_cases
from intentmatch.learning.labelled_share import share_in_use
from intentmatch.learning.shared_cases import SharedCases, apart
from intentmatch.learning.subsampling import beyond_a_head, sample
from intentmatch.learning.token_features import TokenVectorizer
from intentmatch.learning.unseen_cases import with_unseen
from intentmatch.learning.word_alignment import WordAlignment, word_weight
from intentmatch.pieces.embedded import known_pieces
from intentmatch.runtime import steps
from intentmatch.runtime.threads import Each, all_cores, one_by_one
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

# Least share of labels that are nearest to their own intent. Real names: 0.65 to 0.92; numbered names: up to 0.15.
_MEANINGFUL_LABELS = 0.5
# Utterances times intents above which training a head would delay an edit by more than a second.
_MOST_NUMBERS_PROVISIONALLY = 1_000_000


class TrainingData(NamedTuple):
    """What head and calibrations are trained on."""

    registry: Registry
    vectors: Vectors
    """Of all utterances, shape `(utterances, dim)`."""
    labels: Vectors
    """Of the intents' titles or names, shape `(intents, dim)`."""
    settings: Settings
    encoder: str
    """Name of the encoder that made the vectors."""
    background: Sample | None = None
    """What people write to other bots; None if evidence does not count on it."""
    translations: Translations | None = None
    """Those of the encoder; None if they are not known."""
    labelled: Labelled | None = None
    """Messages that the confidence curve is learned from too, or that a promised precision is tested on."""
    unseen: UnseenMessages | None = None
    """Messages that the encoder was not trained on, if it was trained on utterances of the registry."""

    @property
    def word_weight(self) -> float:
        """Weight of word similarity beside such vectors."""
        return word_weight(self.encoder)


class Trained(NamedTuple):
    """What training produces."""

    calibration: Calibration
    trained_head: TrainedHead | None
    """None if scores alone decide."""
    foreign: Calibration | None = None
    """Calibration for messages in languages that the registry does not have; None if `calibration` is for all."""


# Products of ordinary numbers raise the processor's flags in some BLAS libraries. What comes out is checked instead.
_without_flags = np.errstate(all="ignore")


@_without_flags
def calibrated(validated: CrossValidated, data: TrainingData) -> Trained:
    """Calibrate on the cases of a cross-validation and on labelled messages."""
    steps.report("calibrating")
    registry, settings = data.registry, data.settings
    names = [intent.name for intent in registry]
    languages = [utterance.language for utterance in registry.utterances]
    labelled_share = data.labelled and data.labelled.share
    held_out, tested = cases_of(validated, data)
    share = share_in_use(settings, labelled_share)
    if all(registry.is_described) and not settings.promises:
        found = calibrate_descriptions(held_out, share)
    else:
        found = calibrate(held_out, settings.target, names, languages, share, tested=tested)
    calibration = replace(found, labelled=labelled_share)
    # A head that could not be cross-validated is not used.
    trained_head = validated.trained_head if calibration.curve is not None else None
    return Trained(calibration, trained_head, _foreign(validated, calibration, settings.target, share))


def cases_of(validated: CrossValidated, data: TrainingData) -> tuple[HeldOut, HeldOut | None]:
    """Return the cases that a calibration is fitted to, and those that test a promised precision; None without one.

    Labelled messages serve one of these purposes: a test on cases that shaped the confidences proves nothing.
    """
    registry, settings, labelled = data.registry, data.settings, data.labelled
    held_out, tested = with_unseen(validated.held_out, registry, settings, data.unseen), None
    if labelled is not None:
        cases = labelled_cases(registry, data.vectors, settings.aggregation, validated.trained_head, labelled)
        if settings.promises:
            tested = cases
        else:
            held_out = joined(held_out, cases)
    if settings.promises and tested is None:
        # No tests at all: the promise then says how many messages are missing.
        tested = held_out.select(slice(0, 0))
    return held_out, tested


def _foreign(
    validated: CrossValidated, calibration: Calibration, target: Mapping[str, Any], share: float
) -> Calibration | None:
    """Calibrate for languages that the registry does not have; None with too few cases for either calibration.

    A precision that no affordable threshold reaches is not paid for: then the threshold with the best balance is used,
    unless it refuses nothing.
    """
    translated = validated.translated
    if translated is None or calibration.curve is None:
        return None
    target = {key: value for key, value in target.items() if key != "confidence"}
    foreign = calibrate(translated, target, out_of_scope_share=share)
    if foreign.cut is None:
        return None
    if foreign.cut.precision < float(target.get("precision", 0.0)):
        balanced = calibrate(translated, {"balance": True}, out_of_scope_share=share)
        # The intents of one subject resemble each other: that none is refused says nothing about other messages.
        foreign = balanced if balanced.cut is not None and balanced.cut.refused > 0.0 else foreign
    # The translations of an utterance are one case.
    cases = len({*zip(translated.rows.tolist(), translated.known.tolist(), strict=True)})
    return replace(foreign, cases=cases, cut=foreign.cut and replace(foreign.cut, cases=cases))


class PreviousTraining(NamedTuple):
    """A registry before an edit, and what was trained on it."""

    calibration: Calibration
    trained_head: TrainedHead | None
    foreign: Calibration | None
    registry: Registry
    keeps_head: bool = True
    """Whether a large registry with the same intents keeps the head, which training would delay for too long."""


class Features(NamedTuple):
    """Training data of a head."""

    sample: NDArray[np.int64]
    """Rows of the utterances that are trained on."""
    vectorizer: TokenVectorizer
    fitting: Fitting
    words: WordAlignment
    background: BackgroundFit | None
    """None if evidence does not count on what people write to other bots."""


class CrossValidated(NamedTuple):
    """Held-out cases and the head that was trained on all utterances."""

    held_out: HeldOut
    trained_head: TrainedHead | None
    """None without a head."""
    translated: HeldOut | None = None
    """The same cases as if said in a language that the registry does not have; None if that cannot be known."""


def background_for(
    registry: Registry, settings: Settings, encoder: Encoder, vector_cache: VectorCache | None = None
) -> Sample | None:
    """Return what people write to other bots; None if a registry's evidence does not count on it.

    It does not where scores alone decide, as in the smallest registries, nor where all intents are described, as their
    confidence comes from other bots, nor with vectors of more than `WIDEST` numbers.
    """
    if not trains_head(registry, settings) or len(registry.utterances) < FEWEST_CASES:
        return None
    if encoder.dim > WIDEST or all(registry.is_described):
        return None
    return background_sample(encoder, vector_cache)


def trains_head(registry: Registry, settings: Settings) -> bool:
    """Whether a head is trained for a registry: scores alone decide on one intent, and on very many."""
    return settings.scorer == "head" and len(registry) >= 2 and not beyond_a_head(registry)


@_without_flags
def cross_validate_registry(data: TrainingData) -> CrossValidated:
    """Cross-validate a registry's utterances under the settings `scorer` and `aggregation`.

    Raises `IntentMatchError` if the weights of the head are not finite numbers.
    """
    registry, aggregation = data.registry, data.settings.aggregation
    translate = None if data.translations is None else data.translations.moved
    utterances = _utterances(registry, data.vectors)
    with all_cores() as each:
        # A thread that trains after an edit stops at one of these if the registry was replaced.
        steps.report("training the head")
        features = _features(data)
        if features is None:
            found = cross_validate(utterances, Scorer(aggregation), translate, sample=sample(registry), each=each)
            return CrossValidated(found[0], None, found[1])
        trained_head = _fit(features, data, each=each)
        near = nearby(features.fitting, trained_head.head.weights)
        scorer = Scorer(aggregation, features.fitting, near, features.words, features.background)
        held_out, translated = cross_validate(utterances, scorer, translate, sample=features.sample, each=each)
    return CrossValidated(held_out, trained_head, translated)


def _utterances(registry: Registry, vectors: Vectors) -> Utterances:
    lines_of_several = SharedLines(registry)
    return Utterances(
        vectors,
        registry.owners,
        lines=registry.lines,
        keys=[zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in registry.folded],
        described=registry.is_described,
        shared=SharedCases(registry, lines_of_several) if lines_of_several else None,
    )


def _fit(features: Features, data: TrainingData, near: Vectors | None = None, each: Each = one_by_one) -> TrainedHead:
    start = None if near is None else nearby(features.fitting, near)
    head = fit_head(features.fitting, start, each)
    # Of damaged rows, no axis may be left, and the weights be zeros.
    if not (np.isfinite(head.weights).all() and np.isfinite(features.fitting.beyond).all()):
        raise IntentMatchError(
            "the head was trained to weights that are not finite numbers: the vectors of the encoder are damaged. Use "
            "another `encoder`, or `scorer: cosine`, which needs no training."
        )
    return TrainedHead(head, features.vectorizer, features.words, _of_all(features.background))


def _background(data: TrainingData) -> BackgroundFit | None:
    return None if data.background is None else BackgroundFit(data.background, data.vectors)


def _of_all(fit: BackgroundFit | None) -> Background | None:
    return None if fit is None else fit.of_all()


def provisional_training(data: TrainingData, before: PreviousTraining) -> Trained:
    """Train only the head, starting from that before an edit, and reuse the calibrations.

    Cross-validation takes most of the time of a training, and few edits move the confidence by much. A large registry
    with the same intents reuses the head too.
    """
    return Trained(before.calibration, _provisional_head(data, before), before.foreign)


@_without_flags
def _provisional_head(data: TrainingData, before: PreviousTraining) -> TrainedHead | None:
    registry = data.registry
    if before.trained_head is None or beyond_a_head(registry):
        return None
    intents = [intent.name for intent in before.registry]
    # A head has a column for each intent, by position.
    same = intents == [intent.name for intent in registry]
    if before.keeps_head and same and len(registry.utterances) * len(intents) > _MOST_NUMBERS_PROVISIONALLY:
        words = WordAlignment.fit(_pieces(registry), registry.owners, data.word_weight)
        return replace(before.trained_head, words=words, background=_of_all(_background(data)))
    features = _features(data)
    return features and _fit(features, data, _columns(before.trained_head.head.weights, intents, registry))


def _columns(weights: Vectors, intents: Sequence[str], registry: Registry) -> Vectors:
    """Return the columns of a registry's intents; zeros for a new intent."""
    places = {name: place for place, name in enumerate(intents)}
    with_none = np.hstack([weights, np.zeros((len(weights), 1), dtype=weights.dtype)])
    return np.ascontiguousarray(with_none[:, [places.get(intent.name, -1) for intent in registry]])


def _features(data: TrainingData) -> Features | None:
    registry = data.registry
    if not trains_head(registry, data.settings):
        return None
    pieces = _pieces(registry)
    vectorizer = TokenVectorizer.fit(pieces)
    chosen = sample(registry)
    rows = vectorizer.dense([pieces[row] for row in chosen.tolist()])
    fitting = _prepared(data, vectorizer, chosen, rows)
    words = WordAlignment.fit(pieces, registry.owners, data.word_weight)
    return Features(chosen, vectorizer, fitting, words, _background(data))


def _pieces(registry: Registry) -> list[Sequence[int]]:
    """Return the known pieces of each utterance."""
    return [known_pieces(clean(utterance.text)) for utterance in registry.utterances]


def _prepared(data: TrainingData, vectorizer: TokenVectorizer, chosen: NDArray[np.int64], rows: Vectors) -> Fitting:
    """Prepare the sample for training, with the labels of the intents as hints if they are meaningful.

    `rows` are the token features of the sample.

    A title or name is one more example of its intent. Names without meaning to the encoder (`faq_12`) would be noise:
    then fewer than half of them are nearest to their own intent.
    """
    registry, labels = data.registry, data.labels
    owners, some = np.asarray(registry.owners)[chosen], data.vectors[chosen]
    pairs = apart(SharedLines(registry), chosen)
    if not labels_are_meaningful(some, owners, labels):
        return prepare(some, rows, owners.tolist(), len(registry), apart=pairs)
    of_labels = vectorizer.dense([known_pieces(clean(intent.label)) for intent in registry])
    owned = [*owners.tolist(), *range(len(registry))]
    features = np.vstack([some, labels]), np.vstack([rows, of_labels])
    return prepare(*features, owned, len(registry), hints=len(registry), apart=pairs)


def labels_are_meaningful(vectors: Vectors, owners: Sequence[int] | NDArray[np.int64], labels: Vectors) -> bool:
    """Return whether most of the labels are nearest to the utterances of their own intent.

    `vectors` are those of utterances, shape `(utterances, dim)`, `owners` their intents, and `labels` the vectors of
    the intents' titles or names, shape `(intents, dim)`.
    """
    centres = np.zeros((len(labels), vectors.shape[1]), dtype=np.float32)
    np.add.at(centres, np.asarray(owners, dtype=np.int64), vectors)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True).clip(1e-9)
    nearest = (labels @ centres.T).argmax(axis=1) == np.arange(len(labels))
    return bool(nearest.mean() > _MEANINGFUL_LABELS)
