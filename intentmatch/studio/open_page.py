"""An open page: it answers and shows something only while its visitor may see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import Client, background_tasks, core

from intentmatch.studio.sessions import Session


class OpenPage:
    """Stands between the browser and a page of NiceGUI."""

    def __init__(self, client: Client, session: Session, allowed: Callable[[], bool]) -> None:
        """Let `client` answer as long as its session lasts and `allowed` says so."""
        self._client, self._session, self._allowed = client, session, allowed
        self._answer = client.handle_event
        setattr(client, "handle_event", self._asked)  # noqa: B010 - NiceGUI has no place for it
        setattr(client, "handle_log_message", _ignored)  # noqa: B010
        # In a task: NiceGUI is in the middle of making the page.
        if session.ended:
            background_tasks.create(self._close_soon(), name="close a page")
            return
        session.pages.add(self)
        client.on_delete(lambda: session.pages.discard(self))

    def check(self) -> None:
        """Close the page if its visitor may not see it any more."""
        if self._session.ended or not self._allowed():
            self.close()

    def close(self) -> None:
        """Forget the page and close its sockets; `studio.js` then loads it anew, as what the visitor may see now."""
        self._session.pages.discard(self)
        if self._client.is_deleted:
            return
        # A copy, since each one that goes is taken off the list.
        for sid, _ in list(core.sio.manager.get_participants("/", self._client.id)):
            background_tasks.create(core.sio.disconnect(sid), name="close the socket of a page")
        self._client.delete()

    def _asked(self, event: dict[str, Any]) -> None:
        self.check()
        if not self._client.is_deleted:
            self._session.touch()
            self._answer(event)

    async def _close_soon(self) -> None:
        self.close()


def _ignored(message: dict[str, Any]) -> None:
    """Browsers could write anything into the log of the server."""
