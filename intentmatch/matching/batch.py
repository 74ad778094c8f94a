"""Vectors, shortlists and parts of many messages at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Encoder, Vectors
from intentmatch.encoders.context import embedded_context
from intentmatch.encoders.encode import encode_all
from intentmatch.matching.message_parts import may_ask
from intentmatch.matching.scoring import Scoring
from intentmatch.matching.shortlist import SearchResult
from intentmatch.reading.parts import Parts, parts_of_many
from intentmatch.reading.reader import Reading
from intentmatch.reading.text import ReadText
from intentmatch.runtime.gc_pause import gc_paused


class Precomputed(NamedTuple):
    """What is found for a message, or a part of one, together with others."""

    vector: NDArray[np.float32]
    """Shape `(dim,)`."""
    shortlist: SearchResult | None = None
    """Candidates among all intents; None if they are searched for when the message is matched."""
    said: Parts | None = None
    """What `parts_of` returns for the message; None if that is found when the message is matched."""
    parts: Mapping[str, Precomputed] = MappingProxyType({})
    """The same for the texts of its parts that may ask for something, if it has several."""


class MessageEncoder:
    """Encodes messages that were read. The embedded encoder takes their pieces, others their text."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vector_of: Callable[[Sequence[int]], NDArray[np.float32]] | None = (
            encoder.vector_of if getattr(encoder, "reads_pieces", False) else None  # type: ignore[attr-defined]
        )

    @property
    def reads_pieces(self) -> bool:
        """Whether a vector costs so little that a message may be encoded several times."""
        return self._vector_of is not None

    def vector(self, text: ReadText) -> NDArray[np.float32]:
        """Return the vector of a text, shape `(dim,)`."""
        if self._vector_of is not None:
            return self._vector_of(text.pieces)
        vector: NDArray[np.float32] = self._encoder.encode([text.text], kind="query")[0]
        return vector

    def vectors(self, texts: Sequence[ReadText]) -> tuple[Vectors, list[NDArray[np.float32]] | None]:
        """Return the vectors of texts, and the saliences of their known pieces if the embedded encoder finds both."""
        if self._vector_of is None:
            return encode_all(self._encoder, [text.text for text in texts], "query"), None
        known = [text.known_pieces for text in texts]
        vectors = np.zeros((len(texts), self._encoder.dim), dtype=np.float32)
        rows = [row for row, pieces in enumerate(known) if pieces]
        vectors[rows], salience = embedded_context().read_many([known[row] for row in rows])
        saliences = np.split(salience, np.cumsum([*map(len, known)])[:-1])
        return vectors, saliences


def precompute(
    readings: Iterable[Reading], encoder: MessageEncoder, scoring: Scoring, scoring_of: Callable[[Reading], Scoring]
) -> dict[str, Precomputed]:
    """Return what is found for many messages, keyed by their texts as they were read.

    Messages with an exact hit and noise are left out: they need nothing. A message is searched alone where only some
    intents may answer, some must be scored, or `scoring_of` it is not the usual `scoring`.
    """
    pending: dict[str, tuple[ReadText, bool]] = {}
    languages: dict[str, str | None] = {}

    def add(text: ReadText, *, together: bool) -> None:
        # Two messages may have the same text and other options: it is searched together if one of them uses the result.
        _, before = pending.get(text.text, (text, False))
        pending[text.text] = text, before or together

    for reading in readings:
        if reading.needs_vector:
            alone = reading.options.allowed is not None or reading.hits or scoring_of(reading) is not scoring
            add(reading.meant, together=not alone)
            languages[reading.meant.text] = reading.options.language
    # In one order whatever the order of the messages: the last digits of a product depend on the rows beside a row.
    messages = [pending[text] for text in sorted(pending)]
    said = parts_of_many([text for text, _ in messages], [languages[text.text] for text, _ in messages])
    asking = [
        [part.read for part in (*(parts if len(parts) > 1 else ()), *requests) if may_ask(part.acts)]
        for _, parts, requests in said
    ]
    for (_, together), parts in zip(messages, asking, strict=True):
        for part in parts:
            add(part, together=together)
    found = _found([pending[text] for text in sorted(pending)], encoder, scoring)
    return {
        text.text: found[text.text]._replace(said=of_text, parts={part.text: found[part.text] for part in parts})
        for (text, _), of_text, parts in zip(messages, said, asking, strict=True)
    }


def _found(texts: Sequence[tuple[ReadText, bool]], encoder: MessageEncoder, scoring: Scoring) -> dict[str, Precomputed]:
    """Encode texts, and search for those together that are marked."""
    vectors, saliences = encoder.vectors([text for text, _ in texts])
    whole = [number for number, (_, together) in enumerate(texts) if together]
    with gc_paused():
        pieces = [texts[number][0].known_pieces for number in whole]
        salience = saliences and [saliences[number] for number in whole]
        results = scoring.search_many(vectors[whole], pieces, salience) if whole else ()
    shortlists = dict(zip(whole, results, strict=True))
    return {text.text: Precomputed(vectors[n], shortlists.get(n)) for n, (text, _) in enumerate(texts)}
