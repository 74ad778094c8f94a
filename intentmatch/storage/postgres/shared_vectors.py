"""Vectors by content in the database, behind the cache on disk: what one replica has encoded, nobody encodes again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from intentmatch.core.errors import DatabaseError
from intentmatch.core.types import Encoder, Kind, Vectors
from intentmatch.runtime.block_sizes import CACHE_ROWS
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.vector_cache import LOOKUPS, VectorCache, pack_row, row_key, unpack_row
from intentmatch.text.normalize import TEXT_VERSION

_log = logging.getLogger(__name__)


class SharedVectors(VectorCache):
    """A cache on disk whose misses are looked up in the database. Methods never raise for a lost database."""

    def __init__(self, folder: Path | None, database: Database) -> None:
        super().__init__(folder)
        self._database = database

    def get(self, encoder: Encoder, texts: Sequence[str], kind: Kind = "utterance") -> dict[int, Vectors]:
        """Return the cached vectors of cleaned texts, as `VectorCache.get` does."""
        found = super().get(encoder, texts, kind)
        positions: dict[bytes, list[int]] = {}
        for position, text in enumerate(texts):
            if position not in found:
                positions.setdefault(row_key(text, kind), []).append(position)
        more: dict[int, Vectors] = {}
        try:
            for start in range(0, len(positions), CACHE_ROWS):
                for key, row in self._rows(encoder, list(positions)[start : start + CACHE_ROWS]):
                    vector = unpack_row(key, row, encoder.dim)
                    if vector is not None:
                        more.update(dict.fromkeys(positions[key], vector))
        except DatabaseError as error:
            _log.warning("vectors are not shared: %s", error)
        if more:
            # Counted as misses on disk before.
            LOOKUPS.update(hit=len(more), miss=-len(more))
            super().put(encoder, [texts[at] for at in more], np.stack(list(more.values())), kind)
        return found | more

    def put(self, encoder: Encoder, texts: Sequence[str], vectors: Vectors, kind: Kind = "utterance") -> None:
        """Store the vectors of cleaned texts on disk and in the database."""
        super().put(encoder, texts, vectors, kind)
        name, bot = _name(encoder), self._database.bot
        keys = [row_key(text, kind) for text in texts]
        # In the order of the keys: two replicas that write the same rows would otherwise wait for each other.
        rows = sorted((bot, name, key, pack_row(key, vector)) for key, vector in zip(keys, vectors, strict=True))
        try:
            with self._database.rows() as connection, connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO intentmatch.vectors (bot, encoder, key, vector) VALUES (%s, %s, %s, %s) "
                    "ON CONFLICT DO NOTHING",
                    rows,
                )
        except DatabaseError as error:
            _log.warning("vectors are not shared: %s", error)

    def _rows(self, encoder: Encoder, keys: list[bytes]) -> list[tuple[bytes, bytes]]:
        with self._database.rows() as connection:
            found: list[tuple[bytes, bytes]] = connection.execute(
                "SELECT key, vector FROM intentmatch.vectors WHERE bot = %s AND encoder = %s AND key = ANY(%s)",
                [self._database.bot, _name(encoder), keys],
                binary=True,
            ).fetchall()
        return found


def _name(encoder: Encoder) -> str:
    return f"{encoder.name} {encoder.fingerprint} t{TEXT_VERSION}"
