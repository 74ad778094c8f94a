"""The door: who gets in, what the pages may run, and that no address or log ever holds a key."""

from __future__ import annotations

import re
import threading
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from intentmatch.core.errors import InputError
from intentmatch.studio import guard
from intentmatch.studio.guard import Admission, Guard
from intentmatch.studio.host import Counted, Role, Visitor
from intentmatch.studio.sessions import COOKIE

KEY = "right-key"


class FakeHost:
    several = False

    def __init__(self, *, needs_key: bool) -> None:
        self.needs_key = needs_key
        self.revoked = False
        self.wait: dict[Counted, int] = {}

    def visitor(self, key: str | None, address: str | None) -> Visitor:
        if self.needs_key and key != KEY:
            raise InputError("This key is not valid.")
        return Visitor("anna", None if key is None else key.encode())

    def role(self, visitor: Visitor, bot: str | None) -> Role | None:
        return None if self.revoked else "author"

    def seconds_to_wait(self, visitor: Visitor, what: Counted) -> int:
        return self.wait.get(what, 0)


async def _page(request: Request) -> Response:
    name = Admission.of(request).session.visitor.name
    return HTMLResponse(f"<html><script>one</script><script type='module'>two</script>{name}</html>")


async def _asset(request: Request) -> Response:
    return PlainTextResponse("body {}")


class _Opened:
    def __init__(self, checked: threading.Event | None = None) -> None:
        self._checked = checked

    def check(self) -> None:
        if self._checked is not None:
            self._checked.set()
            raise KeyError("a defect of a page")

    def close(self) -> None: ...


async def _opened(request: Request) -> Response:
    Admission.of(request).session.pages.add(_Opened())
    return HTMLResponse("<html></html>")


_broken = _Opened()


async def _opened_broken(request: Request) -> Response:
    Admission.of(request).session.pages.add(_broken)
    return HTMLResponse("<html></html>")


async def _waiting(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("open")
    with suppress(WebSocketDisconnect):
        await socket.receive_text()


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(Admission.of(socket).session.visitor.name)
    await socket.close()


def client(*, needs_key: bool, host: FakeHost | None = None) -> TestClient:
    inner = Starlette(
        routes=[
            Route("/try", _page, methods=["GET", "POST"]),
            Route("/assets/studio.css", _asset),
            Route("/opened", _opened),
            Route("/broken", _opened_broken),
            WebSocketRoute("/ws", _socket),
            WebSocketRoute("/waiting", _waiting),
        ]
    )
    app = Starlette(routes=[Mount("/studio", Guard(inner, host or FakeHost(needs_key=needs_key)))])
    return TestClient(app, base_url="http://testserver", follow_redirects=False)


def signed_in(host: FakeHost | None = None) -> TestClient:
    found = client(needs_key=True, host=host)
    found.post("/studio/sign-in", data={"key": KEY})
    return found


def test_visitor_without_a_session_is_sent_to_the_sign_in_page():
    answer = client(needs_key=True).get("/studio/try?message=hello")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/studio/sign-in?next=/try%3Fmessage%3Dhello"


def test_right_key_opens_the_page_that_was_asked_for():
    visitor = client(needs_key=True)
    page = visitor.get("/studio/sign-in?next=/try")
    answer = visitor.post("/studio/sign-in?next=/try", data={"key": f" {KEY} "})

    assert 'type="password"' in page.text
    assert page.headers["referrer-policy"] == "same-origin"
    assert answer.status_code == 303
    assert answer.headers["location"] == "/studio/try"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/studio" in cookie
    assert KEY not in cookie
    assert "anna" in visitor.get("/studio/try").text


def test_wrong_key_opens_nothing_and_the_page_says_so():
    visitor = client(needs_key=True)
    answer = visitor.post("/studio/sign-in", data={"key": "<b>wrong"})

    assert answer.status_code == 401
    assert "This key is not valid." in answer.text
    assert "<b>wrong" not in answer.text
    assert "set-cookie" not in answer.headers


def test_key_of_a_megabyte_is_refused():
    assert client(needs_key=True).post("/studio/sign-in", data={"key": "x" * 1_000_000}).status_code == 413


@pytest.mark.parametrize("target", ["//evil.test/", "https://evil.test/", "/\\evil.test", "/sign-out", "evil", "/a b"])
def test_sign_in_never_leads_to_another_site(target):
    answer = client(needs_key=True).post("/studio/sign-in", params={"next": target}, data={"key": KEY})

    assert answer.headers["location"] == "/studio/"


def test_cookie_is_secure_over_https():
    visitor = client(needs_key=True)
    visitor.base_url = "https://testserver"

    assert "Secure" in visitor.post("/studio/sign-in", data={"key": KEY}).headers["set-cookie"]


def test_sign_out_ends_the_session():
    visitor = signed_in()
    cookie = visitor.cookies[COOKIE]
    assert visitor.get("/studio/sign-out").status_code == 303
    assert visitor.get("/studio/try").status_code == 200

    assert "Max-Age=0" in visitor.post("/studio/sign-out").headers["set-cookie"]
    visitor.cookies.set(COOKIE, cookie, domain="testserver")
    assert visitor.get("/studio/try").status_code == 303


@pytest.mark.parametrize("path", ["try", "sign-in"])
def test_form_of_another_site_is_refused(path):
    answer = signed_in().post(f"/studio/{path}", data={"key": KEY}, headers={"origin": "http://evil.test"})

    assert answer.status_code == 403


def test_page_learns_whether_its_session_is_known():
    stranger = client(needs_key=True).get("/studio/session")

    assert (stranger.status_code, stranger.text) == (200, "unknown")
    assert stranger.headers["cache-control"] == "no-store"
    assert "set-cookie" not in stranger.headers
    assert signed_in().get("/studio/session").text == "known"


def test_form_of_another_site_signs_nobody_out():
    visitor = signed_in()
    visitor.post("/studio/sign-out", headers={"origin": "http://evil.test"})

    assert visitor.get("/studio/try").status_code == 200


def test_without_keys_everyone_has_a_session():
    visitor = client(needs_key=False)
    answer = visitor.get("/studio/try")

    assert answer.status_code == 200
    assert COOKIE in answer.headers["set-cookie"]
    assert "set-cookie" not in visitor.get("/studio/try").headers


def test_page_runs_only_its_own_scripts():
    answer = signed_in().get("/studio/try")
    policy = answer.headers["content-security-policy"]
    nonces = re.findall(r'<script nonce="([^"]+)"', answer.text)

    assert len(nonces) == answer.text.count("<script") == 2
    assert f"script-src 'self' 'nonce-{nonces[0]}' 'unsafe-eval';" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_nonce_is_never_the_same():
    visitor = signed_in()

    assert visitor.get("/studio/try").text != visitor.get("/studio/try").text


def test_assets_need_no_session_and_are_kept_by_browsers():
    answer = client(needs_key=True).get("/studio/assets/studio.css")

    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]


class TestWebSocket:
    def test_session_opens_it(self):
        with signed_in().websocket_connect("/studio/ws", headers={"origin": "http://testserver"}) as socket:
            assert socket.receive_text() == "anna"

    @pytest.mark.parametrize("origin", ["http://evil.test", "null"])
    def test_page_of_another_site_opens_none(self, origin):
        visitor = signed_in()
        with (
            pytest.raises(WebSocketDisconnect),
            visitor.websocket_connect("/studio/ws", headers={"origin": origin}),
        ):
            pass

    def test_without_a_session_there_is_none(self):
        with pytest.raises(WebSocketDisconnect), client(needs_key=True).websocket_connect("/studio/ws"):
            pass

    def test_sign_out_closes_it(self):
        visitor = signed_in()
        with visitor.websocket_connect("/studio/waiting", headers={"origin": "http://testserver"}) as socket:
            socket.receive_text()
            visitor.post("/studio/sign-out")

            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()

    def test_revoked_key_closes_it_without_a_request(self):
        host = FakeHost(needs_key=True)
        visitor = signed_in(host)
        with visitor.websocket_connect("/studio/waiting", headers={"origin": "http://testserver"}) as socket:
            socket.receive_text()
            host.revoked = True

            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()
        assert visitor.get("/studio/session").text == "unknown"

    def test_page_that_cannot_be_checked_keeps_no_socket_open(self, monkeypatch):
        monkeypatch.setattr(guard, "_SECONDS_BETWEEN_CHECKS", 0.01)
        host, checked = FakeHost(needs_key=True), threading.Event()
        monkeypatch.setitem(globals(), "_broken", _Opened(checked))
        visitor = signed_in(host)
        visitor.get("/studio/broken")
        with visitor.websocket_connect("/studio/waiting", headers={"origin": "http://testserver"}) as socket:
            socket.receive_text()
            assert checked.wait(60)
            host.revoked = True

            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_long_polling_is_no_way_in(self, method):
        answer = signed_in().request(method, "/studio/_nicegui_ws/socket.io/?transport=polling")

        assert answer.status_code == 404
        assert answer.text == "Only WebSockets are answered here."

    def test_revoked_key_opens_none(self):
        host = FakeHost(needs_key=True)
        visitor = signed_in(host)
        host.revoked = True

        with pytest.raises(WebSocketDisconnect), visitor.websocket_connect("/studio/ws"):
            pass


def test_visitor_who_opens_too_many_pages_waits():
    host = FakeHost(needs_key=True)
    visitor = signed_in(host)
    host.wait["page"] = 7
    answer = visitor.get("/studio/try")

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert visitor.get("/studio/assets/studio.css").status_code == 200
    host.wait.clear()
    assert visitor.get("/studio/try").status_code == 200


def test_pages_that_are_open_with_one_key_are_limited(monkeypatch):
    monkeypatch.setattr(guard, "_MOST_PAGES_OF_A_KEY", 2)
    visitor = signed_in()

    assert [visitor.get("/studio/opened").status_code for _ in range(3)] == [200, 200, 429]


def test_key_that_signs_in_too_often_waits():
    host = FakeHost(needs_key=True)
    host.wait["sign-in"] = 7
    answer = client(needs_key=True, host=host).post("/studio/sign-in", data={"key": KEY})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert "Try again in 7 s." in answer.text
    assert "set-cookie" not in answer.headers
