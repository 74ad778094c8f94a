"""The artefact: a built registry with its vectors, trained head and calibration, as an immutable value."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import StaleArtefactError
from intentmatch.core.setting_values import FROM_TESTS
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, KeptVectors, Registry, Vectors
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.labelled_share import share_in_use
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.text.normalize import TEXT_VERSION


@dataclass(frozen=True, eq=False)
class Artefact:
    """A registry with its vectors, trained head and calibration. Immutable. Made by `build` or `load_artefact`.

    Only the same object is equal; `fingerprint` tells whether two have the same content.
    """

    registry: Registry
    settings: Settings
    encoder_name: str
    encoder_fingerprint: str
    vectors: KeptVectors
    """Vectors of all utterances in registry order, shape `(utterances, dim)`, float32 or float16."""
    negative_vectors: Vectors
    """Vectors of all negatives in registry order, shape `(negatives, dim)`."""
    label_vectors: Vectors
    """Vectors of the intents' titles or names, shape `(intents, dim)`."""
    calibration: Calibration
    trained_head: TrainedHead | None = None
    """Head, token features and words; None if scores alone decide."""
    foreign: Calibration | None = None
    """Calibration for messages in languages that the registry does not have; None if `calibration` is for all. Added
    in 0.3.0."""
    graph: NDArray[np.uint8] | None = None
    """Serialised graph of an approximate index; None for exact search."""
    question_vectors: Vectors | None = None
    """Vectors of the lines of all questions in registry order, shape `(lines, dim)`; None without questions. Added in
    0.3.0."""
    trait_heads: TraitHeads | None = None
    """Heads of the questions; None without any. Added in 0.3.0."""

    @property
    def fingerprint(self) -> str:
        """Digest of everything that can change an answer: registry, encoder, text version and settings."""
        parts = [self.registry.fingerprint, self.encoder_fingerprint, TEXT_VERSION, self.settings.to_dict()]
        # Tests decide nothing otherwise, and adding one must not make an artefact stale.
        parts += [self.registry.tests_content] if self.learns_from_tests else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def learns_from_tests(self) -> bool:
        """Whether confidences or a promised precision are learned from the registry's tests, if there are enough.

        Added in 0.3.0.
        """
        return self.settings.out_of_scope_share == FROM_TESTS or self.settings.promises

    @property
    def out_of_scope_share(self) -> float:
        """The setting `out_of_scope_share` as a number. Added in 0.3.0."""
        return share_in_use(self.settings, self.calibration.labelled)

    @property
    def all_vectors(self) -> Vectors:
        """All vectors as float32, those of the texts in `build.texts_of`. Added in 0.3.0."""
        of_questions = () if self.question_vectors is None else (self.question_vectors,)
        return np.vstack([self.wide_vectors, self.negative_vectors, self.label_vectors, *of_questions])

    @property
    def wide_vectors(self) -> Vectors:
        """`vectors` as float32; a copy if they are stored as float16."""
        return np.asarray(self.vectors, dtype=np.float32)

    def check_encoder(self, encoder: Encoder) -> None:
        """Raise `StaleArtefactError` unless this encoder made the vectors."""
        # The fingerprint of a remote encoder comes from vectors that vary in their last digits.
        same_as = getattr(encoder, "same_as", encoder.fingerprint.__eq__)
        if not same_as(self.encoder_fingerprint):
            raise StaleArtefactError(
                f"built with the encoder {self.encoder_name} @ {self.encoder_fingerprint}, but the encoder in use is "
                f"{encoder.name} @ {encoder.fingerprint}. Run `intentmatch build` again, or use the other encoder."
            )


def searched_by(settings: Settings, trained_head: TrainedHead | None) -> str:
    """Return the kind of index to search; with a head always exact, because the head makes the shortlist."""
    return settings.index if trained_head is None else "exact"
