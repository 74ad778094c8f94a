"""Who may call: the keys of an app, and the routes that ask for one before they read anything else.

Every route asks for a key where the app has any, unless it says `OPEN`; one that says `ADMIN` always asks for a key of
its own kind. Both are what the OpenAPI document says of it too. Keys are kept as digests, so that nothing here can
tell them; compared are all of them, in constant time.

Where an app has several bots, a key is written with its bot, `shop:KEY`, or `*:KEY` if it is good for all of them: one
without is refused at the start, so that none is good for more than its owner meant. The path of a route names the bot
as `{bot}`; where the body does, the protocol asks `allowed` once it is read.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from intentmatch.core.errors import InputError
from intentmatch.server.auth.rate_limit import Rates
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas import ProblemDetails

KEYS, ADMIN_KEYS = "INTENTMATCH_KEYS", "INTENTMATCH_ADMIN_KEYS"

OPEN: Mapping[str, Any] = {"security": []}
"""As `openapi_extra` of a route: it never asks for a key."""
ADMIN: Mapping[str, Any] = {"security": [{"admin_bearer": []}, {"admin_header": []}]}
"""As `openapi_extra` of a route: it always asks for an admin key."""

EVERY = "*"
"""In the place of a bot's name: all bots."""

_Doors = tuple[tuple[bytes, str], ...]
"""Digests of keys, each with the bot that it is good for."""

_KEY_HEADER = "X-API-Key"
_ADMITTED = "intentmatch.admitted"
"""In the scope of a request: the route that it was let in to, so as not to be counted twice."""
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


class Access:
    """Who may call an app, and how often."""

    def __init__(
        self,
        keys: Collection[str] = (),
        admin_keys: Collection[str] = (),
        rate_limit: str | None = None,
        *,
        several: bool = False,
    ) -> None:
        """Raises `InputError` for a key that no header could carry, or a rate that is none.

        Where there are `several` bots, keys are written with theirs.
        """
        self._keys, self._admin_keys = _doors(checked(keys), several), _doors(checked(admin_keys), several)
        if {key for key, _ in self._keys} & {key for key, _ in self._admin_keys}:
            raise InputError("an admin key must be another than the keys for all other calls")
        self._rates = None if rate_limit is None else Rates(rate_limit)

    @property
    def has_keys(self) -> bool:
        """Whether a key is asked for."""
        return bool(self._keys)

    @property
    def open_to_all(self) -> bool:
        """Whether anyone may call as often as they like."""
        return not self._keys and self._rates is None

    @property
    def has_admin_keys(self) -> bool:
        """Whether admin calls can be made at all."""
        return bool(self._admin_keys)

    @property
    def bots(self) -> set[str]:
        """The bots that keys are good for, by name."""
        return {bot for _, bot in self._keys + self._admin_keys if bot != EVERY}

    def is_admin(self, presented: str | None, bot: str | None = None) -> bool:
        """Whether this is an admin key, of that bot if one is named."""
        return _is_among(self._admin_keys, presented, bot)

    def is_known(self, presented: str | None, bot: str | None = None) -> bool:
        """Whether this is a key of either kind, of that bot if one is named; of all bots if that is `EVERY`."""
        return _is_among(self._keys + self._admin_keys, presented, bot)

    def count(self, request: Request, presented: str | None) -> None:
        """Count a request for its key, or for the address it comes from. Raises `ProblemError` (429) for too many."""
        if self._rates is None:
            return
        address = request.client.host if request.client else ""
        seconds = self._rates.take(_digest(presented) if self.is_known(presented) else address.encode())
        if seconds:
            detail = f"More than {self._rates.limit} requests; try again in {seconds} s."
            raise ProblemError(ProblemDetails.of(429, detail), {"Retry-After": str(seconds)})


class Route(APIRoute):
    """A route that asks for a key before the body is read, unless it is `OPEN`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own, behind the question for a key."""
        handle = super().get_route_handler()
        asked = (self.openapi_extra or {}).get("security")
        if asked == OPEN["security"]:
            return handle
        admin = asked == ADMIN["security"]

        async def guarded(request: Request) -> Response:
            if request.scope.get(_ADMITTED) != self.path:
                _admit(request, admin)
            return await handle(request)

        return guarded

    def admit(self, request: Request) -> None:
        """Let a request in ahead of the route's own question. Raises `ProblemError` unless it may be answered."""
        _admit(request, admin=False)
        request.scope[_ADMITTED] = self.path


def checked(keys: Collection[str]) -> tuple[str, ...]:
    """The keys of an app. Raises `InputError` for one that no header could carry."""
    if isinstance(keys, str):
        raise InputError("keys must be a list of keys")
    if not all(key and key.isascii() and key.isprintable() for key in keys):
        raise InputError("a key must be printable ASCII, and not empty")
    return tuple(keys)


def authorised(request: Request, presented: str | None) -> bool:
    """Whether a request may be answered: it presents one of the app's keys, or the app has none.

    Where there are several bots, whether the key is for the one in question is for `allowed` to say.

    Raises `ProblemError` (429) where it may, but not so often.
    """
    access: Access = request.app.state.access
    request.state.presented = presented
    if access.has_keys and not access.is_known(presented):
        return False
    access.count(request, presented)
    return True


def allowed(request: Request, bot: str) -> bool:
    """Whether a request that was `authorised` may go on to this bot, or to all bots."""
    access: Access = request.app.state.access
    return not access.has_keys or access.is_known(request.state.presented, bot)


def may_know(request: Request) -> bool:
    """Whether a request to an `OPEN` route may be told what only those should know who have a key."""
    access: Access = request.app.state.access
    return not access.has_keys or access.is_known(presented(request))


def presented(request: Request) -> str | None:
    """The key of a request, in either header."""
    return request.headers.get(_KEY_HEADER) or bearer(request)


def bearer(request: Request) -> str | None:
    """The token of `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def environment_keys(name: str) -> tuple[str, ...]:
    """The keys in the environment: in the variable `name`, apart by space or comma, and in the file of `name`_FILE.

    Raises `InputError` where a variable is there and no key in it: a door thought to be shut would stand open.
    """
    keys: list[str] = []
    if name in os.environ:
        keys += os.environ[name].replace(",", " ").split()
        if not keys:
            raise InputError(f"{name} is set but holds no key; unset it to ask for none")
    if f"{name}_FILE" in os.environ:
        keys += file_keys(os.environ[f"{name}_FILE"])
    return tuple(keys)


def file_keys(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The keys of a file, one a line; a line that begins with `#` is a comment. Raises `InputError` for none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the keys in {os.fspath(path)!r} cannot be read: {reason}") from None
    keys = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    if not keys:
        raise InputError(f"{os.fspath(path)!r} holds no key; give none of its kind to ask for none")
    return keys


def declare(openapi: dict[str, Any], access: Access) -> dict[str, Any]:
    """The OpenAPI document with the keys that are asked for."""
    schemes = {"admin_bearer": _bearer_scheme("admin"), "admin_header": _header_scheme("admin")}
    if access.has_keys:
        schemes |= {"bearer": _bearer_scheme("any"), "header": _header_scheme("any")}
        openapi["security"] = [{"bearer": []}, {"header": []}]
    openapi["components"]["securitySchemes"] = schemes
    return openapi


def _bearer_scheme(kind: str) -> dict[str, str]:
    return {"type": "http", "scheme": "bearer", "description": f"With {kind} key."}


def _header_scheme(kind: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": _KEY_HEADER, "description": f"With {kind} key."}


def _admit(request: Request, admin: bool) -> None:
    """Raise `ProblemError` unless a request may be answered."""
    access: Access = request.app.state.access
    if access.open_to_all and not admin:
        return
    bot = request.path_params.get("bot")
    if admin and not access.has_admin_keys:
        detail = "Admin calls are off. They are on where the server was started with an admin key."
        raise ProblemError(ProblemDetails.of(403, detail))
    key = presented(request)
    if (admin or access.has_keys) and access.is_known(key) and not access.is_known(key, bot):
        raise ProblemError(ProblemDetails.of(403, "The key is none for this bot."))
    if not authorised(request, key) or (admin and not access.is_known(key)):
        detail = f"A key is needed, as Authorization: Bearer KEY or {_KEY_HEADER}: KEY, and it must be one known here."
        raise ProblemError(ProblemDetails.of(401, detail), _CHALLENGE)
    if admin and not access.is_admin(key, bot):
        raise ProblemError(ProblemDetails.of(403, "The key is none for admin calls."))


def _digest(key: str | None) -> bytes:
    return hashlib.sha256((key or "").encode("utf-8", "surrogatepass")).digest()


def _doors(keys: Collection[str], several: bool) -> _Doors:
    if not several:
        return tuple((_digest(key), EVERY) for key in keys)
    parts = [key.partition(":") for key in keys]
    if not all(bot and key for bot, _, key in parts):
        raise InputError("where there are several bots, write each key with its bot: shop:KEY, or *:KEY for all")
    return tuple((_digest(key), bot) for bot, _, key in parts)


def _is_among(doors: _Doors, presented: str | None, bot: str | None) -> bool:
    given = _digest(presented)
    # All are compared, whichever is right.
    opened = [whose for digest, whose in doors if secrets.compare_digest(given, digest)]
    return bool(opened) and (bot is None or bot in opened or EVERY in opened)
