"""Encoders, which turn text into vectors, and `load_encoder`, which creates one by name."""

from __future__ import annotations

from intentmatch.core import plugins
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder

__all__ = ["encoder_key", "load_encoder"]

_SETTINGS_OF_AN_ENCODER = ("encoder", "device", "precision", "threads", "remote_seconds", "prompts")


def load_encoder(settings: Settings) -> Encoder:
    """Load the encoder that `settings.encoder` names.

    Raises `UnknownNameError`, `MissingExtraError`, `ModelUnavailableError` or `SettingsError`.
    """
    kind, _, model = settings.encoder.partition(":")
    hint = f"For a sentence-transformers model write sentence_transformer:{settings.encoder}"
    encoder: Encoder = plugins.factory("encoders", kind, hint=hint)(model, settings)
    return encoder


def encoder_key(settings: Settings) -> tuple[str, ...]:
    """The settings that `load_encoder` reads: equal keys make equal encoders, so that one can serve both."""
    return tuple(repr(getattr(settings, name)) for name in _SETTINGS_OF_AN_ENCODER)
