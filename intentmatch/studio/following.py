"""Tell pages when the files or the registry in use have changed, by whoever it was, and prepare what they show."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from nicegui import background_tasks, ui

from intentmatch.artefact.artefact import Artefact
from intentmatch.authoring.insights import prepare
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError
from intentmatch.studio.host import Bot
from intentmatch.studio.visit import Visit

SECONDS_BETWEEN_LOOKS = 1.0

_Listener = Callable[[], Awaitable[None] | None]
_log = logging.getLogger(__name__)


class _Watcher:
    """Looks at the files and the registry of one bot while a page listens."""

    def __init__(self, bot: Bot) -> None:
        self._bot, self._workspace = bot, bot.workspace
        self._prepared: tuple[str, Artefact] | None = None
        self.listeners: dict[Callable[[], Awaitable[None]], str | None] = {}
        """What to call, each with the digest of the files that its page shows."""

    async def run(self) -> None:
        """Look until nobody listens any more."""
        while self.listeners:
            digest = await asyncio.to_thread(self._digest)
            # A copy, since pages come and go while one is drawn.
            for listener, shown in list(self.listeners.items()):
                # The listener may have gone while another one was drawn.
                if digest is not None and digest != shown and listener in self.listeners:
                    # Before it is called: one that fails is not called again for the same files.
                    self.listeners[listener] = digest
                    try:
                        await listener()
                    except IntentMatchError as error:
                        _log.warning("a page of the studio could not be brought up to date: %s", error)
                    except Exception:  # noqa: BLE001  no page ends this for the others
                        _log.exception("a page of the studio could not be brought up to date")
            # What is drawn now comes before what may be wanted later.
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if digest is not None:
                await asyncio.to_thread(self._prepare, digest)
        if _watchers.get(self._workspace) is self:
            del _watchers[self._workspace]  # it would keep the workspace

    def _digest(self) -> str | None:
        try:
            return self._workspace.digest()
        except IntentMatchError:
            return None  # in the middle of somebody's change: the next look tells

    def _prepare(self, digest: str) -> None:
        """Have insights worked out if the files or the registry in use are new."""
        try:
            now = digest, self._bot.matcher.artefact
            if self._prepared is None or self._prepared[0] != digest or self._prepared[1] is not now[1]:
                self._prepared = now
                prepare(self._bot.matcher, self._workspace)
        except IntentMatchError:
            return  # whoever opens the screen is told


_watchers: WeakKeyDictionary[Workspace, _Watcher] = WeakKeyDictionary()


def follow(visit: Visit, changed: _Listener, *, registry: bool = False) -> None:
    """Call `changed` in this place of the page whenever the files change, until the page is closed.

    A change since the page was begun counts (`Visit.digest`). With `registry`, `changed` is also called when the
    registry in use changes, which comes some time later than the files.
    """
    client, slot = ui.context.client, ui.context.slot
    if client.is_deleted:
        return  # closed while the page was being drawn: nothing would ever end this
    try:
        workspace = visit.bot.workspace
    except IntentMatchError:
        return  # no files to follow
    listeners = _listeners(workspace, visit.bot)

    async def listener() -> None:
        if client.is_deleted:
            return
        try:
            with slot:
                result = changed()
                if inspect.isawaitable(result):
                    await result
        except (Exception, asyncio.CancelledError):
            # It may have been closed while it was drawn; what `in_thread` ends then is this page, not the others.
            if not client.is_deleted:
                raise

    listeners[listener] = visit.digest
    client.on_delete(lambda: listeners.pop(listener, None))
    if registry:
        _follow_registry(visit, listener)


def _listeners(workspace: Workspace, bot: Bot) -> dict[Callable[[], Awaitable[None]], str | None]:
    """Return the listeners of a watcher that runs, or that runs once there is a listener."""
    watcher = _watchers.get(workspace)
    # One without listeners is about to end.
    if watcher is None or not watcher.listeners:
        watcher = _watchers[workspace] = _Watcher(bot)
        background_tasks.create(watcher.run(), name="follow the files")
    return watcher.listeners


def _follow_registry(visit: Visit, listener: Callable[[], Awaitable[None]]) -> None:
    fingerprint = visit.bot.matcher.fingerprint

    async def look() -> None:
        nonlocal fingerprint
        if visit.bot.matcher.fingerprint != fingerprint:
            fingerprint = visit.bot.matcher.fingerprint
            await listener()

    ui.timer(SECONDS_BETWEEN_LOOKS, look)
