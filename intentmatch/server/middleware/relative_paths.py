"""Tell `core.relative_paths` which folders a request is about."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from intentmatch.core.relative_paths import folders
from intentmatch.matching.matcher import Matcher
from intentmatch.server.bots.folder import BotFolder
from intentmatch.storage.postgres.address import Address, is_address

_BOTS = "bots"


class RelativePaths:
    """Lets answers name files from the folder of their bot, or of all bots where the path of a call names none."""

    def __init__(self, app: ASGIApp, source: Matcher | BotFolder | str | os.PathLike[str]) -> None:
        self.app = app
        self._base = _folder_of(source)
        self._several = isinstance(source, BotFolder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the folders and pass the request on."""
        if self._base is not None and scope["type"] != "lifespan":
            folders.set(partial(self._folders, self._base, str(scope["path"])))
        await self.app(scope, receive, send)

    def _folders(self, base: str, path: str) -> list[str]:
        words = path.split("/")
        if self._several and _BOTS in words[:-1]:
            name = words[words.index(_BOTS) + 1]
            # A name from the path of a request may be anything: those that would lead out of the folder name none.
            return [os.path.join(base, name), base] if name not in ("", ".", "..") else [base]  # noqa: PTH118
        return [base]


def _folder_of(source: Matcher | BotFolder | str | os.PathLike[str]) -> str | None:
    """Return the absolute folder of what a server serves; None for a database, and for a registry made in code."""
    path = source.path if isinstance(source, Matcher | BotFolder) else source
    if path is None or isinstance(path, Address) or is_address(path):
        return None
    absolute = Path(os.path.abspath(os.fspath(path)))  # noqa: PTH100 - links stay
    return str(absolute.parent if absolute.is_file() or absolute.suffix else absolute)
