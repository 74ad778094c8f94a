"""`GET /`: where to go from here, as a page for browsers and as JSON for programs."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from intentmatch.server.middleware.request_log import LoggedRoute
from intentmatch.server.routes.pages import page

_LINKS = {
    "docs": ("/docs", "every call, with its fields and examples"),
    "openapi": ("/openapi.json", "the same for programs"),
    "health": ("/healthz", "whether the process is alive"),
    "ready": ("/readyz", "whether messages are answered"),
    "metrics": ("/metrics", "counts and times for Prometheus"),
}
_ONE_BOT = {"intents": ("/intents", "the intents in use")}
_SEVERAL_BOTS = {"bots": ("/bots", "the bots and their states")}


def home_route(*, several: bool) -> LoggedRoute:
    """Return the route, for one bot or for several."""
    links = {**_LINKS, **(_SEVERAL_BOTS if several else _ONE_BOT)}

    async def home(request: Request) -> Response:
        root = request.scope.get("root_path", "").rstrip("/")
        # Only browsers ask for HTML by name; programs send `*/*`.
        if "text/html" not in request.headers.get("accept", ""):
            return JSONResponse(
                {"name": "intentmatch", "links": {name: root + path for name, (path, _) in links.items()}}
            )
        items = "\n".join(
            f'<li><a href="{escape(root + path)}"><code>{path}</code></a>: {what}</li>' for path, what in links.values()
        )
        return page(
            "intentmatch", f"<h1>intentmatch</h1>\n<p>This server matches messages to intents.</p>\n<ul>{items}</ul>"
        )

    return LoggedRoute("/", home, methods=["GET"], include_in_schema=False)
