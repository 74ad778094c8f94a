"""Cache of vectors on disk, shared by all processes of a user.

The key of a vector is everything that determines it: the encoder's fingerprint and the text version are in the name of
the file, kind and cleaned text are the key of the row. Each encoder has one SQLite file, which provides locks between
processes and survives a kill during a write. Each row has a checksum, so that a damaged disk never gives a wrong
vector. If the cache cannot be used, a warning is logged and nothing is cached.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from intentmatch.core.types import Encoder, Kind, Vectors
from intentmatch.runtime.block_sizes import CACHE_ROWS
from intentmatch.storage.unwritable import with_advice
from intentmatch.storage.user_cache import user_cache_folder
from intentmatch.text.normalize import TEXT_VERSION

_log = logging.getLogger(__name__)

_CHECKSUM_BYTES = 8
_SECONDS_FOR_A_LOCK = 30.0
# Page size of a new file. SQLite's default of 4096 bytes holds few vectors, or part of one.
_BYTES_OF_A_PAGE = 16384

LOOKUPS: Counter[str] = Counter(hit=0, miss=0)
"""Cache hits and misses of this process, per text, in caches that could be used."""
_counting = threading.Lock()


class VectorCache:
    """Cache of vectors in a folder. `VectorCache(None)` caches nothing. Methods never raise for a broken cache."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @classmethod
    def at(cls, setting: str) -> VectorCache:
        """Return the cache for the setting `cache`: "auto", "off", or a folder. A user without a home has no cache."""
        if setting == "off":
            return cls(None)
        return cls(user_cache_folder() if setting == "auto" else Path(setting))

    def get(self, encoder: Encoder, texts: Sequence[str], kind: Kind = "utterance") -> dict[int, Vectors]:
        """Return the cached vectors of cleaned texts: position in `texts` to vector, float32 of shape `(dim,)`."""
        found: dict[int, Vectors] = {}
        with self._open(encoder) as database:
            if database is None:
                return {}
            dim = encoder.dim
            positions: dict[bytes, list[int]] = {}
            for position, text in enumerate(texts):
                # A text that is there twice is looked up once and fills both places.
                positions.setdefault(row_key(text, kind), []).append(position)
            keys = list(positions)
            for start in range(0, len(keys), CACHE_ROWS):
                batch = keys[start : start + CACHE_ROWS]
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only question marks
                for key, blob in database.execute(query, batch):
                    vector = unpack_row(key, blob, dim)
                    if vector is None:
                        _log.warning("a cached vector of %s is damaged; computing it again", encoder.name)
                        continue
                    found.update(dict.fromkeys(positions[key], vector))
        with _counting:
            LOOKUPS.update(hit=len(found), miss=len(texts) - len(found))
        return found

    def put(self, encoder: Encoder, texts: Sequence[str], vectors: Vectors, kind: Kind = "utterance") -> None:
        """Store the vectors of cleaned texts, shape `(len(texts), dim)`; all of them or none."""
        with self._open(encoder) as database:
            if database is not None:
                keys = [row_key(text, kind) for text in texts]
                rows = [(key, pack_row(key, vector)) for key, vector in zip(keys, vectors, strict=True)]
                with database:
                    database.execute("BEGIN IMMEDIATE")
                    database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self, encoder: Encoder) -> Iterator[sqlite3.Connection | None]:
        """Yield the encoder's database, or None if it cannot be used. An SQLite error in the block is only logged."""
        if self.folder is None:
            yield None
            return
        # The end tells paths of models apart, and file systems allow 255 bytes.
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", encoder.name)[-60:]
        file = self.folder / f"{name}-{encoder.fingerprint}-t{TEXT_VERSION}.sqlite"
        database: sqlite3.Connection | None = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Left to itself, Python begins no transaction where the locale is Turkish: it takes no `I` for an `i`.
            database = sqlite3.connect(file, timeout=_SECONDS_FOR_A_LOCK, isolation_level=None)
            database.execute(f"PRAGMA page_size = {_BYTES_OF_A_PAGE}")
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
        except (OSError, sqlite3.Error) as error:
            self._give_up(file, database, error)
            database = None
        try:
            yield database
        except sqlite3.Error as error:
            self._give_up(file, database, error)
        finally:
            if database is not None:
                database.close()

    def _give_up(self, file: Path, database: sqlite3.Connection | None, error: Exception) -> None:
        if database is not None:
            database.close()
        # OperationalError has outside causes: a lock, a full disk, missing permissions. Other database errors mean that
        # the content is damaged, so start a new file.
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if damaged:
            try:
                file.unlink(missing_ok=True)
                file.with_name(file.name + "-journal").unlink(missing_ok=True)
            except OSError:
                damaged = False
        effect = "was damaged and is created again" if damaged else "cannot be used"
        _log.warning("the vector cache %s %s: %s", file, effect, error if damaged else with_advice(error))


def row_key(text: str, kind: Kind) -> bytes:
    """Return the key of a cleaned text, 16 bytes."""
    return hashlib.blake2b(f"{kind}\0{text}".encode(), digest_size=16).digest()


def pack_row(key: bytes, vector: Vectors) -> bytes:
    """Return a vector of shape `(dim,)` as bytes with a checksum."""
    numbers = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return numbers + _checksum(key, numbers)


def unpack_row(key: bytes, blob: object, dim: int) -> Vectors | None:
    """Return the vector in a row, or None if its length or checksum is wrong."""
    if not isinstance(blob, bytes) or len(blob) != dim * 4 + _CHECKSUM_BYTES:
        return None
    if not blob.endswith(_checksum(key, blob[:-_CHECKSUM_BYTES])):
        return None
    return np.frombuffer(blob, dtype="<f4", count=dim)


def _checksum(key: bytes, numbers: bytes) -> bytes:
    # With the key of the row: the vector of another row is as wrong as a damaged one.
    return hashlib.blake2b(numbers, digest_size=_CHECKSUM_BYTES, key=key).digest()
