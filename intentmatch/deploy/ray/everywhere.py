"""Calls that concern every replica of the matchers: their metrics, and reloading files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from intentmatch.deploy.ray.asgi import AsgiRequest, Response

_EVERYWHERE = re.compile(r"(GET /metrics|POST (/bots/[^/]+)?/reload)")
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(\{)?")


def concerns_all(request: AsgiRequest) -> bool:
    """Whether a request is for every replica."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    return _EVERYWHERE.fullmatch(f"{request.scope['method']} {path}") is not None


async def ask_all(matchers: Any, request: AsgiRequest) -> Response:
    """Send a request to every replica behind a handle; return their metrics together, or the worst response.

    Ask one replica first: a caller whom it refuses must cost the others nothing.
    """
    responses: list[Response] = await matchers.broadcast("forward", request, None).results_async()
    # A reload that has failed on one replica must not look done.
    worst = max(responses, key=lambda response: response.status)
    if worst.status >= 400 or request.scope["method"] != "GET":
        return worst
    body = together([(response.replica, response.body.decode()) for response in responses])
    # The body below is longer than that of a single replica.
    headers = [(name, value) for name, value in worst.headers if name.lower() != b"content-length"]
    return replace(worst, headers=headers, body=body.encode())


def together(expositions: Sequence[tuple[str, str]]) -> str:
    """Join metrics in Prometheus's text format, given as pairs of a replica's name and its metrics.

    Each sample gets the label `replica`. The samples of a metric stay together, as the format demands.
    """
    samples: dict[str, list[str]] = {}
    for replica, text in expositions:
        about = ""
        for line in text.splitlines(keepends=True):
            if line.startswith("#"):
                # `# HELP`, then `# TYPE`
                about = about + line if about.startswith("# HELP") and line.startswith("# TYPE") else line
                continue
            samples.setdefault(about, []).append(_labelled(line, replica))
    return "".join(about + "".join(lines) for about, lines in samples.items())


def _labelled(line: str, replica: str) -> str:
    """Return a sample with the label `replica` in front of its own labels."""
    found = _SAMPLE.match(line)
    if found is None:
        return line
    rest = line[found.end() :]
    return f'{found[1]}{{replica="{replica}"' + (f",{rest}" if found[2] else f"}}{rest}")
