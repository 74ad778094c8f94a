"""HTTP server: a matcher behind an API, for bots in any language.

`create_app` makes an ASGI application for any ASGI server; `intentmatch serve` runs it under uvicorn. FastAPI and
pydantic come with the extra `server` and are imported in this package only. Every call is open until there are API
keys (see `auth.api_keys`): until then, listen on a private address.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from intentmatch.core import plugins
from intentmatch.server.config import ServerConfig

if TYPE_CHECKING:
    from intentmatch.server.app import create_app
    from intentmatch.server.bots.folder import BotFolder

__all__ = ["BotFolder", "ServerConfig", "create_app"]

_HOMES = {"BotFolder": "bots.folder", "create_app": "app"}


def require_extra() -> None:
    """Raise `MissingExtraError`, which names the pip line, unless the extra `server` is installed."""
    # The second one too: an installation that has FastAPI for another reason would fail only
    # when the app makes its metrics.
    for module in ("fastapi", "prometheus_client"):
        plugins.require(module, what="The webhook", extra="server")


def __getattr__(name: str) -> Any:
    """Import a public name on first use: the options in `config` must be readable without the extra."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_extra()
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
