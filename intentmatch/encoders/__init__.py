"""Encoders, which turn text into vectors, and `load_encoder`, which creates one by name."""

from __future__ import annotations

from collections.abc import Callable

from intentmatch.core import plugins
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder

__all__ = ["check_kind", "encoder_key", "load_encoder"]

_SETTINGS_OF_AN_ENCODER = ("encoder", "device", "precision", "threads", "remote_seconds", "prompts")


def load_encoder(settings: Settings) -> Encoder:
    """Load the encoder that `settings.encoder` names.

    Raises `UnknownNameError`, `MissingExtraError`, `ModelUnavailableError` or `SettingsError`.
    """
    encoder: Encoder = _factory(settings)(settings.encoder.partition(":")[2], settings)
    return encoder


def check_kind(settings: Settings) -> None:
    """Raise `UnknownNameError` or `MissingExtraError` unless encoders of this kind are installed; loads no model."""
    _factory(settings)


def _factory(settings: Settings) -> Callable[[str, Settings], Encoder]:
    hint = f"For a sentence-transformers model write sentence_transformer:{settings.encoder}"
    found: Callable[[str, Settings], Encoder] = plugins.factory(
        "encoders", settings.encoder.partition(":")[0], hint=hint
    )
    return found


def encoder_key(settings: Settings) -> tuple[str, ...]:
    """The settings that `load_encoder` reads: equal keys make equal encoders, so that one can serve both."""
    return tuple(repr(getattr(settings, name)) for name in _SETTINGS_OF_AN_ENCODER)
