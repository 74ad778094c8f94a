"""The recipe of a network: every parameter of its training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ContextRecipe:
    """Parameters of the training of a network."""

    NEVER_ZERO: ClassVar[frozenset[str]] = frozenset(
        {"width", "most_sentences", "most_pairs", "sentences", "pairs", "decay", "temperature", "pair_temperature"}
    )

    seed: int = 1
    width: int = 128
    """Numbers per piece inside the network."""
    most_sentences: int = 100_000
    """English sentences that the teacher encodes, drawn from all by the weights of their sources."""
    most_pairs: int = 250_000
    """Translations, drawn from all by the weights of their languages and sources."""
    sentence_weights: Mapping[str, float] = field(default_factory=dict)
    """Source to factor on the chance of its English sentences; the default is 1."""
    source_weights: Mapping[str, float] = field(default_factory=dict)
    """Source to factor on the chance of its translations within their language; the default is 1."""
    language_weights: Mapping[str, float] = field(default_factory=dict)
    """Language to factor on the chance of its translations; the default is 1."""
    flatness: float = 0.55
    """A language with n translations is drawn in proportion to n ** flatness."""
    steps: int = 4_000
    sentences: int = 320
    """English sentences with a teacher's vector per step, each also with surroundings."""
    pairs: int = 320
    """Translations per step, each with its English sentence; one of the two also with surroundings."""
    topics: float = 0.5
    """Share of the sentences of a step that come from few topics, so that they are hard to tell apart."""
    learning_rate: float = 0.002
    decay: float = 0.4
    """Share of the steps, at the end, in which the learning rate falls to 2 %."""
    temperature: float = 0.07
    """Temperature of the similarities between sentences."""
    pair_temperature: float = 0.05
    """Temperature of the contrastive loss between translations."""
    surroundings: float = 1.5
    """Weight of the distance between a text with surroundings and the text alone."""
    similarities: float = 1.0
    """Weight of the divergence from the teacher's similarities between the sentences of a step."""
    teacher: float = 0.3
    """Weight of the distance from the teacher's vector, mapped into the space of the static model."""
    pull: float = 2.0
    """Weight of the distance of a translation from its English sentence."""
    pair_contrast: float = 0.6
    """Weight of the contrastive loss between translations and English sentences of the step."""
    anchor: float = 0.3
    """Weight of the distance of a translation from its vector without the network."""
    english_anchor: float = 0.1
    """The same for English sentences."""
    negated: int = 64
    """Texts per step that are put in the negative (`text.refusals.negated`), each beside the text itself."""
    negation: float = 2.0
    """Weight of what the network adds to the similarity of a text and its negative: they must not come nearer."""
    spread: float = 4.0
    """Weight of what the network adds to the length of the mean vector of a step: scores of texts that have nothing in
    common must not rise."""
    typos: float = 0.15
    """Share of the texts with surroundings that also get a typing mistake."""
