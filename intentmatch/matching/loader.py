"""Load a registry for a matcher, and load it again when its files change."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.build import build, known_vectors, training_data, uncovered
from intentmatch.artefact.store import load_artefact
from intentmatch.core.errors import ArtefactError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder, Registry, Reranker
from intentmatch.encoders import encoder_key, load_encoder
from intentmatch.encoders.encode import Progress
from intentmatch.learning.subsampling import subsampling_problems
from intentmatch.learning.training import PreviousTraining
from intentmatch.learning.training_cache import load_or_train
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.reranker import load_reranker, reranker_key
from intentmatch.registry import is_yaml, read_registry
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.reading.reader import Remembered
from intentmatch.registry.reading.snapshot import Content, Looked, content, steadily
from intentmatch.runtime import steps
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.vector_cache import VectorCache

if TYPE_CHECKING:
    from intentmatch.matching.replica import Replica

_log = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """What a source gives."""

    engine: Engine
    content: Content
    """Digests of what was read."""
    provisional: bool = False
    """Whether the calibration is still that of the engine before."""


@dataclass(frozen=True)
class RegistrySource:
    """Where a matcher's registry comes from, with explicit settings and models."""

    path: str | os.PathLike[str] | Registry | Address
    """A path, a bot in PostgreSQL, or a registry made in code."""
    explicit: Mapping[str, Any]
    encoder: Encoder | None = None
    reranker: Reranker | None = None
    load_encoder: Callable[[Settings], Encoder] = load_encoder
    load_reranker: Callable[[Settings], Reranker | None] = load_reranker
    check: Callable[[Settings], object] | None = None
    """Raises an `InputError` for settings that the user of the matcher, such as a server, cannot serve."""
    remembered: Remembered = field(default_factory=dict)
    """Parsed files by path, so that a reload reads only what changed."""

    def engine(self, old: Engine | None, progress: Progress | None = None, *, provisional: bool = False) -> Loaded:
        """Read, build and self-test; return the engine and the content of the files.

        Models and vectors of the `old` engine are reused. With `provisional` its calibration is reused too, if training
        would use the same encoder and the same settings. Uncovered languages and registries too large for a head are
        logged. Raises what `Matcher.load` raises.
        """
        steps.report("reading the intents")
        found, content = self._read()
        steps.report("loading the encoder")
        if isinstance(found, Registry):
            settings = resolve(self.explicit, registry=found.settings, locations=found.setting_locations)
            encoder = self._encoder(settings, old)
            before = previous_training(old.artefact) if old and _trains_alike(old, encoder, settings) else None

            def make() -> tuple[Artefact, bool]:
                made = build(
                    found,
                    encoder,
                    settings,
                    cache=self.cache(settings),
                    progress=progress,
                    provisional=before if provisional else None,
                    known=known_vectors(old.artefact) if old and _gives_vectors(old, encoder, settings) else None,
                    # Readers have checked the rules already; nobody has for a registry made in code.
                    checked=not isinstance(self.path, Registry),
                )
                # The cache may hold the training of this very registry: then nothing is provisional.
                return made, provisional and before is not None and made.calibration is before.calibration

            if self.replica is None:
                artefact, unfinished = make()
            else:
                key = self.replica.key(content, settings, encoder)
                artefact, unfinished = self.replica.built(key, make, provisional=provisional)
                # With settings of this process that no build depends on, such as the number of threads.
                artefact = replace(artefact, registry=found, settings=settings)
        else:
            settings = resolve(self.explicit, base=found.settings)
            encoder = self._encoder(settings, old)
            artefact, unfinished = _with_settings(found, settings, encoder), False
        if self.check is not None:
            self.check(settings)
        engine = Engine(artefact, encoder, self._reranker(settings, old), self.database)
        # Before the engine is in use, or its first user would find the broken encoder.
        engine.self_test()
        for problem in (*uncovered(artefact.registry, encoder), *subsampling_problems(artefact.registry, settings)):
            _log.log(logging.INFO if problem.severity == "info" else logging.WARNING, "%s", problem)
        return Loaded(engine, content, unfinished)

    def _read(self) -> tuple[Registry | Artefact, Content]:
        path = self.path
        if isinstance(path, Registry):
            return path, {}
        # Without the settings of the YAML: its author must not lift limits that the operator has set.
        by_operator = resolve(self.explicit)
        shared, required = self.replica, by_operator.require_signature
        public_key = None if required == "off" else required
        if public_key is not None and (isinstance(path, Address) or is_yaml(path)):
            raise ArtefactError(f"{path} is not a signed artefact, which the setting `require_signature` asks for")
        if shared is not None:
            return shared.read(by_operator, self.remembered)
        assert not isinstance(path, Address)  # noqa: S101 - an address has a replica
        read: Callable[[], Registry | Artefact] = (
            partial(
                read_registry,
                path,
                remembered=self.remembered,
                limits=ReadLimits.from_settings(path, by_operator),
            )
            if is_yaml(path)
            else partial(load_artefact, path, public_key=public_key)
        )
        return steadily(path, read)

    @property
    def database(self) -> Address | None:
        """Where the bot is in PostgreSQL; None for other sources."""
        return self.path if isinstance(self.path, Address) else None

    @cached_property
    def replica(self) -> Replica | None:
        """The bot in PostgreSQL; None for other sources."""
        if not isinstance(self.path, Address):
            return None
        from intentmatch.matching.replica import Replica  # needs psycopg

        return Replica(self.path)

    def cache(self, settings: Settings) -> VectorCache:
        """Return the cache of vectors."""
        return VectorCache.at(settings.cache) if self.replica is None else self.replica.cache(settings)

    def trained(self, loaded: Engine, content: Content) -> Artefact:
        """Return the artefact of an engine with head and calibrations of its own; replicas share them."""
        artefact, settings = loaded.artefact, loaded.settings
        make = partial(trained_again, artefact, loaded.encoder, self.cache(settings))
        if self.replica is None:
            return make()
        trained = self.replica.trained(self.replica.key(content, settings, loaded.encoder), make)
        return replace(trained, registry=artefact.registry, settings=settings)

    def _encoder(self, settings: Settings, old: Engine | None) -> Encoder:
        if self.encoder is not None:
            return self.encoder
        same = old is not None and encoder_key(old.settings) == encoder_key(settings)
        return old.encoder if old is not None and same else self.load_encoder(settings)

    def _reranker(self, settings: Settings, old: Engine | None) -> Reranker | None:
        if self.reranker is not None:
            return self.reranker
        same = old is not None and reranker_key(old.settings) == reranker_key(settings)
        return old.reranker if old is not None and same else self.load_reranker(settings)


def _with_settings(artefact: Artefact, settings: Settings, encoder: Encoder) -> Artefact:
    """Return the artefact under other settings, trained again if these change what is trained."""
    kept = replace(artefact, settings=settings, vectors=artefact.vectors.astype(settings.vectors, copy=False))
    return kept if _same_training(settings, artefact.settings) else trained_again(kept, encoder)


def previous_training(artefact: Artefact) -> PreviousTraining:
    """Return what training after an edit may start from."""
    return PreviousTraining(artefact.calibration, artefact.trained_head, artefact.foreign, artefact.registry)


def trained_again(artefact: Artefact, encoder: Encoder, cache: VectorCache | None = None) -> Artefact:
    """Return the artefact with head and calibrations trained again from its own vectors and settings.

    `encoder` is the one that made the vectors. Without a `cache`, that of the settings is used.
    """
    registry, settings = artefact.registry, artefact.settings
    cache = cache or VectorCache.at(settings.cache)
    vectors, labels = artefact.wide_vectors, artefact.label_vectors
    data = training_data(registry, vectors, labels, settings, encoder=encoder, cache=cache)
    return replace(artefact, **load_or_train(data, cache.folder)._asdict())


def _gives_vectors(old: Engine, encoder: Encoder, settings: Settings) -> bool:
    """Whether a build would make the vectors of the old engine: not if they are rounded and the build's are not."""
    return old.encoder is encoder and old.settings.vectors in ("float32", settings.vectors)


def _trains_alike(old: Engine, encoder: Encoder, settings: Settings) -> bool:
    return old.encoder is encoder and _same_training(settings, old.settings)


def _same_training(settings: Settings, other: Settings) -> bool:
    names = ("aggregation", "scorer", "target", "out_of_scope_share")
    return all(getattr(settings, name) == getattr(other, name) for name in names)


class _SupersededError(Exception):
    """Another registry was loaded than the one that is being trained."""


class Reloader:
    """Holds the engine in use and replaces it when the files change. Safe to use from many threads.

    Reloading and training each have a lock: answers read `engine` without one, and a slow training does not hold up
    the next reload.
    """

    def __init__(self, source: RegistrySource, loaded: Loaded) -> None:
        """`loaded` is what the source has given."""
        self.source = source
        self.engine, self.content, self.provisional = loaded
        """The engine in use, the digests of what it was read from, and whether its calibration is still that from
        before an edit while its own is being trained."""
        self._reloading, self._training = threading.Lock(), threading.Lock()
        self._looked: dict[Path, Looked] = {}

    def require(self, check: Callable[[Settings], object]) -> None:
        """Accept only settings that pass a check, from now on. Raises what it raises for those in use."""
        check(self.engine.settings)
        self.source = replace(self.source, check=check)

    def copy(self) -> Reloader:
        """Return another one with the same engine and files, which reloads by itself."""
        # A dictionary of its own: each reloader writes to its own under its own lock.
        source = replace(self.source, remembered=dict(self.source.remembered))
        with self._reloading:
            return Reloader(source, Loaded(self.engine, self.content, self.provisional))

    def trial(self, registry: Registry | str | os.PathLike[str]) -> Reloader:
        """Return another one of this registry or path, built with the models and vectors of the engine in use."""
        source = replace(self.source, path=registry, remembered={})
        return Reloader(source, source.engine(self.engine))

    def is_current(self) -> bool:
        """Whether the files hold what is in use; true for sources without files."""
        path, used = self.source.path, self.content
        return isinstance(path, Registry | Address) or content(path, self._looked) == used

    def reload(self, progress: Progress | None = None) -> None:
        """Read, build and train anew. Raises what loading raises; the engine in use then stays."""
        with self._reloading:
            self.engine, self.content, self.provisional = self.source.engine(self.engine, progress)

    def reload_provisionally(self) -> Registry:
        """Read and build anew, with the old calibration where that will do, and return the new registry.

        This takes a fraction of the time of `reload`; `train` completes it.
        """
        with self._reloading:
            self.engine, self.content, self.provisional = self.source.engine(self.engine, provisional=True)
            return self.engine.artefact.registry

    def train(self) -> None:
        """Replace a provisional calibration by a trained one.

        If another registry is loaded meanwhile, training stops at its next step and changes nothing. What it raises
        leaves the calibration from before the edit in use.
        """
        with self._training:
            with self._reloading:
                # Under the lock, so that a reload cannot come between engine and content.
                engine, content, provisional = self.engine, self.content, self.provisional
            if not provisional:
                return

            def check(_step: steps.Step) -> None:
                if self.engine is not engine:
                    raise _SupersededError

            try:
                with steps.listening(check):
                    artefact = self.source.trained(engine, content)
                    trained = Engine(artefact, engine.encoder, engine.reranker, self.source.database)
                    trained.self_test()
            except _SupersededError:
                return
            except Exception:
                with self._reloading:
                    # Nothing trains this engine again: `provisional` would announce a training that never comes.
                    self.provisional = self.provisional and self.engine is not engine
                raise
            with self._reloading:
                if self.engine is engine:
                    self.engine, self.provisional = trained, False
