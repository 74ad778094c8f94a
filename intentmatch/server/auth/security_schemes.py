"""Which key a route asks for: marks that are OpenAPI, so that the document says what the server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intentmatch.server.auth.access import Access

KEY_HEADER = "X-API-Key"

OPEN: Mapping[str, Any] = {"security": []}
"""`openapi_extra` of a route that never asks for a key."""
ADMIN: Mapping[str, Any] = {"security": [{"admin_bearer": []}, {"admin_header": []}]}
"""`openapi_extra` of a route that always asks for an admin key."""

AUTHOR: Mapping[str, Any] = {
    "security": [{"author_bearer": []}, {"author_header": []}, {"admin_bearer": []}, {"admin_header": []}]
}
"""`openapi_extra` of a route that always asks for an author key or an admin key."""


def declare_keys(openapi: dict[str, Any], access: Access) -> None:
    """Write into an OpenAPI document which keys the calls need."""
    schemes = {"admin_bearer": _bearer_scheme("an admin"), "admin_header": _header_scheme("an admin")}
    if _is_used(openapi, "author_bearer"):
        schemes |= {"author_bearer": _bearer_scheme("an author"), "author_header": _header_scheme("an author")}
    if access.has_keys:
        schemes |= {"bearer": _bearer_scheme("any"), "header": _header_scheme("any")}
        openapi["security"] = [{"bearer": []}, {"header": []}]
    openapi["components"]["securitySchemes"] = schemes


def _is_used(openapi: dict[str, Any], scheme: str) -> bool:
    operations = (operation for path in openapi["paths"].values() for operation in path.values())
    return any(scheme in each for operation in operations for each in operation.get("security", ()))


def _bearer_scheme(kind: str) -> dict[str, str]:
    return {"type": "http", "scheme": "bearer", "description": f"Takes {kind} key."}


def _header_scheme(kind: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": KEY_HEADER, "description": f"Takes {kind} key."}
