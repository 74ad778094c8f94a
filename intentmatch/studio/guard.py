"""The door of the studio: sessions, the sign-in page, and the headers that pages need."""

from __future__ import annotations

import re
import secrets
from html import escape
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.core.errors import InputError
from intentmatch.studio.host import Host
from intentmatch.studio.sessions import COOKIE, Session, Sessions

SCOPE_KEY = "intentmatch.studio"
"""Where a request has its `Admission`."""

_SIGN_IN, _SIGN_OUT = "/sign-in", "/sign-out"
# Whether the session of an open page is known. After a restart it is not: no socket opens, and the page is loaded anew.
_SESSION = "/session"
_OPEN_PATHS = ("/_nicegui/", "/assets/")
_ONE_YEAR = "public, max-age=31536000, immutable"
_MOST_BYTES_OF_A_KEY = 10_000
# With no referrer at all, browsers say `Origin: null` when a form is sent.
_SAME_SITE = {"referrer-policy": "same-origin"}
_SCRIPT = re.compile(rb"<script(?=[\s>])")

_STYLE = """
:root { color-scheme: light dark; --back: #f6f7f9; --paper: #fff; --text: #1d2330; --line: #b9c0cc; --primary: #2f5fd0;
  --on: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c; --paper: #1c2027; --text: #e6e9ef; --line: #4b5563;
  --primary: #8fb0ff; --on: #10131a; --bad: #ff9d94; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
main { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 32px;
  width: min(360px, 80vw); }
h1 { font-size: 22px; margin: 0 0 4px; } p { margin: 0 0 16px; } .bad { color: var(--bad); }
label { display: block; font-weight: 600; margin-bottom: 4px; }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: 10px; border-radius: 8px; }
input { border: 1px solid var(--line); background: transparent; color: inherit; }
button { margin-top: 16px; font-weight: 600; border: 0; background: var(--primary); color: var(--on); cursor: pointer; }
:focus-visible { outline: 3px solid var(--primary); outline-offset: 2px; }
"""


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the pages of signing in; pass on what has a session; redirect the rest to the sign-in page."""
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        path = _path(scope)
        if path.startswith(_OPEN_PATHS) and scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, _cached(send))
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
        session = self._sessions.find(token)
        if session is None and self._host.needs_key:
            await _to_sign_in(request)(scope, receive, send)
            return
        new = None
        if session is None:
            new, session = self._sessions.begin(self._host.visitor(None, _address(request)))
        if scope["method"] not in ("GET", "HEAD") and not _same_origin(request):
            await Response("This page was asked from another site.", 403)(scope, receive, send)
            return
        scope[SCOPE_KEY] = Admission(self._host, session)
        await self._app(scope, receive, _with_policy(scope, send, new))

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        session = self._sessions.find(connection.cookies.get(COOKIE))
        if session is None or not _same_origin(connection):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        scope[SCOPE_KEY] = Admission(self._host, session)
        await self._app(scope, receive, send)

    def _state_of(self, token: str | None) -> Response:
        known = "unknown" if self._sessions.find(token) is None else "known"
        return Response(known, media_type="text/plain", headers={"cache-control": "no-store"})

    async def _sign_in(self, request: Request) -> Response:
        target = _inside(request.query_params.get("next", ""))
        if request.method != "POST":
            return _sign_in_page(request, target, "")
        if not _same_origin(request):
            return _sign_in_page(request, target, "This form was sent by another site.", 403)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > _MOST_BYTES_OF_A_KEY:
                return _sign_in_page(request, target, "This is no key.", 413)
        fields = parse_qs(body.decode("utf-8", "replace"))
        key = fields.get("key", [""])[0].strip()
        try:
            visitor = self._host.visitor(key, _address(request))
        except InputError as error:
            return _sign_in_page(request, target, str(error), 401)
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
    message = f'<p class="bad" role="alert">{escape(problem)}</p>' if problem else ""
    nonce = secrets.token_urlsafe(16)
    content = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>Sign in · intentmatch</title><link rel="icon" href="data:,">'
        f'<style nonce="{nonce}">{_STYLE}</style></head>'
        "<body><main><h1>intentmatch studio</h1><p>Sign in with a key of this server.</p>"
        f'{message}<form method="post" action="{escape(action)}"><label for="key">Key</label>'
        '<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>'
        '<button type="submit">Sign in</button></form></main></body></html>\n'
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    headers = {"content-security-policy": policy, "cache-control": "no-store", **_SAME_SITE}
    return HTMLResponse(content, status, headers=headers)


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
        headers.update(_SAME_SITE)
        headers["content-length"] = str(len(page))
        await send(start)
        await send({"type": "http.response.body", "body": page})

    return sending


def _is_page(start: Message) -> bool:
    return Headers(raw=start.get("headers", [])).get("content-type", "").startswith("text/html")
