"""Models shared by bots: loaded once, and freed when the last bot that uses them is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Reranker
from intentmatch.encoders import encoder_key, load_encoder
from intentmatch.matching.reranker import load_reranker, reranker_key

_Model = TypeVar("_Model")


class ModelPool:
    """Encoders and rerankers, keyed by the settings that make them. Safe to use from many threads."""

    def __init__(self, load: Callable[[Settings], Encoder] | None = None) -> None:
        """`load` makes encoders in place of `load_encoder`, and raises the same errors."""
        self._load_encoder = load_encoder if load is None else load
        # One load at a time: loading a model uses the whole machine anyway.
        self._loading = threading.Lock()
        self._models: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()

    def encoder(self, settings: Settings) -> Encoder:
        """Return the encoder for these settings. Raises what `load_encoder` raises."""
        return self._shared(("encoder", encoder_key(settings)), lambda: self._load_encoder(settings))

    def reranker(self, settings: Settings) -> Reranker | None:
        """Return the reranker for these settings, if any. Raises what `load_reranker` raises."""
        return self._shared(("reranker", reranker_key(settings)), lambda: load_reranker(settings))

    def _shared(self, key: Hashable, load: Callable[[], _Model]) -> _Model:
        with self._loading:
            model: _Model | None = self._models.get(key)
            if model is None:
                model = load()
                # None has no weak reference, nor has an object with __slots__ and no __weakref__.
                with suppress(TypeError):
                    self._models[key] = model
            return model
