"""Watch the files of a registry and reload them when their content changes.

File system events only say when to look. The content decides (`registry.reading.snapshot`), once it has been stable for
a moment: editors write through temporary files and renames, in pieces, or empty the file first.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, Location, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.matching.learner import Learner
from intentmatch.matching.loader import Reloader
from intentmatch.registry.reading.reader import SUFFIXES, folders
from intentmatch.registry.reading.snapshot import EMPTY, Content, Looked, content
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from typing_extensions import Self

_log = logging.getLogger(__name__)

OnReload = Callable[[Registry], None]
OnError = Callable[[Sequence[Problem]], None]

# Seconds between two checks for events and for `stop`.
_STEP = 0.05
# Seconds for which files must be stable before they are read; longer if one is empty or missing, because it is then
# most likely about to be written.
_QUIET = 0.2
_QUIET_WITHOUT = 1.0
# Some file systems send no events (network drives, folders shared with a container), and none is sent when a folder far
# above is replaced: an occasional look without an event costs little.
_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_AT_EXIT = 1.0


class BaseWatch(ABC):
    """Reloads in a thread of its own, which does not keep the process alive, until `stop`. Also a context manager."""

    def __init__(
        self, place: Path | Address, reloader: Reloader, on_reload: OnReload | None, on_error: OnError | None
    ) -> None:
        """`place` is what `reloader` loads, for problems."""
        self._place, self._reloader = place, reloader
        self._on_reload, self._on_error = on_reload, on_error
        self._learner = Learner(self._train)
        self._refused: Content | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="intentmatch-watch", daemon=True)

    def _start(self) -> None:
        self._thread.start()
        atexit.register(self._leave)

    def stop(self) -> None:
        """Stop watching; once this returns nothing is read any more. Doing it twice does no harm."""
        self._stopped.set()
        # A callback of the watch may stop it, and a thread cannot wait for itself.
        if threading.current_thread() is not self._thread:
            self._thread.join()
        atexit.unregister(self._leave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _leave(self) -> None:
        """Stop at the end of the process: a thread inside the watcher would crash the interpreter.

        A thread that is reloading is not waited for: it may take long.
        """
        self._stopped.set()
        self._thread.join(_SECONDS_AT_EXIT)

    @abstractmethod
    def _run(self) -> None:
        """Look for something new until the watch is stopped."""

    @property
    def _last(self) -> Content:
        """The content that was last loaded or refused."""
        return self._reloader.content if self._refused is None else self._refused

    def reload(self) -> Registry:
        """Reload now, with the thresholds in use until new ones are trained; return the registry. Raises as `load`."""
        before = self._reloader.engine.artefact.registry
        registry = self._reloader.reload_provisionally()
        self._refused = None
        # A file that another program has emptied is valid, and its intents no longer answer.
        if gone := [intent.name for intent in before if intent.name not in registry]:
            _log.warning("no longer in the files: %s", ", ".join(gone))
        # In another thread, so that the next edit does not wait for the training of this one.
        self._learner.request()
        return registry

    def _train(self) -> None:
        """Train after a reload; if that fails, log why."""
        try:
            self._reloader.train()
        except Exception as error:  # noqa: BLE001 - the previous thresholds are still usable
            _log.warning(
                "training failed, the thresholds from before the edit stay in use: %s",
                error,
                exc_info=_unexpected(error),
            )

    def _report_reload(self, registry: Registry) -> None:
        """Log that a registry was reloaded, and call the callback if there is one."""
        _log.info("reloaded: %d intents, fingerprint %s", len(registry), registry.fingerprint)
        _call(self._on_reload, registry)

    def _refuse(self, content: Content, error: Exception) -> None:
        """Remember the content of a reload that failed, log why, and call the callback with the problems."""
        self._refused = content
        problems = _problems_of(self._place, error)
        _log.warning(
            "reload failed, the old registry stays active:\n%s", RegistryError(problems), exc_info=_unexpected(error)
        )
        _call(self._on_error, problems)


class Watch(BaseWatch):
    """Reloads whenever the files hold something else. Made by `Matcher.watch`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        reloader: Reloader,
        *,
        on_reload: OnReload | None = None,
        on_error: OnError | None = None,
    ) -> None:
        """Watch the files of `path`, from which `reloader` loads."""
        self._watch = plugins.require("watchfiles", what="Watching files", extra="watch").watch
        self._path = Path(path)
        super().__init__(self._path, reloader, on_reload, on_error)
        self._looked: dict[Path, Looked] = {}
        self._polling = False
        self._next_look = 0.0
        self._ready = threading.Event()
        self._start()
        # A change right after this must be seen: it returns when the watcher has started, or has failed to.
        self._ready.wait()

    def _run(self) -> None:
        try:
            self._keep_looking()
        finally:
            self._ready.set()

    def _keep_looking(self) -> None:
        while not self._stopped.is_set():
            places = _Places.of(self._path, self._content())
            self._next_look = 0.0  # at once: changes before the watcher started sent no event
            try:
                for changes in self._news(places):
                    self._ready.set()
                    if changes or time.monotonic() > self._next_look:
                        self._look()
                        # A running watcher takes no further folders or links, so another one is started.
                        if _Places.of(self._path, self._content()) != places:
                            break
            except FileNotFoundError:  # a folder disappeared meanwhile
                self._stopped.wait(_STEP)
            # Such as the system's limit on watched files, or a file system that sends no events.
            except (OSError, RuntimeError) as error:
                self._ready.set()
                self._warn_polling(error)
                self._look()
                self._stopped.wait(_SECONDS_BETWEEN_LOOKS)

    def _news(self, places: _Places) -> Iterator[set[Any]]:
        """Yield the changes in these places at every step; mostly an empty set."""
        changes: Iterator[set[Any]] = self._watch(
            *places.folders,
            watch_filter=lambda _, path: places.matters(path),
            step=int(_STEP * 1000),
            debounce=int(_QUIET * 1000),
            rust_timeout=int(_STEP * 1000),
            yield_on_timeout=True,
            stop_event=self._stopped,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        )
        return changes

    def _look(self) -> None:
        """Reload if the content differs from what was last loaded or refused."""
        now = self._settled()
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if now is None or now == self._last:
            return
        try:
            registry = self.reload()
        except Exception as error:  # noqa: BLE001 - whatever failed, the old registry and this thread go on
            self._refuse(now, error)
            return
        self._report_reload(registry)

    def _settled(self) -> Content | None:
        """Return the content once it is stable or not new; None if the watch is stopped."""
        now, since = self._content(), time.monotonic()
        while now != (last := self._last):
            without = any(now.get(file, EMPTY) == EMPTY != last.get(file) for file in {*last, *now})
            if time.monotonic() - since >= (_QUIET_WITHOUT if without else _QUIET):
                break
            if self._stopped.wait(_STEP):
                return None
            if (again := self._content()) != now:
                now, since = again, time.monotonic()
        return now

    def _content(self) -> Content:
        """Return the content; only files whose status has changed are read again."""
        return content(self._path, self._looked)

    def _warn_polling(self, error: Exception) -> None:
        if not self._polling:
            self._polling = True
            _log.warning("no file system events; checking for changes every %g s: %s", _SECONDS_BETWEEN_LOOKS, error)


@dataclass(frozen=True)
class _Places:
    """Folders and names whose changes may change what is read."""

    folders: Mapping[str, tuple[int, int]]
    """Folders to watch, each with device and inode: a folder that replaces another is a different place."""
    names: frozenset[str]
    """Names of the path, its folders, its files, and every link on the way to one of these."""

    @classmethod
    def of(cls, path: Path, files: Content) -> _Places:
        """Return the places of the `files` that are read of a path."""
        steps: set[Path] = set()
        for one in (path, *map(Path, files)):
            _follow(one.absolute(), steps)
        inside = [folder.absolute() for folder in folders(path)]
        found: dict[str, tuple[int, int]] = {}
        for folder in (*(step.parent for step in steps), *inside):
            with suppress(OSError):
                state = folder.stat()
                found[str(folder)] = (state.st_dev, state.st_ino)
        return cls(found, frozenset(one.name for one in (*steps, *inside)))

    def matters(self, changed: str) -> bool:
        """Whether a change at a path matters; logs and databases may stand beside the YAML."""
        path = Path(changed)
        return path.suffix.lower() in SUFFIXES or path.name in self.names or path.is_dir()


def _follow(path: Path, steps: set[Path]) -> None:
    """Add a path and every link that leads to it to `steps`."""
    if path in steps:
        return
    steps.add(path)
    for part in (path, *path.parents):
        with suppress(OSError):
            if part.is_symlink():
                steps.add(part)
                _follow(part.parent.resolve() / part.readlink(), steps)


def _problems_of(path: Path | Address, error: Exception) -> tuple[Problem, ...]:
    """Return why a reload failed, each problem with its place."""
    if isinstance(error, RegistryError):
        return error.problems
    message = "unexpected error, see the log" if _unexpected(error) else str(error)
    return (Problem(Location(str(path)), "error", "reload", message),)


def _unexpected(error: Exception) -> Exception | None:
    """Return the error if it deserves a traceback, otherwise None."""
    return None if isinstance(error, IntentMatchError) else error


def _call(callback: Callable[[Any], None] | None, value: Any) -> None:
    """Call a callback if there is one, and log what it raises."""
    try:
        if callback is not None:
            callback(value)
    except Exception:  # noqa: BLE001 - a failing callback is no reason to stop watching
        _log.exception("a callback of the watch failed")
