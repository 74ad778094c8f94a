"""One of several processes that serve the same bot from PostgreSQL: it reads the files, and shares what is built.

A replica keeps everything in memory that answers need. Where the database is away, it builds for itself.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.store import FORMAT, artefact_bytes, artefact_from_bytes
from intentmatch.core.errors import ArtefactError, DatabaseError, RegistryError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry
from intentmatch.learning.token_features import VERSION as TOKEN_FEATURES_VERSION
from intentmatch.learning.training_cache import TRAINING_VERSION
from intentmatch.registry import examine
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.reading.reader import Remembered
from intentmatch.registry.reading.snapshot import Content
from intentmatch.storage.contents import Files
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.builds import MOST_BYTES, BuildStore, StoredBuild
from intentmatch.storage.postgres.database import Connection, Database
from intentmatch.storage.postgres.notices import Notices, Subscription
from intentmatch.storage.postgres.registries import RegistryStore
from intentmatch.storage.postgres.shared_vectors import SharedVectors
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import TEXT_VERSION

_log = logging.getLogger(__name__)

# Looking up a vector of these encoders takes as long as computing it.
_FAST_ENCODERS = ("static",)

Made = tuple[Artefact, bool]
"""An artefact, and whether its calibration is provisional."""


class Replica:
    """The bot of an address, for a `RegistrySource`."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._database = Database(address)
        self._store = RegistryStore(self._database)
        self._builds = BuildStore(self._database)

    def newest(self) -> Content:
        """Return the digest of the newest revision. Raises `DatabaseError`, or `UnknownNameError` without any."""
        return {str(self.address): self._store.newest().digest}

    def read(self, explicit: Settings, remembered: Remembered) -> tuple[Registry, Content]:
        """Read the newest revision. Raises `RegistryError`, `DatabaseError`, or `UnknownNameError` without any."""
        revision, files = self._store.read()
        root, limits = Path(self.address.bot), ReadLimits.from_settings(self.address, explicit)
        registry, problems = examine(root, remembered=remembered, limits=limits, held=held(root, files))
        if any(problem.severity == "error" for problem in problems):
            raise RegistryError(problems)
        return registry, {str(self.address): revision.digest}

    def cache(self, settings: Settings) -> VectorCache:
        """Return the cache of vectors on disk, with the database behind it if encoding takes longer than a look-up."""
        cache = VectorCache.at(settings.cache)
        if settings.cache == "off" or settings.encoder.partition(":")[0] in _FAST_ENCODERS:
            return cache
        return SharedVectors(cache.folder, self._database)

    def key(self, content: Content, settings: Settings, encoder: Encoder) -> str:
        """Return a digest of everything that determines a build."""
        # Replicas of two releases share a database while one follows the other.
        versions = [FORMAT, TEXT_VERSION, TOKEN_FEATURES_VERSION, TRAINING_VERSION]
        parts = [sorted(content.values()), settings.to_dict(), encoder.name, encoder.fingerprint, versions]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def built(self, key: str, make: Callable[[], Made], *, provisional: bool) -> Made:
        """Return the artefact that another replica has built, or build it while the others wait.

        Unless it may be `provisional`, one with the calibration from before does not count. Raises what `make` raises;
        while the database is away, nothing is shared.
        """
        made: Made | None = None
        try:
            # First without the lock, which a replica that is building holds for long; then in it, as that one may have
            # finished meanwhile.
            if found := _usable(self._builds.get(key), provisional=provisional):
                return found
            with self._builds.making(key) as connection:
                if found := _usable(self._builds.get_in(connection, key), provisional=provisional):
                    return found
                made = make()
                self._share(connection, key, made)
        except DatabaseError as error:
            _log.warning("the build is not shared: %s", error)
        # A connection that is lost after the build costs the sharing, not the build.
        return make() if made is None else made

    def trained(self, key: str, make: Callable[[], Artefact]) -> Artefact:
        """Return the artefact that another replica has trained, or train it while the others wait."""
        return self.built(key, lambda: (make(), False), provisional=False)[0]

    def subscribe(self) -> Subscription:
        """Return the news of the bot."""
        return Notices.subscribe(self.address, self.address.bot)

    def _share(self, connection: Connection, key: str, made: Made) -> None:
        content = artefact_bytes(made[0])
        if len(content) > MOST_BYTES:
            _log.warning("the build of %d MB is too large to be shared", len(content) // 1_000_000)
            return
        self._builds.put_in(connection, key, StoredBuild(content, made[1]))


def held(root: Path, files: Files) -> dict[Path, bytes]:
    """Return files by their paths below `root`."""
    return {root / name: content for name, content in files.items()}


def _usable(build: StoredBuild | None, *, provisional: bool) -> Made | None:
    if build is None or (build.provisional and not provisional):
        return None
    try:
        return artefact_from_bytes(build.content), build.provisional
    except ArtefactError as error:
        _log.warning("a build in the database cannot be used, and is made again: %s", error)
        return None
