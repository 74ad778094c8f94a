"""Models that several bots have in common: loaded once, and let go of when the last bot that uses them is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Reranker
from intentmatch.encoders import load_encoder
from intentmatch.matching.reranker import load_reranker

_Model = TypeVar("_Model")
_Key = tuple[Any, ...]


class SharedModels:
    """Encoders and rerankers by the settings that they are made from."""

    def __init__(self) -> None:
        # One at a time: what loads a model takes all there is of the machine anyway.
        self._loading = threading.Lock()
        self._models: WeakValueDictionary[_Key, Any] = WeakValueDictionary()

    def encoder(self, settings: Settings) -> Encoder:
        """The encoder that these settings ask for. Raises as `load_encoder` does."""
        key = ("encoder", settings.encoder, settings.device, settings.precision, repr(settings.prompts))
        return self._shared(key, lambda: load_encoder(settings))

    def reranker(self, settings: Settings) -> Reranker | None:
        """The reranker that these settings ask for, if any. Raises as `load_reranker` does."""
        return self._shared(("reranker", settings.reranker, settings.device), lambda: load_reranker(settings))

    def _shared(self, key: _Key, load: Callable[[], _Model]) -> _Model:
        with self._loading:
            found: _Model | None = self._models.get(key)
            if found is None:
                found = load()
                # None cannot be held so, nor can what forbids it by slots of its own.
                with suppress(TypeError):
                    self._models[key] = found
            return found
