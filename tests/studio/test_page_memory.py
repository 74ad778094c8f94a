"""What a page held is freed once the page is closed; nothing of the studio keeps it."""

from __future__ import annotations

import gc
import weakref

import pytest
from driven_studio import REGISTRY
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")


@pytest.mark.parametrize(
    "path", ["try?message=where is my order", "edit?intent=refund", "edit?file=orders.yaml", "history"]
)
def test_closed_page_is_freed(path):
    app = create_app(Matcher.load(REGISTRY), studio=True, open_studio=True, keys=())
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get(f"/studio/{path}").status_code == 200
        opened = [weakref.ref(one) for one in nicegui.Client.instances.values()]
        nicegui.Client.prune_instances(client_age_threshold=-1)
        client.get("/healthz")
        gc.collect()

        assert opened
        assert [one() for one in opened] == [None] * len(opened)
