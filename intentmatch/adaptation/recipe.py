"""The recipes of an adaptation: every parameter that determines the adapted model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """Parameters for adapting an encoder. Chosen on clinc150 and banking77 with 10 examples and all-MiniLM-L6-v2."""

    seed: int = 0
    steps: int = 300
    intents: int = 16
    """Most intents in a batch; each adds two utterances."""
    near: float = 0.0
    """Share of a batch's intents that are near neighbours of intents that are already in it."""
    temperature: float = 0.07
    learning_rate: float = 3e-5
    """Initial learning rate of AdamW; it decays linearly to 0."""
    negatives: int = 4
    """Most `not:` lines in a step."""
    margin: float = 0.2
    """Cosine by which an utterance shall be nearer to one of its own intent than to a `not:` line."""
    anchors: int = 8
    """Texts of other languages in a step, whose vectors shall stay where they are."""
    anchoring: float = 20.0
    """Weight of the anchor loss, the mean squared distance of these vectors times their dimension."""
