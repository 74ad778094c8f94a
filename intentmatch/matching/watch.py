"""Notices that the files of a registry hold something else, and has them read again.

The file system only says when to look. What decides is what the files hold (`registry.content`), once it has held still
for a moment: editors write in many ways, through temporary files and renames, in pieces, or emptying the file first.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, Location, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.matching.loader import Reloader
from intentmatch.registry.reading.reader import SUFFIXES, folders
from intentmatch.registry.reading.snapshot import EMPTY, Content, content

_log = logging.getLogger(__name__)

OnReload = Callable[[Registry], None]
OnError = Callable[[Sequence[Problem]], None]

# How often the thread sees whether there is news, and whether it is to stop.
_STEP = 0.05
# Files are read once they have held still for so long; and for so long where one has become empty or is gone, because
# then it is most likely about to be written.
_QUIET = 0.2
_QUIET_WITHOUT = 1.0
# Some file systems tell nothing (network drives, folders shared with a container), and nobody tells of a folder far
# above that is exchanged: a look now and then without being told costs little.
_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_AT_EXIT = 1.0


class Watch:
    """Reloads whenever the files hold something else, until `stop`. Also a context manager.

    Works in a thread of its own, which does not keep the process alive. Made by `Matcher.watch`.
    """

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
        self._reloader = reloader
        self._on_reload, self._on_error = on_reload, on_error
        self._refused: Content | None = None
        self._blind = False
        self._next_look = 0.0
        self._stopped, self._ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="intentmatch-watch", daemon=True)
        self._thread.start()
        atexit.register(self._leave)
        self._ready.wait()

    def stop(self) -> None:
        """Stop watching; once this returns no file is read any more. Doing it twice does no harm."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        atexit.unregister(self._leave)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _leave(self) -> None:
        """At the end of the process: a thread that is inside the watcher then would take the interpreter down.

        One that is reloading may be left where it is, and would take long to wait for.
        """
        self._stopped.set()
        self._thread.join(_SECONDS_AT_EXIT)

    def _run(self) -> None:
        try:
            self._keep_looking()
        finally:
            self._ready.set()

    def _keep_looking(self) -> None:
        while not self._stopped.is_set():
            places = _Places.from_path(self._path)
            self._next_look = 0.0  # at once: until the watcher was there, nobody saw anything
            try:
                for changes in self._news(places):
                    self._ready.set()
                    if changes or time.monotonic() > self._next_look:
                        self._look()
                        if _Places.from_path(self._path) != places:
                            break
            except FileNotFoundError:  # a folder went while it was being found
                self._stopped.wait(_STEP)
            except (OSError, RuntimeError) as error:
                self._ready.set()
                self._tell_blind(error)
                self._look()
                self._stopped.wait(_SECONDS_BETWEEN_LOOKS)

    def _news(self, places: _Places) -> Iterator[set[Any]]:
        """Every moment, what has changed in these places: mostly nothing."""
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
        """Reload if the files hold something else than when they were last loaded, or refused."""
        now = self._settled()
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if now is None or now == self._last:
            return
        try:
            registry = self._reloader.reload_provisionally()
        except Exception as error:  # noqa: BLE001 - whatever it is, the old intents go on, and the thread with them
            self._refused = now
            problems = _problems(self._path, error)
            said = "\n".join(map(str, problems))
            _log.warning("reload failed, the old intents go on answering:\n%s", said, exc_info=_unexpected(error))
            _call(self._on_error, problems)
            return
        self._refused = None
        _log.info("reloaded: %d intents, fingerprint %s", len(registry), registry.fingerprint)
        _call(self._on_reload, registry)
        # Beside it, so that the next edit does not wait for what this one teaches.
        threading.Thread(target=self._make_good, name="intentmatch-learn", daemon=True).start()

    def _make_good(self) -> None:
        try:
            self._reloader.train()
        except Exception as error:  # noqa: BLE001 - what was learned before is of use too
            _log.warning("the thresholds from before the edit stay: %s", error, exc_info=_unexpected(error))

    @property
    def _last(self) -> Content:
        """What the files held when they were last loaded, by whomever, or refused."""
        return self._reloader.content if self._refused is None else self._refused

    def _settled(self) -> Content | None:
        """What the files hold, once that is nothing new or has held still; None if we are to stop."""
        now, since = content(self._path), time.monotonic()
        while now != (last := self._last):
            without = any(held != EMPTY and now.get(file, EMPTY) == EMPTY for file, held in last.items())
            if time.monotonic() - since >= (_QUIET_WITHOUT if without else _QUIET):
                break
            if self._stopped.wait(_STEP):
                return None
            if (again := content(self._path)) != now:
                now, since = again, time.monotonic()
        return now

    def _tell_blind(self, error: Exception) -> None:
        if not self._blind:
            self._blind = True
            _log.warning("changes are looked for every %g s only: %s", _SECONDS_BETWEEN_LOOKS, error)


@dataclass(frozen=True)
class _Places:
    """Where a change may change what is read."""

    folders: Mapping[str, tuple[int, int]]
    """Those to watch, each with its identity: another folder in the place of one is another place."""
    names: frozenset[str]
    """Of the path itself, its folders, its files, and every link on the way to one of these."""

    @classmethod
    def from_path(cls, path: Path) -> _Places:
        steps: set[Path] = set()
        for one in (path, *map(Path, content(path))):
            _follow(one.absolute(), steps)
        inside = [folder.absolute() for folder in folders(path)]
        found: dict[str, tuple[int, int]] = {}
        for folder in (*(step.parent for step in steps), *inside):
            with suppress(OSError):
                state = folder.stat()
                found[str(folder)] = (state.st_dev, state.st_ino)
        return cls(found, frozenset(one.name for one in (*steps, *inside)))

    def matters(self, changed: str) -> bool:
        """Whether a change at a path is one to look into; logs and databases may well stand beside the YAML."""
        path = Path(changed)
        return path.suffix.lower() in SUFFIXES or path.name in self.names or path.is_dir()


def _follow(path: Path, steps: set[Path]) -> None:
    """Note a path, and every link that leads to where it is."""
    if path in steps:
        return
    steps.add(path)
    for part in (path, *path.parents):
        with suppress(OSError):
            if part.is_symlink():
                steps.add(part)
                _follow(part.parent.resolve() / part.readlink(), steps)


def _problems(path: Path, error: Exception) -> tuple[Problem, ...]:
    """Why a reload failed, each thing at its place."""
    if isinstance(error, RegistryError):
        return error.problems
    message = "it failed unexpectedly, see the log" if _unexpected(error) else str(error)
    return (Problem(Location(str(path)), "error", "reload", message),)


def _unexpected(error: Exception) -> Exception | None:
    """An error that is worth its traceback."""
    return None if isinstance(error, IntentMatchError) else error


def _call(callback: Callable[[Any], None] | None, value: Any) -> None:
    try:
        if callback is not None:
            callback(value)
    except Exception:  # noqa: BLE001 - somebody else's mistake, which is no reason to stop watching
        _log.exception("what was to be told of a reload failed")
