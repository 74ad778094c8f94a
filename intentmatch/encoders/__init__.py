"""Text to vectors: the table of encoders and the one way to get one by name."""

from __future__ import annotations

from intentmatch.core import plugins
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder

__all__ = ["load_encoder"]


def load_encoder(settings: Settings) -> Encoder:
    """The encoder that `settings.encoder` names.

    Raises `UnknownNameError`, `MissingExtraError` (with the pip line) or `ModelUnavailableError` (with the way out).
    """
    kind, _, model = settings.encoder.partition(":")
    hint = f"For a sentence-transformers model write sentence_transformer:{settings.encoder}"
    encoder: Encoder = plugins.factory("encoders", kind, hint=hint)(model, settings)
    return encoder
