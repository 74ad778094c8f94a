"""Train a cross-encoder for a registry, and keep the result only if the doubtful band gets better."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from intentmatch.adaptation.card import write_card
from intentmatch.adaptation.encoder_adaptation import KIND, check_folds, check_output
from intentmatch.adaptation.proof import Proof, ProofFold, folds_of
from intentmatch.adaptation.recipe import RerankerRecipe
from intentmatch.adaptation.reranker_proof import Doubtful, doubtful_messages, proof_of
from intentmatch.adaptation.reranker_training import cross_encoder_of, train_reranker
from intentmatch.adaptation.training import EXTRA, WHAT
from intentmatch.adaptation.work_folder import digest_of, remembered
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry, Vectors
from intentmatch.encoders import hub, load_encoder
from intentmatch.encoders.checksums import write_checksums
from intentmatch.encoders.encode import encode_all
from intentmatch.matching.reranker import CrossEncoderReranker
from intentmatch.runtime import steps
from intentmatch.storage import atomic
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

_HEAD = {
    "library_name": "sentence-transformers",
    "pipeline_tag": "text-ranking",
    "tags": ["sentence-transformers", "cross-encoder", "reranker"],
}
_HOW = (
    "trained by `intentmatch adapt --reranker` on pairs of {utterances:,} utterances of {intents} intents: binary "
    "cross-entropy with {steps} steps of AdamW, against the utterances of other intents that are nearest to each."
)


@dataclass(frozen=True, slots=True)
class AdaptedReranker:
    """The result of training a reranker."""

    proof: Proof
    folder: Path | None
    """The model; None if it was not kept."""


def adapt_reranker(
    registry: Registry,
    settings: Settings,
    output: Path,
    recipe: RerankerRecipe | None = None,
    *,
    base: str | None = None,
    folds: int = 3,
    work: Path | None = None,
) -> AdaptedReranker:
    """Train a cross-encoder on a registry, and write it to the new folder `output` if it proves itself.

    `base` is a cross-encoder by hub name or folder; without it, the training starts from the weights of the encoder of
    `settings`, which must then be `sentence_transformer:NAME_OR_FOLDER`. `work`, by default `OUTPUT.work`, keeps the
    state; a later call with the same arguments continues from there. Deterministic on one machine.

    Raises `InputError` if there is nothing to start from, the folder exists, or the registry is too small,
    `MissingExtraError`, `ModelUnavailableError`, and `IntentMatchError` if the training fails.
    """
    recipe = recipe or RerankerRecipe()
    check_output(output)
    kind, _, model = settings.encoder.partition(":")
    if base is None and (kind != KIND or not model):
        raise InputError(
            f"the encoder {settings.encoder} has no weights for a reranker: name a cross-encoder with --base, or a "
            f"transformer with --encoder {KIND}:NAME_OR_FOLDER"
        )
    plugins.check_installed("sentence_transformers", what=WHAT, extra=EXTRA)
    work = work or output.with_name(f"{output.name}.work")
    steps.report("encoding the registry")
    encoder = load_encoder(settings)
    parts = folds_of(registry, encoder, settings, folds, recipe.seed)
    check_folds(parts)
    start = base or str(cross_encoder_of(model, settings.device, work / "base", recipe.seed))
    trainer = _Trainer(encoder, settings, recipe, work=work, base=base, load=lambda: _load(start, settings))
    found = [
        message
        for number, part in enumerate(parts, 1)
        for message in trainer.fold(part, f"fold-{number}", f"fold {number} of {len(parts)}")
    ]
    proof = proof_of(parts, found)
    if proof.kept:
        trained = trainer.model(registry, "all", "training on all utterances")
        try:
            with atomic.folder_aside(output) as folder, hub.quietly():
                trained.save_pretrained(str(folder), create_model_card=False)
                write_card(
                    folder,
                    base=base or model,
                    base_folder=hub.model_folder(base or model),
                    head=_HEAD,
                    title=f"A reranker for {len(registry)} intents",
                    what=_HOW.format(utterances=len(registry.utterances), intents=len(registry), steps=recipe.steps),
                    proof=proof,
                    recipe=asdict(recipe),
                )
                write_checksums(folder)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error}") from None
    shutil.rmtree(work, ignore_errors=True)
    return AdaptedReranker(proof, output if proof.kept else None)


def _load(start: str, settings: Settings) -> Any:
    """Load the cross-encoder to train. Raises `ModelUnavailableError` if it does not return one number."""
    model = hub.load("CrossEncoder", start, settings.device, what="A cross-encoder").model
    # It raises for a model that returns several numbers, before hours of training.
    CrossEncoderReranker(model, name=start)
    return model


class _Trainer:
    """Trains and measures the cross-encoders of one adaptation."""

    def __init__(
        self,
        encoder: Encoder,
        settings: Settings,
        recipe: RerankerRecipe,
        *,
        work: Path,
        base: str | None,
        load: Callable[[], Any],
    ) -> None:
        self._encoder, self._settings, self._recipe, self._work = encoder, settings, recipe, work
        self._base, self._load = base, load

    def model(self, registry: Registry, name: str, shown: str) -> Any:
        """Train a cross-encoder; the state is kept under `name`, progress is reported as `shown`."""
        vectors = self._vectors(registry)
        return train_reranker(registry, vectors, self._load, self._recipe, work=self._work / name, name=shown)

    def fold(self, fold: ProofFold, name: str, shown: str) -> list[Doubtful]:
        """Return what a model that is trained on a fold's registry does there; read it if it was measured before."""
        identity = digest_of(
            [
                self._base,
                self._encoder.fingerprint,
                asdict(self._recipe),
                fold.registry.fingerprint,
                fold.messages,
                fold.expected,
                self._settings.to_dict(),
            ]
        )

        def measured() -> list[Doubtful]:
            reranker = CrossEncoderReranker(self.model(fold.registry, name, shown))
            return doubtful_messages(fold, self._encoder, reranker, self._settings)

        found = remembered(self._work / f"{name}.json", identity, measured)
        shutil.rmtree(self._work / name, ignore_errors=True)
        return [Doubtful(*message) for message in found]

    def _vectors(self, registry: Registry) -> Vectors:
        texts = [clean(utterance.text) for utterance in registry.utterances]
        return encode_all(self._encoder, texts, "utterance", VectorCache.at(self._settings.cache))
