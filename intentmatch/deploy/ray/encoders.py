"""The encoder as a deployment: its replicas, and the encoder that matchers use in its place."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any

import numpy as np

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder, Kind, Vectors
from intentmatch.deploy.ray.engine import SECONDS_BETWEEN_TRIES, is_lost, require_serve
from intentmatch.encoders import load_encoder
from intentmatch.encoders.translations import Translations, translations_of
from intentmatch.encoders.unseen_messages import UnseenMessages, unseen_messages_of

_Beyond = tuple[int, int]


@dataclass(frozen=True)
class Description:
    """What a matcher must know about an encoder that runs elsewhere."""

    name: str
    dim: int
    fingerprint: str
    tolerance: float
    languages: frozenset[str] | None
    translations: Translations | None
    nested: bool
    texts_at_once: int
    """Most texts of one call."""
    unseen_messages: UnseenMessages | None = None


@dataclass(frozen=True)
class Encoded:
    """The vectors of some texts."""

    vectors: Vectors
    """Shape `(texts, dim)`."""
    beyond: Mapping[str, _Beyond]
    """Texts that are too long for the model, with their pieces and how many of them it reads."""


class EncoderReplica:
    """One replica of the encoder. Calls that arrive together are encoded together."""

    def __init__(self, settings: Mapping[str, Any], batch: int, wait_ms: float) -> None:
        """Load the encoder and try it. Raises what `load_encoder` raises."""
        self._encoder: Encoder = load_encoder(resolve(settings))
        # Ray sends requests as soon as this returns: the first call, in which a model takes its memory, must be over.
        self._encoder.encode(["hello"], kind="query")
        self._texts_at_once = batch

        async def encode_together(calls: list[tuple[Sequence[str], Kind]]) -> list[Encoded]:
            return await asyncio.to_thread(encode_calls, self._encoder, calls)

        in_batches = require_serve().batch(
            max_batch_size=batch,
            batch_wait_timeout_s=wait_ms / 1000,
            # By texts and not by calls, one of which may hold a whole build.
            batch_size_fn=lambda calls: sum(len(texts) for texts, _ in calls),
        )
        self._encode_together = in_batches(encode_together)

    def describe(self) -> Description:
        """Describe the encoder."""
        encoder = self._encoder
        return Description(
            name=encoder.name,
            dim=encoder.dim,
            fingerprint=encoder.fingerprint,
            tolerance=encoder.tolerance,
            languages=getattr(encoder, "languages", None),
            translations=translations_of(encoder),
            unseen_messages=unseen_messages_of(encoder),
            nested=getattr(encoder, "nested", False),
            texts_at_once=self._texts_at_once,
        )

    async def encode(self, texts: Sequence[str], kind: Kind) -> Encoded:
        """Return the vectors of at most `texts_at_once` texts."""
        encoded: Encoded = await self._encode_together((texts, kind))
        return encoded


def encode_calls(encoder: Encoder, calls: Sequence[tuple[Sequence[str], Kind]]) -> list[Encoded]:
    """Encode the texts of several calls with one call of the encoder for each kind."""
    beyond: Callable[[str], _Beyond | None] | None = getattr(encoder, "beyond", None)
    found: dict[int, Encoded] = {}
    for kind in ("query", "utterance"):
        numbers = [number for number, (_, wanted) in enumerate(calls) if wanted == kind]
        texts = [text for number in numbers for text in calls[number][0]]
        if not texts:
            continue
        vectors = encoder.encode(texts, kind=kind)
        start = 0
        for number in numbers:
            own = calls[number][0]
            # Only messages are reported as too long; `lint` tells it of utterances.
            long = {} if beyond is None or kind == "utterance" else {text: beyond(text) for text in own}
            found[number] = Encoded(
                vectors[start : start + len(own)], {text: most for text, most in long.items() if most is not None}
            )
            start += len(own)
    empty = Encoded(np.empty((0, encoder.dim), dtype=np.float32), {})
    return [found.get(number, empty) for number in range(len(calls))]


class RayEncoder:
    """Encoder that runs in the replicas of a deployment. Safe to use from many threads, but from no event loop.

    Its vectors and its fingerprint are those of the encoder there. A call whose replica dies is sent to another one.
    The constructor, like `encode`, raises `ModelUnavailableError` if no replica answers within `seconds`.
    """

    batches = True

    def __init__(self, handle: Any, *, seconds: float = Settings.remote_seconds) -> None:
        self._handle, self._seconds = handle, seconds
        about: Description = self._call("describe")
        self.name, self.dim = about.name, about.dim
        self.fingerprint, self.tolerance = about.fingerprint, about.tolerance
        self.languages, self.translations = about.languages, about.translations
        self.unseen_messages = about.unseen_messages
        self.nested, self._texts_at_once = about.nested, about.texts_at_once
        self._too_long = _Few()

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), self._texts_at_once):
            part = list(texts[start : start + self._texts_at_once])
            encoded: Encoded = self._call("encode", part, kind)
            vectors[start : start + len(part)] = encoded.vectors
            self._too_long.add(encoded.beyond)
        return vectors

    def beyond(self, text: str) -> _Beyond | None:
        """Return the pieces of a query that was just encoded and how many are read, if it is too long."""
        return self._too_long.get(text)

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a replica; another one if it dies."""
        end = time.monotonic() + self._seconds
        while True:
            left = end - time.monotonic()
            try:
                return getattr(self._handle, method).remote(*arguments).result(timeout_s=max(left, 0.001))
            except (TimeoutError, FutureTimeoutError):
                raise self._unavailable() from None
            except Exception as error:
                if not is_lost(error):
                    raise
                if left <= 0:
                    raise self._unavailable() from error
            time.sleep(SECONDS_BETWEEN_TRIES)

    def _unavailable(self) -> ModelUnavailableError:
        return ModelUnavailableError(f"no replica of the encoder answered within {self._seconds:g} seconds")


class _Few:
    """The newest entries of a mapping."""

    # Each is asked for right after it was encoded.
    _MOST = 1000

    def __init__(self) -> None:
        self._held: dict[str, _Beyond] = {}
        self._lock = threading.Lock()

    def add(self, entries: Mapping[str, _Beyond]) -> None:
        """Add entries, and forget the oldest if there are too many."""
        if entries:
            with self._lock:
                self._held.update(entries)
                for text in list(self._held)[: -self._MOST]:
                    del self._held[text]

    def get(self, text: str) -> _Beyond | None:
        """Return an entry, None if it is not there."""
        return self._held.get(text)
