"""The public matcher: load a registry, match messages against it, reload it while matching goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry, Reranker
from intentmatch.encoders.encode import Progress
from intentmatch.matching.loader import RegistrySource, Reloader
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import BaseMatcher
from intentmatch.storage.postgres.address import Address, address_of, is_address

if TYPE_CHECKING:
    from intentmatch.matching.database_watch import DatabaseWatch
    from intentmatch.matching.watch import OnError, OnReload, Watch


class Matcher(BaseMatcher):
    """Holds one built registry and matches messages against it. Safe to use from many threads.

    Make one with `Matcher.load`. `reload` swaps the registry while matching goes on; every match sees one registry,
    the old or the new, whole.
    """

    def __init__(self, source: RegistrySource, *, progress: Progress | None = None) -> None:
        self._reloader = Reloader(source, source.engine(None, progress))

    @property
    def _engine(self) -> Engine:  # type: ignore[override]
        return self._reloader.engine

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | Registry | Address = "intents",
        *,
        encoder: Encoder | str | None = None,
        reranker: Reranker | str | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Matcher:
        """Load a matcher from a folder or file of YAML, an artefact, a bot in PostgreSQL, or a `Registry` of code.

        A bot in PostgreSQL has an address, `postgres://USER@HOST/DATABASE/BOT`, and takes the extra `postgres`.

        `settings` are those of `Settings` and win over the environment and the YAML; `encoder` and `reranker` may also
        be ready-made objects. `progress` is called while texts are encoded.

        Raises `RegistryError` with every problem of the YAML, `ArtefactError`, `SettingsError`, `DatabaseError`, or an
        `UnavailableError` that says what to install or download.
        """
        check_argument("path", path, str | os.PathLike[str] | Registry | Address)
        check_argument("encoder", encoder, Encoder | str | None)
        check_argument("reranker", reranker, Reranker | str | None)
        check_argument("progress", progress, Callable | None)
        if encoder is not None:
            settings["encoder"] = encoder if isinstance(encoder, str) else encoder.name
        if reranker is not None:
            settings["reranker"] = reranker if isinstance(reranker, str) else reranker.name
        ready_encoder = None if isinstance(encoder, str) else encoder
        ready_reranker = None if isinstance(reranker, str) else reranker
        # Not kept as text: it may hold a password, and an address shows none.
        source = address_of(path) if is_address(path) else path
        return cls(RegistrySource(source, settings, ready_encoder, ready_reranker), progress=progress)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path and the settings: the copy in another process loads the files as they are then.

        Raises `PicklingError` for a matcher with a ready-made encoder or reranker, which may hold anything.
        """
        source = self._reloader.source
        if source.encoder is not None or source.reranker is not None:
            raise PicklingError(
                "a matcher with a ready-made encoder or reranker cannot be pickled: name them as text, such as "
                "encoder='onnx:FOLDER', or call Matcher.load in each process, as in the `initializer` of a pool"
            )
        path = source.path
        if not isinstance(path, Registry | Address):
            # The other process may have another current folder.
            path = str(Path(path).resolve())
        return _load, (path, dict(source.explicit))

    def __deepcopy__(self, memo: dict[int, Any]) -> Matcher:
        """Return a matcher of its own that reloads by itself; both share the registry in use, which never changes."""
        return self.__copy__()

    def __copy__(self) -> Matcher:
        copied = Matcher.__new__(Matcher)
        copied._reloader = self._reloader.copy()
        return copied

    @property
    def path(self) -> Path | None:
        """The files or the artefact that `reload` reads; None for a bot in PostgreSQL and a registry made in code.

        Added in 0.3.0.
        """
        path = self._reloader.source.path
        return None if isinstance(path, Registry | Address) else Path(path)

    @property
    def address(self) -> Address | None:
        """The bot in PostgreSQL that `reload` reads; None for other sources. Added in 0.3.0."""
        return self._reloader.source.database

    @property
    def explicit_settings(self) -> dict[str, Any]:
        """The settings that `load` was given, which win over the environment and the YAML. Added in 0.3.0."""
        return dict(self._reloader.source.explicit)

    @property
    def is_training(self) -> bool:
        """Whether the thresholds in use are from before an edit, and those of the registry are being trained.

        Added in 0.3.0.
        """
        return self._reloader.provisional

    def is_current(self) -> bool:
        """Return whether the files hold what is in use; true for a registry that has no files of its own.

        Later calls read a file again only if its status has changed, such as size or date.

        Added in 0.3.0.
        """
        return self._reloader.is_current()

    def require(self, check: Callable[[Settings], object]) -> None:
        """Load only settings that pass a check, which raises an `InputError` for others.

        Raises what the check raises for the settings in use.

        Added in 0.3.0.
        """
        self._reloader.require(check)

    def trial(self, registry: Registry | str | os.PathLike[str]) -> Matcher:
        """Return a matcher of another registry with the same models and explicit settings.

        For a registry that is not written yet, such as that of an edit, or for files or an artefact elsewhere: vectors
        of unchanged texts are reused. Raises what `Matcher.load` raises.

        Added in 0.3.0.
        """
        check_argument("registry", registry, str | os.PathLike[str] | Registry)
        tried = Matcher.__new__(Matcher)
        tried._reloader = self._reloader.trial(registry)
        return tried

    def reload(self, *, progress: Progress | None = None) -> None:
        """Read the files again and swap the registry in one step.

        If anything is wrong with the files, this raises what `load` would, and the old registry stays active.
        """
        self._reloader.reload(progress)

    def watch(self, *, on_reload: OnReload | None = None, on_error: OnError | None = None) -> Watch | DatabaseWatch:
        """Reload whenever there is something new, until `stop()` of what this returns, a context manager too.

        New are changed files, or a revision of a bot in PostgreSQL. `on_reload` is called with the new registry,
        `on_error` with every problem of files that cannot be used, while the old registry stays active. Both run in the
        watching thread, which does not keep the process alive. A new registry uses the old thresholds until its own are
        trained, which takes longer than all the rest; a large one with the same intents also uses the old head.

        Raises `InputError` for a registry that was made in code, and `MissingExtraError` without `watchfiles`.
        """
        path = self._reloader.source.path
        if (replica := self._reloader.source.replica) is not None:
            from intentmatch.matching.database_watch import DatabaseWatch

            return DatabaseWatch(replica, self._reloader, on_reload=on_reload, on_error=on_error)
        from intentmatch.matching.watch import Watch  # needed by few programs

        if isinstance(path, Registry):
            raise InputError("a registry that was made in code has no files to watch")
        assert not isinstance(path, Address)  # noqa: S101 - an address has a replica
        return Watch(path, self._reloader, on_reload=on_reload, on_error=on_error)


def _load(path: str | Registry | Address, settings: Mapping[str, Any]) -> Matcher:
    return Matcher.load(path, **settings)
