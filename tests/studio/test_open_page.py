"""An open page answers only while its visitor may see it, and pages cannot be had in any number."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from hashlib import sha256
from typing import Literal

import pytest
from driven_studio import REGISTRY
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.auth.access import Access
from intentmatch.server.auth.api_keys import ANY_BOT
from intentmatch.storage.postgres.keys import StoredKey

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")

ORIGIN = "http://localhost"


@pytest.fixture(scope="module")
def running() -> Iterator[TestClient]:
    app = create_app(Matcher.load(REGISTRY), studio=True, keys=("plain",), author_keys=("anna=hers",), authoring=True)
    with TestClient(app) as client:
        yield client


@pytest.fixture
def server(running: TestClient) -> Iterator[TestClient]:
    """A browser without a session."""
    yield browser(running)
    nicegui.Client.prune_instances(client_age_threshold=-1)


def browser(running: TestClient) -> TestClient:
    found = TestClient(running.app, base_url=ORIGIN, follow_redirects=False)
    found.portal = running.portal  # one event loop for all, as in a server
    return found


@pytest.fixture
def access(running: TestClient) -> Access:
    """The keys of the server, to which the author key `temporary` is added."""
    found: Access = running.app.state.access
    found.use_stored([stored("author")])
    return found


def stored(role: Literal["match", "author"]) -> StoredKey:
    return StoredKey(sha256(b"temporary").digest(), ANY_BOT, role, "bob", datetime.now(timezone.utc), None)


class Page:
    """A page of a browser, with its socket."""

    def __init__(self, server: TestClient, screen: str) -> None:
        text = server.get(f"/studio/{screen}").text
        (self.id,) = set(re.findall(r"client_id'?:? ?['\"]([0-9a-f-]{36})", text)) or {""}

    @property
    def is_kept(self) -> bool:
        return self.id in nicegui.Client.instances

    @contextmanager
    def connected(self, server: TestClient) -> Iterator[Page]:
        query = f"EIO=4&transport=websocket&client_id={self.id}&tab_id={secrets.token_hex()}&document_id=1"
        address = f"ws://localhost/studio/_nicegui_ws/socket.io/?{query}&implicit_handshake=true&next_message_id=0"
        with server.websocket_connect(address, headers={"origin": ORIGIN, "upgrade": "websocket"}) as self._socket:
            assert self._socket.receive_text().startswith("0")
            self._socket.send_text("40")
            assert self._socket.receive_text().startswith("40")
            yield self

    def press(self, keys: str) -> None:
        """Send keys as `studio.js` does."""
        client = nicegui.Client.instances.get(self.id)
        listener, sender = next(
            (listener, element.id)
            for element in client.elements.values()
            for listener in element._event_listeners.values()
            if listener.type == "studio_keys"
        )
        event = {"client_id": self.id, "id": sender, "listener_id": listener.id, "args": [json.dumps(keys)]}
        self._socket.send_text(f'42["event",{json.dumps(event)}]')

    def answers(self, words: str) -> bool:
        """Whether the page shows words before its socket is closed."""
        try:
            while words not in (text := self._socket.receive_text()):
                if text == "41":  # what `studio.js` loads the page anew for
                    return False
                if text == "2":
                    self._socket.send_text("3")
        except WebSocketDisconnect:
            return False
        return True


def sign_in(server: TestClient, key: str) -> int:
    return server.post("/studio/sign-in", data={"key": key}).status_code


def test_page_answers_while_its_session_lasts(server: TestClient) -> None:
    assert sign_in(server, "hers") == 303
    with Page(server, "history").connected(server) as page:
        page.press("?")

        assert page.answers("Keyboard shortcuts")


@pytest.mark.parametrize("screen", ["try", "edit", "inbox", "review", "issues", "history"])
def test_sign_out_closes_open_pages_and_their_sockets(server: TestClient, screen: str) -> None:
    sign_in(server, "hers")
    with Page(server, screen).connected(server) as page:
        assert server.post("/studio/sign-out").status_code == 303

        assert not page.answers("nothing is shown any more")
        assert not page.is_kept


@pytest.mark.parametrize("screen", ["try", "inbox", "review", "history"])
def test_page_of_a_revoked_key_answers_nothing(server: TestClient, access: Access, screen: str) -> None:
    sign_in(server, "temporary")
    with Page(server, screen).connected(server) as page:
        access.use_stored([])
        page.press("?")

        assert not page.answers("Keyboard shortcuts")
        assert not page.is_kept


def test_page_of_a_revoked_key_is_closed_without_a_request(server: TestClient, access: Access) -> None:
    sign_in(server, "temporary")
    with Page(server, "history").connected(server) as page:
        access.use_stored([])

        assert not page.answers("nothing is shown any more")


def test_page_is_closed_when_the_role_of_its_key_changes(server: TestClient, access: Access) -> None:
    sign_in(server, "temporary")
    with Page(server, "history").connected(server) as page:
        access.use_stored([stored("match")])

        assert not page.answers("nothing is shown any more")
    assert "This screen takes a key for authors." in server.get("/studio/history").text


def test_revoked_key_opens_no_page(server: TestClient, access: Access) -> None:
    sign_in(server, "temporary")
    assert server.get("/studio/history").status_code == 200
    access.use_stored([])

    assert server.get("/studio/history").headers["location"] == "/studio/sign-in?next=/history"
    assert server.get("/studio/session").text == "unknown"


def test_browser_writes_nothing_into_the_log(server: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    sign_in(server, "hers")
    with Page(server, "try").connected(server) as page:
        message = {"client_id": page.id, "level": "error", "message": "forged"}
        page._socket.send_text(f'42["log",{json.dumps(message)}]')
        page.press("?")

        assert page.answers("Keyboard shortcuts")
    assert "forged" not in caplog.text


@pytest.mark.parametrize("path", ["_nicegui/x", "_nicegui/3.0/components/x", "assets/x", "nothing", "bots/x/y/z"])
def test_unknown_address_builds_no_page(server: TestClient, path: str) -> None:
    before = len(nicegui.Client.instances)
    for _ in range(3):
        assert server.get(f"/studio/{path}").status_code in (303, 404)
    sign_in(server, "hers")
    for _ in range(3):
        assert server.get(f"/studio/{path}").status_code == 404

    assert len(nicegui.Client.instances) == before


def test_one_key_cannot_sign_others_out(running: TestClient, server: TestClient) -> None:
    sign_in(server, "hers")
    other = browser(running)

    answers = [sign_in(other, "plain") for _ in range(40)]

    assert answers[0] == 303
    assert answers[-1] == 429
    assert server.get("/studio/session").text == "known"
