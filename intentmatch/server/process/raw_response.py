"""Responses of a connection that no app answers."""

from __future__ import annotations

from intentmatch.server.middleware.problems import MEDIA_TYPE
from intentmatch.server.routes.schemas.problem_details import ProblemDetails


def raw_response(details: ProblemDetails, *headers: str) -> bytes:
    """Return the bytes of a response that ends its connection, without an app."""
    body = details.model_dump_json()
    lines = (
        f"HTTP/1.1 {details.status} {details.title}",
        f"content-type: {MEDIA_TYPE}",
        f"content-length: {len(body)}",
        "connection: close",
        *headers,
    )
    return "\r\n".join([*lines, "", body]).encode("ascii")
