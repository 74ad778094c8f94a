"""API keys: who may call an app, checked before anything else of a request is read.

If an app has keys, every route asks for one, unless it is marked `OPEN`; a route marked `ADMIN` always asks for an
admin key, and one marked `AUTHOR` for an author key or an admin key. The marks are OpenAPI, so that the document says
the same. An author key is written with the name of its owner, `anna=KEY`, and does all that a plain key does. Keys are
kept as digests, and a presented key is compared with all of them in constant time.

If an app has several bots, each key is written with its bot, `shop:KEY`, or `*:KEY` for all bots; a key for some bots
is written once for each. A key without a bot is refused at the start, so that no key opens more than its owner meant.
The path of a route names the bot as `{bot}`; if the body does, the protocol calls `allowed` once it has read it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from intentmatch.core.errors import InputError
from intentmatch.server.addresses import source_of
from intentmatch.server.auth.rate_limit import RateLimiter
from intentmatch.server.auth.wrong_keys import WrongKeys
from intentmatch.server.config import Auth
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.storage.postgres.keys import StoredKey

KEYS, ADMIN_KEYS, AUTHOR_KEYS = "INTENTMATCH_KEYS", "INTENTMATCH_ADMIN_KEYS", "INTENTMATCH_AUTHOR_KEYS"

OPEN: Mapping[str, Any] = {"security": []}
"""`openapi_extra` of a route that never asks for a key."""
ADMIN: Mapping[str, Any] = {"security": [{"admin_bearer": []}, {"admin_header": []}]}
"""`openapi_extra` of a route that always asks for an admin key."""

AUTHOR: Mapping[str, Any] = {
    "security": [{"author_bearer": []}, {"author_header": []}, {"admin_bearer": []}, {"admin_header": []}]
}
"""`openapi_extra` of a route that always asks for an author key or an admin key."""

ADMIN_NAME = "admin"
"""Who writes with an admin key."""

Role = Literal["match", "author", "admin"]

ANY_BOT = "*"
"""In place of a bot's name: all bots."""

Presented = str | bytes | None
"""A key that somebody presents, or its digest where a key is kept; None without one."""

_Digests = tuple[tuple[bytes, str], ...]
"""Digests of keys, each with the bot that the key is valid for."""

_KEY_HEADER = "X-API-Key"
_CHALLENGE = {"WWW-Authenticate": "Bearer"}

NOT_FOR_THIS_BOT = "This key is not valid for this bot."


class Access:
    """Which keys an app knows, and how often each caller may call."""

    def __init__(
        self,
        keys: Collection[str] = (),
        admin_keys: Collection[str] = (),
        rate_limit: str | None = None,
        *,
        author_keys: Collection[str] = (),
        several: bool = False,
    ) -> None:
        """With `several` bots, each key is written with its bot.

        Raises `InputError` for a key that no header could carry, for an author key without a name, and for an invalid
        rate limit.
        """
        self._keys, self._admin_keys = _digests(checked(keys), several), _digests(checked(admin_keys), several)
        self._authors = _authors(checked(author_keys), several)
        self._author_keys: _Digests = tuple((key, bot) for key, bot, _ in self._authors)
        by_role = [{key for key, _ in keys} for keys in (self._keys, self._author_keys, self._admin_keys)]
        if by_role[0] & by_role[2]:
            raise InputError("an admin key must differ from all other keys")
        if by_role[1] & (by_role[0] | by_role[2]):
            raise InputError("an author key must differ from all other keys")
        self._own = self._keys, self._authors, self._admin_keys
        self._several = several
        self._stored = False
        self._rates = None if rate_limit is None else RateLimiter(rate_limit)
        self._guesses = WrongKeys()

    @classmethod
    def from_config(cls, config: Auth, *, several: bool = False) -> Access:
        """Take the keys of a config, and those of the environment where it has None."""
        return cls(
            environment_keys(KEYS) if config.keys is None else config.keys,
            environment_keys(ADMIN_KEYS) if config.admin_keys is None else config.admin_keys,
            config.rate_limit,
            author_keys=environment_keys(AUTHOR_KEYS) if config.author_keys is None else config.author_keys,
            several=several,
        )

    def use_stored(self, keys: Sequence[StoredKey]) -> None:
        """Accept these keys of a database, and no others of it. From now on calls need a key, even if there is none."""
        of_role: dict[str, list[tuple[bytes, str, str]]] = {"match": [], "author": [], "admin": []}
        for key in keys:
            of_role[key.role].append((key.digest, key.bot if self._several else ANY_BOT, key.name))
        own, authors, admins = self._own
        self._stored = True
        self._keys = own + tuple((digest, bot) for digest, bot, _ in of_role["match"])
        self._authors = authors + tuple(of_role["author"])
        self._author_keys = tuple((digest, bot) for digest, bot, _ in self._authors)
        self._admin_keys = admins + tuple((digest, bot) for digest, bot, _ in of_role["admin"])

    @property
    def has_keys(self) -> bool:
        """Whether calls need a key."""
        return self._stored or bool(self._keys)

    @property
    def open_to_all(self) -> bool:
        """Whether anyone may call, without limit."""
        return not self.has_keys and self._rates is None

    @property
    def has_admin_keys(self) -> bool:
        """Whether admin calls are on."""
        return self._stored or bool(self._admin_keys)

    @property
    def has_author_keys(self) -> bool:
        """Whether there are keys for authors, or may be."""
        return self._stored or bool(self._authors)

    @property
    def bots(self) -> set[str]:
        """Names of the bots that single keys are valid for."""
        return {bot for _, bot in self._keys + self._author_keys + self._admin_keys if bot != ANY_BOT}

    def is_admin(self, presented: Presented, bot: str | None = None) -> bool:
        """Whether this is an admin key, and for this bot if one is named."""
        return _is_among(self._admin_keys, presented, bot)

    def is_known(self, presented: Presented, bot: str | None = None) -> bool:
        """Whether this is a key of any kind, and for this bot if one is named; `ANY_BOT` means all bots."""
        return _is_among(self._keys + self._author_keys + self._admin_keys, presented, bot)

    def author(self, presented: Presented, bot: str | None = None) -> str | None:
        """Return the name of the author that a key belongs to, for this bot if one is named; None for other keys."""
        if self.is_admin(presented, bot):
            return ADMIN_NAME
        if not _is_among(self._author_keys, presented, bot):
            return None
        given = _digest(presented)
        names = [
            name
            for key, owner, name in self._authors
            if secrets.compare_digest(given, key) and (bot is None or owner in (bot, ANY_BOT))
        ]
        return names[0]

    def knows(self, request: Request, presented: str | None) -> bool:
        """Whether a request presents a key of either kind. Raises `ProblemError` (429) after too many wrong keys.

        A wrong key counts for the address that presents it. Once that has presented too many, it learns nothing about
        any key that it has not used before.
        """
        return self.knows_from(_address(request), presented)

    def knows_from(self, address: str | None, presented: str | None) -> bool:
        """Whether an address presents a key of any kind, as `knows`."""
        known = self.is_known(presented)
        if presented:
            seconds = self._guesses.note(source_of(address or "").encode(), _digest(presented), right=known)
            if seconds:
                detail = f"This address has presented too many wrong keys. Try again in {seconds} s."
                raise _too_many(detail, seconds)
        return known

    def count(self, request: Request, presented: str | None) -> None:
        """Count a request for its key, or for its address without one. Raises `ProblemError` (429) for too many."""
        if self._rates is None:
            return
        caller = _digest(presented) if self.is_known(presented) else _address(request).encode()
        seconds = self._rates.take(caller)
        if seconds:
            raise _too_many(f"More than {self._rates.limit} requests. Try again in {seconds} s.", seconds)


class GuardedRoute(APIRoute):
    """A FastAPI route that checks the key first, unless it is `OPEN`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, behind the check."""
        handle = super().get_route_handler()
        security = (self.openapi_extra or {}).get("security")
        if security == OPEN["security"]:
            return handle
        role: Role = "match"
        if security in (ADMIN["security"], AUTHOR["security"]):
            role = "admin" if security == ADMIN["security"] else "author"

        async def guarded(request: Request) -> Response:
            admit(request, role)
            return await handle(request)

        return guarded


def admit(request: Request, role: Role = "match") -> None:
    """Check and count a request of our own API. Raises `ProblemError` unless its key has the role that is needed."""
    access: Access = request.app.state.access
    restricted = role != "match"
    if access.open_to_all and not restricted:
        return
    bot = request.path_params.get("bot")
    if role == "admin" and not access.has_admin_keys:
        detail = "Admin calls are off. Start the server with an admin key to turn them on."
        raise ProblemError(ProblemDetails.for_status(403, detail))
    if restricted and not (access.has_author_keys or access.has_admin_keys):
        detail = "Calls of authors always need a key, and this server has none. Start it with one, such as "
        detail += f"{AUTHOR_KEYS}=NAME=KEY, and send that as Authorization: Bearer KEY or {_KEY_HEADER}: KEY."
        raise ProblemError(ProblemDetails.for_status(401, detail), _CHALLENGE)
    key = presented(request)
    asks_for_key = restricted or access.has_keys
    known = asks_for_key and access.knows(request, key)
    if known and not access.is_known(key, bot):
        raise ProblemError(ProblemDetails.for_status(403, NOT_FOR_THIS_BOT))
    if (asks_for_key and not known) or not authorised(request, key):
        detail = f"This call needs a valid key, as Authorization: Bearer KEY or {_KEY_HEADER}: KEY."
        raise ProblemError(ProblemDetails.for_status(401, detail), _CHALLENGE)
    if role == "admin" and not access.is_admin(key, bot):
        raise ProblemError(ProblemDetails.for_status(403, "This key is not valid for admin calls."))
    if role == "author" and access.author(key, bot) is None:
        raise ProblemError(ProblemDetails.for_status(403, "This key is not valid for authoring."))


def is_still_author(request: Request) -> bool:
    """Whether the key of a request that `admit` has let in as an author's still is one. Counts nothing."""
    access: Access = request.app.state.access
    return access.author(presented(request), request.path_params.get("bot")) is not None


def admin_of(request: Request, bot: str) -> bool:
    """Whether a request presents an admin key for a bot, or for all bots if that is `ANY_BOT`."""
    access: Access = request.app.state.access
    return access.is_admin(presented(request), bot)


def require_admin(request: Request, bot: str) -> None:
    """Check the bot that the body of an admin call names. Raises `ProblemError` (403)."""
    if not admin_of(request, bot):
        raise ProblemError(ProblemDetails.for_status(403, NOT_FOR_THIS_BOT))


def author_of(request: Request) -> str:
    """Return the name of the author whose key a request presents; the route must be marked `AUTHOR`."""
    access: Access = request.app.state.access
    return access.author(presented(request), request.path_params.get("bot")) or ADMIN_NAME


def checked(keys: Collection[str]) -> tuple[str, ...]:
    """Return the keys as a tuple. Raises `InputError` for one that no header could carry."""
    if isinstance(keys, str):
        raise InputError("keys must be a list of keys, not one string")
    if not all(key and key.isascii() and key.isprintable() for key in keys):
        raise InputError("a key must be printable ASCII, and not empty")
    return tuple(keys)


def authorised(request: Request, presented: str | None) -> bool:
    """Whether a request may be answered: it presents one of the app's keys, or the app has none. Counts the request.

    With several bots, `allowed` says whether the key is valid for the one in question.

    Raises `ProblemError` (429) if the caller has made too many requests, or its address has presented too many wrong
    keys.
    """
    access: Access = request.app.state.access
    request.state.presented = presented
    if access.has_keys and not access.knows(request, presented):
        return False
    access.count(request, presented)
    return True


def allowed(request: Request, bot: str) -> bool:
    """Whether an `authorised` request may call this bot, or all bots if that is `ANY_BOT`."""
    access: Access = request.app.state.access
    return not access.has_keys or access.is_known(request.state.presented, bot)


def needs_key(request: Request) -> bool:
    """Whether the app of a request has keys, so that the calls of protocols need one."""
    access: Access = request.app.state.access
    return access.has_keys


def may_know(request: Request) -> bool:
    """Whether an `OPEN` route may tell this caller what only callers with a key should know."""
    access: Access = request.app.state.access
    if not access.has_keys:
        return True
    try:
        return access.knows(request, presented(request))
    except ProblemError:  # too many wrong keys: such a caller is answered as if it had none
        return False


def presented(request: Request) -> str | None:
    """Return the key of a request, from either header."""
    return request.headers.get(_KEY_HEADER) or bearer(request)


def bearer(request: Request) -> str | None:
    """Return the token of `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def environment_keys(name: str) -> tuple[str, ...]:
    """Return the keys in the variable `name`, separated by commas or spaces, and in the file that `name`_FILE names.

    Raises `InputError` if a variable is set but holds no key: the server would be open although it seems protected.
    """
    keys: list[str] = []
    if name in os.environ:
        keys += os.environ[name].replace(",", " ").split()
        if not keys:
            raise InputError(f"{name} is set but holds no key; unset it to need no key")
    if f"{name}_FILE" in os.environ:
        keys += file_keys(os.environ[f"{name}_FILE"])
    return tuple(keys)


def file_keys(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the keys of a file, one per line; lines with a leading `#` are comments. Raises `InputError` for none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the keys in {os.fspath(path)!r} cannot be read: {reason}") from None
    keys = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    if not keys:
        raise InputError(f"{os.fspath(path)!r} holds no key; leave the file out to need no key")
    return keys


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
    return {"type": "apiKey", "in": "header", "name": _KEY_HEADER, "description": f"Takes {kind} key."}


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _too_many(detail: str, seconds: int) -> ProblemError:
    return ProblemError(ProblemDetails.for_status(429, detail), {"Retry-After": str(seconds)})


def _digest(key: Presented) -> bytes:
    return key if isinstance(key, bytes) else digest_of_key(key)


def digest_of_key(key: str | None) -> bytes:
    """Return what stands for a key in memory, in place of the key."""
    return hashlib.sha256((key or "").encode("utf-8", "surrogatepass")).digest()


def _digests(keys: Collection[str], several: bool) -> _Digests:
    if not several:
        return tuple((_digest(key), ANY_BOT) for key in keys)
    parts = [key.partition(":") for key in keys]
    if not all(bot and key for bot, _, key in parts):
        raise InputError("with several bots, write each key with its bot: shop:KEY, or *:KEY for all bots")
    return tuple((_digest(key), bot) for bot, _, key in parts)


def _authors(keys: Collection[str], several: bool) -> tuple[tuple[bytes, str, str], ...]:
    """Digests of author keys, each with its bot and the name of its owner."""
    found = []
    for written in keys:
        bot, separator, rest = written.partition(":") if several else (ANY_BOT, ":", written)
        name, equals, key = rest.partition("=")
        if not (bot and separator and name.strip() and equals and key):
            form = "shop:anna=KEY, or *:anna=KEY for all bots" if several else "anna=KEY"
            raise InputError(f"write each author key with the name of its owner: {form}")
        found.append((_digest(key), bot, name.strip()))
    return tuple(found)


def _is_among(digests: _Digests, presented: Presented, bot: str | None) -> bool:
    given = _digest(presented)
    # Every digest is compared, so that the time tells nothing.
    bots = [owner for digest, owner in digests if secrets.compare_digest(given, digest)]
    return bool(bots) and (bot is None or bot in bots or ANY_BOT in bots)
