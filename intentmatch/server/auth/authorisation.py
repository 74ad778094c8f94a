"""Check the key of a request before anything else of it is read.

If an app has keys, every route asks for one, unless it is marked `OPEN`; a route marked `ADMIN` always asks for an
admin key, and one marked `AUTHOR` for an author key or an admin key. An author key does all that a plain key does. The
path of a route names the bot as `{bot}`; if the body does, the protocol calls `allowed` once it has read it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from intentmatch.server.auth.access import ADMIN_NAME, Access
from intentmatch.server.auth.api_keys import ADMIN_KEYS, AUTHOR_KEYS, Role
from intentmatch.server.auth.security_schemes import ADMIN, AUTHOR, KEY_HEADER, OPEN
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

NOT_FOR_THIS_BOT = "This key is not valid for this bot."

_CHALLENGE = {"WWW-Authenticate": "Bearer"}


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

        # Before FastAPI reads the body, so that nobody without a key can fill the memory with bodies.
        async def guarded(request: Request) -> Response:
            admit(request, role)
            return await handle(request)

        return guarded


def admit(request: Request, role: Role = "match") -> None:
    """Check and count a request of our own API. Raises `ProblemError` unless its key has the role that is needed."""
    access = _access(request)
    restricted = role != "match"
    # Nothing to check and nothing to count, which most private servers have for every message.
    if access.open_to_all and not restricted:
        return
    bot = request.path_params.get("bot")
    if role == "admin" and not access.has_admin_keys:
        detail = f"Admin calls are off. Start the server with an admin key, such as {ADMIN_KEYS}=KEY, to turn them on."
        raise ProblemError(ProblemDetails.for_status(403, detail))
    # Also where all other calls are open: or a page of another site could write through an author's browser.
    if restricted and not (access.has_author_keys or access.has_admin_keys):
        detail = "Calls of authors always need a key, and this server has none. Start it with one, such as "
        detail += f"{AUTHOR_KEYS}=NAME=KEY, and send that as Authorization: Bearer KEY or {KEY_HEADER}: KEY."
        raise ProblemError(ProblemDetails.for_status(401, detail), _CHALLENGE)
    key = presented(request)
    asks_for_key = restricted or access.has_keys
    known = asks_for_key and access.knows(request, key)
    # 403 and not 401: the key is valid, for other bots, and sending it again changes
    # nothing (RFC 9110, section 15.5.4).
    if known and not access.is_known(key, bot):
        raise ProblemError(ProblemDetails.for_status(403, NOT_FOR_THIS_BOT))
    # The order matters: `authorised` would count a wrong key a second time.
    if (asks_for_key and not known) or not authorised(request, key):
        detail = f"This call needs a valid key, as Authorization: Bearer KEY or {KEY_HEADER}: KEY."
        raise ProblemError(ProblemDetails.for_status(401, detail), _CHALLENGE)
    if role == "admin" and not access.is_admin(key, bot):
        raise ProblemError(ProblemDetails.for_status(403, "This key is not valid for admin calls."))
    if role == "author" and access.author(key, bot) is None:
        raise ProblemError(ProblemDetails.for_status(403, "This key is not valid for authoring."))


def is_still_author(request: Request) -> bool:
    """Whether the key of a request that `admit` has let in as an author's still is one. Counts nothing."""
    access = _access(request)
    return access.author(presented(request), request.path_params.get("bot")) is not None


def admin_of(request: Request, bot: str) -> bool:
    """Whether a request presents an admin key for a bot, or for all bots if that is `ANY_BOT`."""
    access = _access(request)
    return access.is_admin(presented(request), bot)


def require_admin(request: Request, bot: str) -> None:
    """Check the bot that the body of an admin call names. Raises `ProblemError` (403)."""
    if not admin_of(request, bot):
        raise ProblemError(ProblemDetails.for_status(403, NOT_FOR_THIS_BOT))


def author_of(request: Request) -> str:
    """Return the name of the author whose key a request presents; the route must be marked `AUTHOR`."""
    access = _access(request)
    return access.author(presented(request), request.path_params.get("bot")) or ADMIN_NAME


def authorised(request: Request, presented: str | None) -> bool:
    """Whether a request may be answered: it presents one of the app's keys, or the app has none. Counts the request.

    With several bots, `allowed` says whether the key is valid for the one in question.

    Raises `ProblemError` (429) if the caller has made too many requests, or its address has presented too many wrong
    keys.
    """
    access = _access(request)
    # Protocols learn the bot from the body, and `allowed` is asked only then.
    request.state.presented = presented
    if access.has_keys and not access.knows(request, presented):
        return False
    access.count(request, presented)
    return True


def allowed(request: Request, bot: str) -> bool:
    """Whether an `authorised` request may call this bot, or all bots if that is `ANY_BOT`."""
    access = _access(request)
    return not access.has_keys or access.is_known(request.state.presented, bot)


def needs_key(request: Request) -> bool:
    """Whether the app of a request has keys, so that the calls of protocols need one."""
    access = _access(request)
    return access.has_keys


def may_know(request: Request) -> bool:
    """Whether an `OPEN` route may tell this caller what only callers with a key should know."""
    access = _access(request)
    if not access.has_keys:
        return True
    try:
        return access.knows(request, presented(request))
    except ProblemError:  # too many wrong keys: such a caller is answered as if it had none
        return False


def presented(request: Request) -> str | None:
    """Return the key of a request, from either header."""
    return request.headers.get(KEY_HEADER) or bearer(request)


def bearer(request: Request) -> str | None:
    """Return the token of `Authorization: Bearer TOKEN`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _access(request: Request) -> Access:
    access: Access = request.app.state.access
    return access
