"""Build an artefact from a registry and an encoder; only new texts are encoded."""

from __future__ import annotations

import numpy as np

from intentmatch.artefact.artefact import Artefact, searched_by
from intentmatch.core.errors import NOWHERE, Location, Problem, RegistryError
from intentmatch.core.setting_values import FROM_TESTS
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry, Vectors
from intentmatch.encoders.coverage import Coverage
from intentmatch.encoders.encode import Known, Progress, encode_all
from intentmatch.encoders.translations import translations_of
from intentmatch.encoders.unseen_messages import unseen_messages_of
from intentmatch.index import check_extras, make_graph
from intentmatch.learning.labelled_cases import Labelled, usable_cases
from intentmatch.learning.labelled_share import FEWEST, labelled_share
from intentmatch.learning.training import PreviousTraining, TrainingData, background_for
from intentmatch.learning.training_cache import load_or_train
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.registry import check
from intentmatch.registry.starters import starter_lines
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import base_language, clean


def build(
    registry: Registry,
    encoder: Encoder,
    settings: Settings | None = None,
    *,
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    provisional: PreviousTraining | None = None,
    known: Known | None = None,
    checked: bool = False,
) -> Artefact:
    """Encode a registry, train its head and calibration, and return the artefact.

    Texts in the `cache` or among the `known` vectors are not encoded again. `provisional` is what an earlier training
    left: then only the head is trained, see `provisional_training`. Set `checked` if the registry's rules were checked
    before, as every reader does.

    Raises `RegistryError` if the registry breaks a rule, `MissingExtraError` if its index needs a package that is not
    installed, and `IntentMatchError` if the encoder returns rows of the wrong shape or length.
    """
    errors = [] if checked else [problem for problem in check(registry) if problem.severity == "error"]
    if errors:
        raise RegistryError(errors)
    settings = settings or Settings()
    check_extras(settings.index, settings.vectors)
    # All texts in one call, so that batches are full and progress is one number.
    vectors = encode_all(encoder, texts_of(registry), "utterance", cache, progress, known=known)
    of_utterances, others = np.split(vectors, [len(registry.utterances)])
    of_negatives, of_labels, of_questions = np.split(others, np.cumsum([len(registry.negatives), len(registry)]))
    kept = of_utterances.astype(settings.vectors, copy=False)
    # Training uses the vectors as stored, so that it can be repeated from the artefact.
    of_utterances = kept.astype(np.float32, copy=False)
    data = training_data(registry, of_utterances, of_labels, settings, encoder=encoder, cache=cache)
    trained = load_or_train(data, cache.folder if cache else None, provisional=provisional)
    searched = searched_by(settings, trained.trained_head)
    return Artefact(
        registry=registry,
        settings=settings,
        encoder_name=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        vectors=kept,
        negative_vectors=of_negatives,
        label_vectors=of_labels,
        graph=make_graph(of_utterances) if searched == "usearch" else None,
        question_vectors=of_questions if registry.questions else None,
        trait_heads=_trait_heads(registry, of_utterances, of_questions, encoder, cache),
        **trained._asdict(),
    )


def _trait_heads(
    registry: Registry, utterances: Vectors, lines: Vectors, encoder: Encoder, cache: VectorCache | None
) -> TraitHeads | None:
    if not registry.questions:
        return None
    # Not needed by a registry without questions.
    from intentmatch.learning.trait_cache import load_or_train_traits
    from intentmatch.learning.traits import trait_data

    data = trait_data(registry, utterances, lines, everyday_vectors(registry, encoder, cache))
    return load_or_train_traits(data, cache.folder if cache else None)


def everyday_vectors(registry: Registry, encoder: Encoder, cache: VectorCache | None = None) -> Vectors:
    """Return the vectors of what people write to other bots, in the registry's languages if there are any."""
    texts = [clean(text) for text in starter_lines(tuple(map(base_language, registry.languages)))]
    return encode_all(encoder, texts, "utterance", cache)


def texts_of(registry: Registry) -> list[str]:
    """Return all cleaned texts that are encoded: utterances, negatives, titles or names, and lines of questions."""
    lines = [utterance.text for utterance in (*registry.utterances, *registry.negatives)]
    of_questions = (line.text for line in registry.question_lines)
    return [clean(text) for text in (*lines, *(intent.label for intent in registry), *of_questions)]


def training_data(
    registry: Registry,
    vectors: Vectors,
    labels: Vectors,
    settings: Settings,
    *,
    encoder: Encoder,
    cache: VectorCache | None = None,
) -> TrainingData:
    """Return what a registry is trained on, given the `vectors` of its utterances and those of its intents' `labels`.

    `encoder` is the one that made the vectors.
    """
    return TrainingData(
        registry,
        vectors,
        labels,
        settings,
        encoder.name,
        background_for(registry, settings, encoder, cache),
        translations=translations_of(encoder),
        labelled=labelled_messages(registry, settings, encoder, cache),
        unseen=unseen_messages_of(encoder),
    )


def labelled_messages(
    registry: Registry, settings: Settings, encoder: Encoder, cache: VectorCache | None = None, *, fewest: int = FEWEST
) -> Labelled | None:
    """Return the tests to learn from, encoded; None if the settings do not say so, or if there are too few.

    A share needs at least `fewest`, and a promised precision at least one. Tests that a precision is promised by shape
    nothing else, so that they prove something.
    """
    learns = settings.out_of_scope_share == FROM_TESTS and not settings.promises
    share = labelled_share(registry.tests, fewest) if learns else None
    if share is None and not (settings.promises and registry.tests):
        return None
    cases = usable_cases(registry)
    return Labelled(share, cases, encode_all(encoder, [clean(case.text) for case in cases], "query", cache))


def known_vectors(artefact: Artefact) -> Known:
    """Return all vectors that an artefact holds, so that a build with the same encoder need not encode them again."""
    texts, count = texts_of(artefact.registry), len(artefact.vectors)
    of_questions = () if artefact.question_vectors is None else artefact.question_vectors
    others = zip(texts[count:], (*artefact.negative_vectors, *artefact.label_vectors, *of_questions), strict=True)
    return Known(dict(zip(texts[:count], range(count), strict=True)), artefact.vectors, dict(others))


def uncovered(registry: Registry, encoder: Encoder) -> list[Problem]:
    """Return a warning for each language that the encoder was not trained on, at its first line."""
    coverage = Coverage(encoder)
    lines = (*registry.utterances, *registry.negatives, *registry.question_lines)
    missing = {code for code in {line.language for line in lines} if code and not coverage.covers(code)}
    places: dict[str, Location] = {}
    for line in lines if missing else ():
        if line.language in missing:
            # Once for each language: a registry may have thousands of such lines.
            places.setdefault(line.language, line.location or NOWHERE)
    hint = "choose an encoder that covers it (setting `encoder`); this one may match such lines only by spelling"
    return [
        Problem(place, "warning", "language-not-covered", f"{encoder.name} was not trained on {language}", hint)
        for language, place in places.items()
    ]
