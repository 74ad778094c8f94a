"""Adapt an encoder to a registry, and keep the result only if it proves itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from intentmatch.adaptation.card import write_card
from intentmatch.adaptation.encoder_training import Base, train_encoder
from intentmatch.adaptation.languages import anchor_texts, found_translations, lacking
from intentmatch.adaptation.proof import (
    AccuracyProbe,
    Proof,
    ProofAnswer,
    ProofFold,
    ProofMeasures,
    folds_of,
    measure,
    proof_of,
)
from intentmatch.adaptation.recipe import EncoderRecipe
from intentmatch.adaptation.training import EXTRA, WHAT
from intentmatch.adaptation.work_folder import digest_of, remembered
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry, Vectors
from intentmatch.encoders import hub
from intentmatch.encoders.checksums import write_checksums
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.labelled_share import share_in_use
from intentmatch.learning.unseen_cases import unseen_of
from intentmatch.runtime import steps
from intentmatch.storage import atomic

KIND = "sentence_transformer"

_HEAD = {
    "library_name": "sentence-transformers",
    "pipeline_tag": "sentence-similarity",
    "tags": ["sentence-transformers", "feature-extraction", "sentence-similarity"],
}
_HOW = (
    "trained by `intentmatch adapt` on {utterances:,} utterances of {intents} intents: {steps} steps of AdamW with the "
    "loss {loss}."
)


@dataclass(frozen=True, slots=True)
class AdaptedEncoder:
    """The result of an adaptation."""

    proof: Proof
    folder: Path | None
    """The model; None if it was not kept."""


def adapt_encoder(
    registry: Registry,
    settings: Settings,
    output: Path,
    recipe: EncoderRecipe | None = None,
    *,
    folds: int = 3,
    work: Path | None = None,
) -> AdaptedEncoder:
    """Train the encoder of `settings` on a registry, and write it to the new folder `output` if it proves itself.

    The encoder must be `sentence_transformer:NAME_OR_FOLDER`. `work`, by default `OUTPUT.work`, keeps finished folds
    and the state of a training; a later call with the same arguments continues from there, with the same result.
    Deterministic on one machine. Progress is reported to `runtime.steps`.

    Raises `InputError` if the encoder cannot be trained, the folder exists, or the registry is too small,
    `MissingExtraError`, `ModelUnavailableError`, and `IntentMatchError` if the training fails.
    """
    recipe = recipe or EncoderRecipe()
    check_output(output)
    base = load_base(settings)
    work = work or output.with_name(f"{output.name}.work")
    steps.report("encoding the registry")
    parts = folds_of(registry, base.encoder, settings, folds, recipe.seed)
    check_folds(parts)
    missing = lacking(registry, base.encoder)
    trainer = _Trainer(base, recipe, work, missing)
    translated = found_translations(base.encoder, missing)
    before = [measure(part, base.encoder, settings, translated) for part in parts]
    after = []
    for number, part in enumerate(parts):
        after.append(trainer.fold(part, f"fold-{number + 1}", f"fold {number + 1} of {len(parts)}"))
    proof = proof_of(parts, before, after, share_in_use(settings, None))
    if proof.kept:
        model = trainer.model(registry, "all", "training on all utterances")
        try:
            with atomic.folder_aside(output) as folder, hub.quietly():
                model.save_pretrained(str(folder), create_model_card=False)
                unseen_of([one.cases for one in after if one.cases is not None], registry, settings).save(folder)
                counts = {"utterances": len(registry.utterances), "intents": len(registry)}
                how = _HOW.format(**counts, steps=recipe.steps, loss=recipe.loss)
                write_card(
                    folder,
                    base=base.model,
                    base_folder=base.encoder.folder,
                    head=_HEAD,
                    title=f"An encoder for {len(registry)} intents",
                    what=how,
                    proof=proof,
                    recipe=asdict(recipe),
                )
                write_checksums(folder)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error}") from None
    # Only here: after an interruption a later call continues from the work folder.
    shutil.rmtree(work, ignore_errors=True)
    return AdaptedEncoder(proof, output if proof.kept else None)


def check_output(output: Path) -> None:
    """Raise `InputError` if a folder is there already."""
    if output.exists():
        raise InputError(f"{output} exists already: name a new folder, or remove this one first")


def check_folds(folds: Sequence[ProofFold]) -> None:
    """Raise `InputError` if there is nothing to measure with."""
    if not folds or not any(expected is not None for fold in folds for expected in fold.expected):
        raise InputError(
            "there are too few utterances to prove a model: two intents or more need several different utterances each"
        )


def load_base(settings: Settings) -> Base:
    """Load the encoder to adapt. Raises `InputError` if it is of a kind that cannot be trained."""
    kind, _, model = settings.encoder.partition(":")
    if kind == "static":
        raise InputError(
            f"the encoder {settings.encoder} cannot be adapted: training the vectors of its tokens on a registry "
            f"gained nothing in measurements. Name a transformer: --encoder {KIND}:NAME_OR_FOLDER"
        )
    if kind != KIND or not model:
        source = " Adapt the model that it was exported from." if kind == "onnx" else ""
        raise InputError(f"the encoder {settings.encoder} cannot be adapted, only {KIND}:NAME_OR_FOLDER.{source}")
    plugins.check_installed("sentence_transformers", what=WHAT, extra=EXTRA)
    encoder = SentenceTransformerEncoder(model, device=settings.device, precision="float32", prompts=settings.prompts)
    return Base(encoder, settings)


class _Trainer:
    """Trains and measures the models of one adaptation."""

    def __init__(self, base: Base, recipe: EncoderRecipe, work: Path, missing: frozenset[str]) -> None:
        self._base, self._recipe, self._work, self._missing = base, recipe, work, missing
        self._anchors = anchor_texts(missing)

    def model(self, registry: Registry, name: str, shown: str, probe: Any = None) -> Any:
        """Train a model of sentence-transformers; the state is kept under `name`, progress is reported as `shown`."""
        work = self._work / name
        return train_encoder(
            registry, self._base, self._recipe, work=work, name=shown, anchors=self._anchors, probe=probe
        )

    def fold(self, fold: ProofFold, name: str, shown: str) -> ProofMeasures:
        """Return what a model that is trained on a fold's registry does there; read it if it was measured before."""
        found = remembered(self._work / f"{name}.json", self._identity(fold), lambda: self._measured(fold, name, shown))
        shutil.rmtree(self._work / name, ignore_errors=True)
        answers, languages, cases = found
        return ProofMeasures(tuple(ProofAnswer(*answer) for answer in answers), languages, _as_cases(cases))

    def _measured(self, fold: ProofFold, name: str, shown: str) -> list[Any]:
        """Return a measurement as JSON values."""
        probe = AccuracyProbe(fold, self._recipe.steps, self._recipe.seed)
        model = self.model(fold.registry, name, shown, lambda model, step: probe(_encode(model), step))
        with _saved(model, self._work / f"{name}.model") as folder:
            settings = self._base.settings
            # Saved and loaded, so that the proof is about what users will load, prompts included.
            encoder = SentenceTransformerEncoder(str(folder), device=settings.device, precision="float32")
            found = measure(fold, encoder, settings, found_translations(encoder, self._missing))
        return [found.answers, found.languages, _as_json(found.cases)]

    def _identity(self, fold: ProofFold) -> str:
        """Digest of everything that determines the measurement of a fold."""
        return digest_of(
            [
                # The form of what is remembered: another release may measure more.
                "answers, languages, cases",
                self._base.encoder.fingerprint,
                asdict(self._recipe),
                fold.registry.fingerprint,
                fold.messages,
                fold.expected,
                self._anchors,
                self._base.settings.to_dict(),
            ]
        )


def _as_json(cases: HeldOut | None) -> dict[str, Any]:
    return {} if cases is None else {name: getattr(cases, name).tolist() for name in HeldOut.__slots__}


def _as_cases(values: dict[str, Any]) -> HeldOut | None:
    return HeldOut(**{name: np.array(value) for name, value in values.items()}) if values else None


def _encode(model: Any) -> Any:
    def encode(texts: list[str]) -> Vectors:
        found: Vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)

    return encode


@contextmanager
def _saved(model: Any, folder: Path) -> Iterator[Path]:
    """Save a model to a folder for the length of the block."""
    try:
        with hub.quietly():
            model.save_pretrained(str(folder), create_model_card=False)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
