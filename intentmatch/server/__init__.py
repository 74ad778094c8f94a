"""The webhook: a matcher behind HTTP, for bots that are not written in Python.

`create_app` makes an ASGI application for any server; `intentmatch serve` runs it under uvicorn. FastAPI and pydantic
are imported in this room only and come with the extra `server`. Nobody is asked for a key unless there are some: see
`access`, and until then listen on a private address.
"""

from intentmatch.core import plugins

# At the door, before the room's own modules fail with a bare ModuleNotFoundError.
for module in ("fastapi", "prometheus_client"):
    plugins.require(module, what="The webhook", extra="server")

from intentmatch.server.app import create_app  # noqa: E402 - see above
from intentmatch.server.bots.folder import BotFolder  # noqa: E402

__all__ = ["BotFolder", "create_app"]
