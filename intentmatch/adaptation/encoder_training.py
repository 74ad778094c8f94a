"""Adapt an encoder to a registry with two utterances of each intent in a batch, and the loss of a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from intentmatch.adaptation.batches import Batches
from intentmatch.adaptation.losses import IntentLoss
from intentmatch.adaptation.recipe import EncoderRecipe
from intentmatch.adaptation.training import EXTRA, WHAT, Training
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Registry, Vectors
from intentmatch.encoders.encode import encode_all
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.learning.training import labels_are_meaningful
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean


class Base(NamedTuple):
    """The encoder that is adapted, unchanged, and how to load it again."""

    encoder: SentenceTransformerEncoder
    settings: Settings

    @property
    def model(self) -> str:
        """Hub name or folder."""
        return self.settings.encoder.partition(":")[2]

    def copy(self) -> SentenceTransformerEncoder:
        """Load the encoder again, in float32, to train the copy."""
        settings = self.settings
        return SentenceTransformerEncoder(
            self.model, device=settings.device, precision="float32", prompts=settings.prompts
        )


def train_encoder(
    registry: Registry,
    base: Base,
    recipe: EncoderRecipe,
    *,
    work: Path,
    name: str = "training",
    anchors: Sequence[str] = (),
    probe: Any = None,
) -> Any:
    """Train a copy of the base on all utterances of a registry, and return the model of sentence-transformers.

    `work` keeps the state; a later call with the same registry, base and recipe continues from there. `anchors` are
    texts in other languages whose vectors shall stay where they are. `probe` is called with the model and the number
    of steps, and returns something to report. Raises `InputError` if fewer than two intents have two utterances.
    """
    vectors = _vectors(registry, base)
    centres = _centres(registry, vectors.utterances)
    batches = Batches(
        registry,
        centres,
        recipe,
        titles=labels_are_meaningful(vectors.utterances, registry.owners, vectors.labels),
        anchors=len(anchors),
    )
    if batches.intents < 2:
        raise InputError(
            "there are too few utterances to adapt a model: at least two intents need two different utterances each"
        )
    encoder = base.copy()
    targets = base.encoder.encode(list(anchors)) if anchors else None
    between = IntentLoss(encoder.model, recipe, centres, batches.apart)
    work.mkdir(parents=True, exist_ok=True)
    training = Training(
        between.trained,
        _Losses(encoder, batches, between, anchors, targets).at,
        total=recipe.steps,
        rate=recipe.learning_rate,
        seed=recipe.seed,
        file=work / "training.safetensors",
        identity={
            "base": base.encoder.fingerprint,
            "recipe": asdict(recipe),
            "registry": registry.fingerprint,
            "anchors": list(anchors),
        },
    )
    training.run(name, None if probe is None else lambda step: probe(encoder.model, step))
    _keep_prompts(encoder)
    return encoder.model


class _Vectors(NamedTuple):
    utterances: Vectors
    labels: Vectors


def _vectors(registry: Registry, base: Base) -> _Vectors:
    texts = [clean(line.text) for line in registry.utterances]
    texts += [clean(intent.label) for intent in registry]
    found = encode_all(base.encoder, texts, "utterance", VectorCache.at(base.settings.cache))
    return _Vectors(found[: len(registry.utterances)], found[len(registry.utterances) :])


def _centres(registry: Registry, vectors: Vectors) -> Vectors:
    """Return the mean direction of each intent's utterances, shape `(intents, dim)`."""
    centres = np.zeros((len(registry), vectors.shape[1]), dtype=np.float32)
    np.add.at(centres, np.asarray(registry.owners, dtype=np.int64), vectors)
    # An intent may have no utterance that the encoder can read.
    centres /= np.linalg.norm(centres, axis=1, keepdims=True).clip(1e-9)
    return centres


class _Losses:
    """The loss of each step: intents that are told apart, `not:` lines, and texts that stay where they are."""

    def __init__(
        self,
        encoder: SentenceTransformerEncoder,
        batches: Batches,
        between: IntentLoss,
        anchors: Sequence[str],
        targets: Vectors | None,
    ) -> None:
        losses = plugins.require("sentence_transformers.sentence_transformer.losses", what=WHAT, extra=EXTRA)
        self._torch = plugins.require("torch", what=WHAT, extra=EXTRA)
        self._encoder, self._batches = encoder, batches
        self._between, self._anchors, self._targets = between, anchors, targets
        self._stay = losses.MSELoss(encoder.model)

    def at(self, step: int) -> Any:
        """Return the loss of a step."""
        batch = self._batches.draw(step)
        messages, utterances = self._embedded(batch.messages, batch.utterances)
        total = self._between.of(messages, utterances, batch.owners)
        if batch.negatives:
            own = [position for position, _ in batch.negatives]
            (against,) = self._embedded([text for _, text in batch.negatives], kinds=("utterance",))
            total = total + self._between.against(messages[own], utterances[own], against)
        if batch.anchors and self._targets is not None:
            targets = self._torch.from_numpy(self._targets[batch.anchors]).to(messages.device)
            features = [self._features([self._prompted(self._anchors[number]) for number in batch.anchors])]
            # The loss of the library is a mean over dimensions: times these, its weight means the same for models of
            # all sizes.
            total = total + self._between.recipe.anchoring * targets.shape[1] * self._stay(features, targets)
        return total

    def _embedded(self, *columns: list[str], kinds: Sequence[Kind] = ("query", "utterance")) -> list[Any]:
        """Return the vectors of columns of texts, each with the prompt of its kind, from one pass of the model."""
        texts = [self._prompted(text, kind) for kind, column in zip(kinds, columns, strict=True) for text in column]
        vectors = self._encoder.model(self._features(texts))["sentence_embedding"]
        return list(vectors.split([len(column) for column in columns]))

    def _prompted(self, text: str, kind: Kind = "utterance") -> str:
        return self._encoder.prompts[kind] + text

    def _features(self, texts: list[str]) -> Any:
        model = self._encoder.model
        return {
            name: value.to(model.device) if isinstance(value, self._torch.Tensor) else value
            for name, value in model.preprocess(texts).items()
        }


def _keep_prompts(encoder: SentenceTransformerEncoder) -> None:
    """Write the prompts that were trained with into the model: its new name would not tell them."""
    if any(encoder.prompts.values()):
        prompts = {"document": encoder.prompts["utterance"], "query": encoder.prompts["query"]}
        encoder.model.prompts = {**encoder.model.prompts, **prompts}
