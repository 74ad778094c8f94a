"""Who may call."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from fastapi import Request

from intentmatch.errors import InputError


def checked(keys: Collection[str]) -> tuple[str, ...]:
    """The keys of an app. Raises `InputError` for one that no header could carry."""
    if isinstance(keys, str):
        raise InputError("keys must be a list of keys")
    if not all(key and key.isascii() and key.isprintable() for key in keys):
        raise InputError("a key must be printable ASCII, and not empty")
    return tuple(keys)


def authorised(request: Request, presented: str | None) -> bool:
    """Whether a request may be answered: it presents one of the app's keys, or the app has none."""
    keys: tuple[str, ...] = request.app.state.keys
    given = (presented or "").encode("utf-8", "surrogatepass")
    # A sum, so that all keys are compared, whichever is right.
    return not keys or sum(secrets.compare_digest(given, key.encode()) for key in keys) > 0


def bearer(request: Request) -> str | None:
    """The token of `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
