"""Text to vectors: the table of encoders and the one way to get one by name."""

from __future__ import annotations

from intentmatch import plugins
from intentmatch.errors import UnknownNameError
from intentmatch.settings import Settings
from intentmatch.types import Encoder

__all__ = ["load_encoder"]


def load_encoder(settings: Settings) -> Encoder:
    """The encoder that `settings.encoder` names.

    Raises `UnknownNameError`, `MissingExtraError` (with the pip line) or `ModelUnavailableError` (with the way out).
    """
    kind, _, model = settings.encoder.partition(":")
    try:
        factory = plugins.factory("encoders", kind)
    except UnknownNameError as error:
        hint = f"For a sentence-transformers model write sentence_transformer:{settings.encoder}"
        raise UnknownNameError("encoder", kind, plugins.names("encoders"), hint) from error
    encoder: Encoder = factory(model, settings)
    return encoder
