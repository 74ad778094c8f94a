"""Encoders, which turn text into vectors, and `load_encoder`, which creates one by name."""

from __future__ import annotations

from intentmatch.core import plugins
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder

__all__ = ["load_encoder"]


def load_encoder(settings: Settings) -> Encoder:
    """Load the encoder that `settings.encoder` names.

    Raises `UnknownNameError`, `MissingExtraError`, `ModelUnavailableError` or `SettingsError`.
    """
    kind, _, model = settings.encoder.partition(":")
    hint = f"For a sentence-transformers model write sentence_transformer:{settings.encoder}"
    encoder: Encoder = plugins.factory("encoders", kind, hint=hint)(model, settings)
    return encoder
