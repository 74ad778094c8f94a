"""The door of the studio: sessions, the sign-in page, and the headers that pages need."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from contextlib import suppress
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.core.errors import InputError
from intentmatch.core.rare_lines import RareLines
from intentmatch.studio.host import Host, Visitor
from intentmatch.studio.plain_pages import SAME_SITE, plain_page, sign_in_page
from intentmatch.studio.sessions import COOKIE, Session, Sessions

_log = logging.getLogger(__name__)
_failures = RareLines()

SCOPE_KEY = "intentmatch.studio"
"""Where a request has its `Admission`."""

_SIGN_IN, _SIGN_OUT = "/sign-in", "/sign-out"
# Whether the session of an open page is known. After a restart it is not: no socket opens, and the page is loaded anew.
_SESSION = "/session"
_OPEN_PATHS = ("/_nicegui/", "/assets/")
_NICEGUI = "/_nicegui"
# Long polling would keep an answer open that nothing closes when its key is revoked; the pages use WebSockets only.
_POLLING = "/_nicegui_ws/"
_ONE_YEAR = "public, max-age=31536000, immutable"
_MOST_BYTES_OF_A_KEY = 10_000
_MOST_PAGES_OF_A_KEY = 200
_SECONDS_BETWEEN_CHECKS = 1.0
_SCRIPT = re.compile(rb"<script(?=[\s>])")


class Admission:
    """What the pages know about a request: the host, and the session of the browser."""

    def __init__(self, host: Host, session: Session) -> None:
        self.host, self.session = host, session

    @staticmethod
    def of(request: HTTPConnection) -> Admission:
        """Return the admission of a request that has passed the guard."""
        found: Admission = request.scope[SCOPE_KEY]
        return found


class Guard:
    """ASGI middleware that lets only signed-in browsers reach the pages."""

    def __init__(self, app: ASGIApp, host: Host) -> None:
        self._app, self._host = app, host
        self._sessions = Sessions()
        self._connected: dict[_Socket, Session] = {}
        self._checking: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the pages of signing in; pass on what has a session; redirect the rest to the sign-in page."""
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        path = _path(scope)
        # Libraries and styles, which the sign-in page needs too; they hold nothing of a bot.
        if path.startswith(_OPEN_PATHS) and scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, _cached(send))
            return
        if path.startswith(_POLLING):
            await Response("Only WebSockets are answered here.", 404, media_type="text/plain")(scope, receive, send)
            return
        request = Request(scope, receive)
        token = request.cookies.get(COOKIE)
        if path == _SIGN_IN and self._host.needs_key:
            await (await self._sign_in(request))(scope, receive, send)
            return
        if path in (_SIGN_OUT, _SESSION):
            answer = self._sign_out(request, token) if path == _SIGN_OUT else self._state_of(token)
            await answer(scope, receive, send)
            return
        await self._page(request, self._session(token), receive, send)

    async def _page(self, request: Request, session: Session | None, receive: Receive, send: Send) -> None:
        scope, new = request.scope, None
        if session is None and self._host.needs_key:
            await _to_sign_in(request)(scope, receive, send)
            return
        if session is None:
            new, session = self._sessions.begin(self._host.visitor(None, _address(request)))
        if scope["method"] not in ("GET", "HEAD") and not _same_origin(request):
            await Response("This page was asked from another site.", 403)(scope, receive, send)
            return
        # What a page fetches is no page, and one page fetches dozens of files.
        refusal = None if _path(scope).startswith(_NICEGUI) else self._refusal(session.visitor)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        scope[SCOPE_KEY] = Admission(self._host, session)
        await self._app(scope, receive, _with_policy(scope, send, new))

    def _session(self, token: str | None) -> Session | None:
        """Return the session of a token. One whose key was revoked is signed out."""
        session = self._sessions.find(token)
        if session is None or self._is_valid(session):
            return session
        self._sessions.end(token)
        return None

    def _is_valid(self, session: Session) -> bool:
        return not self._host.needs_key or self._host.role(session.visitor, None) is not None

    def _refusal(self, visitor: Visitor) -> Response | None:
        """Return the answer to a visitor who opens too many pages; None for others. Counts the page."""
        if self._sessions.pages_of(visitor.key) >= _MOST_PAGES_OF_A_KEY:
            return _too_many("Too many pages are open with this key. Close some, and try again in a minute.", 60)
        seconds = self._host.seconds_to_wait(visitor, "page")
        return _too_many(f"Too many pages were opened with this key. Try again in {seconds} s.", seconds)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        session = self._session(connection.cookies.get(COOKIE))
        if session is None or not _same_origin(connection):
            # A WebSocket is refused after its request to connect.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        scope[SCOPE_KEY] = Admission(self._host, session)
        socket = _Socket(send)
        # Known to the session, so that its end closes them.
        session.sockets.add(socket)
        self._connected[socket] = session
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check())
        try:
            await self._app(scope, receive, socket.send)
        finally:
            session.sockets.discard(socket)
            del self._connected[socket]

    async def _check(self) -> None:
        """While there are sockets, close those that nobody may have any more: keys are revoked without a request."""
        while self._connected:
            await asyncio.sleep(_SECONDS_BETWEEN_CHECKS)
            self._sessions.end_old()
            # A session once, however many sockets it has.
            for session in set(self._connected.values()):
                try:
                    if self._is_valid(session):
                        session.check()
                    else:
                        session.end()
                except Exception:  # noqa: BLE001  no page ends this for the others
                    if _failures.due(session.visitor.name):
                        _log.exception("a page of the studio could not be closed")

    def _state_of(self, token: str | None) -> Response:
        known = "unknown" if self._session(token) is None else "known"
        return Response(known, media_type="text/plain", headers={"cache-control": "no-store"})

    async def _sign_in(self, request: Request) -> Response:
        target = _inside(request.query_params.get("next", ""))
        if request.method != "POST":
            return _sign_in_page(request, target, "")
        if not _same_origin(request):
            return _sign_in_page(request, target, "This form was sent by another site.", 403)
        body = bytearray()
        async for part in request.stream():
            # Read in parts, so that a form of any size fills no memory.
            body += part
            if len(body) > _MOST_BYTES_OF_A_KEY:
                return _sign_in_page(request, target, "This is no key.", 413)
        fields = parse_qs(body.decode("utf-8", "replace"))
        key = fields.get("key", [""])[0].strip()
        try:
            visitor = self._host.visitor(key, _address(request))
        except InputError as error:
            return _sign_in_page(request, target, str(error), 401)
        if seconds := self._host.seconds_to_wait(visitor, "sign-in"):
            problem = f"Too many people have signed in with this key. Try again in {seconds} s."
            refusal = _sign_in_page(request, target, problem, 429)
            refusal.headers["retry-after"] = str(seconds)
            return refusal
        response = RedirectResponse(_root(request.scope) + target, 303)
        token, _ = self._sessions.begin(visitor)
        response.headers["set-cookie"] = _cookie(request.scope, token)
        return response

    def _sign_out(self, request: Request, token: str | None) -> Response:
        response = RedirectResponse(f"{_root(request.scope)}/", 303)
        if request.method == "POST" and _same_origin(request):
            self._sessions.end(token)
            response.headers["set-cookie"] = f"{_cookie(request.scope, '')}; Max-Age=0"
        return response


class _Socket:
    """A WebSocket of a browser, which can be closed from outside the app."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._closing: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Send a message of the app, unless the socket is closed."""
        if self._closing is None:
            await self._send(message)

    def check(self) -> None:
        """Do nothing: what it carries belongs to pages."""

    def close(self) -> None:
        """Close the socket."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())

    async def _close(self) -> None:
        with suppress(OSError, RuntimeError):  # the browser was faster
            await self._send({"type": "websocket.close", "code": 1008})


def _too_many(problem: str, seconds: int) -> Response | None:
    """Return the answer to a visitor who has to wait; None for 0 seconds."""
    if not seconds:
        return None
    page = plain_page("Too many pages", f"<p>{problem}</p>", 429)
    page.headers["retry-after"] = str(seconds)
    return page


def _root(scope: Scope) -> str:
    """Path of the studio on the server, such as `/studio`."""
    return str(scope.get("root_path", "")).rstrip("/")


def _path(scope: Scope) -> str:
    path, root = str(scope["path"]), _root(scope)
    return path[len(root) :] if path.startswith(root) else path


def _address(request: HTTPConnection) -> str | None:
    return None if request.client is None else request.client.host


def _same_origin(connection: HTTPConnection) -> bool:
    """Whether a browser says that a page of this server asks. Programs send no Origin; they have no cookie either."""
    origin = connection.headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == connection.headers.get("host", "").lower()


def _inside(target: str) -> str:
    """Return a path of the studio to go to after signing in, never one of another site."""
    safe = re.fullmatch(r"/(?![/\\])[^\s\\]*", target)
    return target if safe and not target.startswith((_SIGN_IN, _SIGN_OUT)) else "/"


def _to_sign_in(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    target = quote(f"{_path(request.scope)}{query}", safe="/")
    return RedirectResponse(f"{_root(request.scope)}{_SIGN_IN}?next={target}", 303)


def _cookie(scope: Scope, token: str) -> str:
    secure = "; Secure" if scope.get("scheme") in ("https", "wss") else ""
    # Lax keeps it from requests of other sites except links to a page, and a GET changes nothing.
    return f"{COOKIE}={token}; Path={_root(scope) or '/'}; HttpOnly; SameSite=Lax{secure}"


def _sign_in_page(request: Request, target: str, problem: str, status: int = 200) -> Response:
    action = f"{_root(request.scope)}{_SIGN_IN}?next={quote(target, safe='/')}"
    return sign_in_page(action, problem, status)


def _policy(nonce: str) -> str:
    # NiceGUI evaluates templates and properties in the browser, and adds styles to elements: hence the two `unsafe`.
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def _cached(send: Send) -> Send:
    """Let browsers keep files whose address has a version."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            MutableHeaders(scope=message)["cache-control"] = _ONE_YEAR
        await send(message)

    return sending


def _with_policy(scope: Scope, send: Send, token: str | None) -> Send:
    """Send pages with a policy that runs only their own scripts, and with the cookie of a new session."""
    start: Message = {}
    body = bytearray()

    async def sending(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            # Held back until the body is known, whose length changes with the nonces.
            start = message
            headers = MutableHeaders(scope=message)
            if token is not None:
                headers.append("set-cookie", _cookie(scope, token))
            if not _is_page(message):
                await send(message)
            return
        if message["type"] != "http.response.body" or not _is_page(start):
            await send(message)
            return
        body.extend(message.get("body", b""))
        if message.get("more_body", False):
            return
        nonce = secrets.token_urlsafe(16)
        page = _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), bytes(body))
        headers = MutableHeaders(scope=start)
        headers["content-security-policy"] = _policy(nonce)
        headers.update(SAME_SITE)
        headers["content-length"] = str(len(page))
        await send(start)
        await send({"type": "http.response.body", "body": page})

    return sending


def _is_page(start: Message) -> bool:
    return Headers(raw=start.get("headers", [])).get("content-type", "").startswith("text/html")
