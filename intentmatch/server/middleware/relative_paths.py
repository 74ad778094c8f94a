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
        self._bases = _folders_of(source)
        self._several = isinstance(source, BotFolder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the folders and pass the request on."""
        if self._bases and scope["type"] != "lifespan":
            folders.set(partial(self._folders, str(scope["path"])))
        await self.app(scope, receive, send)

    def _folders(self, path: str) -> list[str]:
        bases, words = self._bases, path.split("/")
        if self._several and _BOTS in words[:-1]:
            name = words[words.index(_BOTS) + 1]
            # A name from the path of a request may be anything: those that would lead out of the folder name none.
            if name not in ("", ".", ".."):
                return [*(os.path.join(base, name) for base in bases), *bases]  # noqa: PTH118
        return bases


def _folders_of(source: Matcher | BotFolder | str | os.PathLike[str]) -> list[str]:
    """Return the folder of what a server serves, absolute and as it was given, which is how places name it.

    There is none for a database, and for a registry made in code.
    """
    path = source.path if isinstance(source, Matcher | BotFolder) else source
    if path is None or isinstance(path, Address) or is_address(path):
        return []
    absolute = Path(os.path.abspath(os.fspath(path)))  # noqa: PTH100 - links stay
    is_file = absolute.is_file() or bool(absolute.suffix)
    found = [absolute, Path(path)]
    return list(dict.fromkeys(str(one.parent if is_file else one) for one in found))
