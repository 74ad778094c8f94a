"""The recipes of an adaptation: every parameter that determines the adapted model."""

from __future__ import annotations

from dataclasses import dataclass

LOSSES = ("contrastive", "multiple-negatives", "triplet", "softmax")
"""Losses that tell intents apart, see `losses`; the first one is the default, and the only one that was measured."""


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """Parameters for adapting an encoder.

    Steps, intents, temperature and learning rate were chosen on development rows of clinc150 and banking77 with 10
    examples and all-MiniLM-L6-v2. The parameters of `not:` lines and anchors are usual values, not chosen by a
    measurement.
    """

    seed: int = 0
    steps: int = 300
    loss: str = LOSSES[0]
    """One of `LOSSES`."""
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
    """Cosine by which an utterance shall be nearer to one of its own intent than to a `not:` line, and with the loss
    `triplet` than to another intent."""
    anchors: int = 8
    """Texts of other languages in a step, whose vectors shall stay where they are."""
    anchoring: float = 20.0
    """Weight of the anchor loss, the mean squared distance of these vectors times their dimension."""


@dataclass(frozen=True, slots=True)
class RerankerRecipe:
    """Parameters for training a cross-encoder. They are usual values, not chosen by a measurement."""

    seed: int = 0
    steps: int = 300
    messages: int = 16
    """Messages in a batch; each is paired with an utterance of its intent and with one of another intent."""
    hardest: int = 10
    """The other one is drawn from so many utterances of other intents that are nearest to the message."""
    learning_rate: float = 2e-5
    """Initial learning rate of AdamW; it decays linearly to 0."""
