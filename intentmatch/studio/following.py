"""Tell pages when the files or the registry in use have changed, by whoever it was."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from nicegui import background_tasks, ui

from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError
from intentmatch.registry.reading.reader import yaml_files
from intentmatch.studio.visit import Visit

SECONDS_BETWEEN_LOOKS = 1.0

_Listener = Callable[[], Awaitable[None] | None]


class _Watcher:
    """Looks at the files of one workspace while a page listens."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._seen: object = None
        self.digest = ""
        self.listeners: set[Callable[[], Awaitable[None]]] = set()

    async def run(self) -> None:
        """Look until nobody listens any more."""
        self._seen = await asyncio.to_thread(self._signature)
        while self.listeners:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            now = await asyncio.to_thread(self._signature)
            if now != self._seen:
                self._seen = now
                for listener in list(self.listeners):
                    await listener()

    def _signature(self) -> object:
        """Names, sizes and times of all files: cheap enough to look at every second."""
        try:
            stats = [(str(file), file.stat()) for file in yaml_files(self._workspace.path)]
        except OSError:
            return None
        return [(name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats]


_watchers: WeakKeyDictionary[Workspace, _Watcher] = WeakKeyDictionary()


def follow(visit: Visit, changed: _Listener, *, registry: bool = False) -> None:
    """Call `changed` in this place of the page whenever the files change, until the page is closed.

    With `registry`, also when the registry in use changes, which comes some time later than the files.
    """
    client, slot = ui.context.client, ui.context.slot
    try:
        workspace = visit.bot.workspace
    except IntentMatchError:
        return  # no files to follow
    watcher = _watchers.get(workspace)
    if watcher is None or not watcher.listeners:
        watcher = _watchers[workspace] = _Watcher(workspace)
        start = True
    else:
        start = False

    async def listener() -> None:
        if client.is_deleted:
            return
        with slot:
            result = changed()
            if inspect.isawaitable(result):
                await result

    watcher.listeners.add(listener)
    client.on_delete(lambda: watcher.listeners.discard(listener))
    if start:
        background_tasks.create(watcher.run(), name="follow the files")
    if registry:
        fingerprint = visit.bot.matcher.fingerprint

        async def look() -> None:
            nonlocal fingerprint
            if visit.bot.matcher.fingerprint != fingerprint:
                fingerprint = visit.bot.matcher.fingerprint
                await listener()

        ui.timer(SECONDS_BETWEEN_LOOKS, look)


def digest(visit: Visit) -> str:
    """Return the digest of the files as they are now; `Workspace.write` expects it."""
    return digest_of(visit.bot.workspace.files())
