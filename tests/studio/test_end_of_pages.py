"""Pages end with the server that sent them, in a process that goes on."""

from __future__ import annotations

import gc
import weakref

import pytest
from driven_studio import REGISTRY
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")


def test_open_page_is_freed_when_the_server_stops():
    app = create_app(Matcher.load(REGISTRY), studio=True, open_studio=True, keys=())
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/studio/history").status_code == 200
        (page,) = map(weakref.ref, nicegui.Client.instances.values())

    assert not nicegui.Client.instances
    gc.collect()
    assert page() is None
