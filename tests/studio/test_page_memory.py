"""What a page held is freed once the page is closed; nothing of the studio keeps it."""

from __future__ import annotations

import gc
import time
import weakref

import pytest
from driven_studio import PATIENCE, REGISTRY
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def client():
    app = create_app(Matcher.load(REGISTRY), studio=True, open_studio=True, keys=())
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


# A page with a line in its address waits for the browser while it is drawn, so here it is closed before it is complete.
@pytest.mark.parametrize(
    "path",
    [
        "try?message=where is my order",
        "edit?intent=refund",
        "edit?file=orders.yaml",
        "edit?file=orders.yaml&line=5",
        "see?view=languages",
        "inbox",
        "issues",
        "history",
    ],
)
def test_closed_page_is_freed(client, path):
    opened = []
    for _ in range(4):
        assert client.get(f"/studio/{path}").status_code == 200
        opened += [weakref.ref(one) for one in nicegui.Client.instances.values()]
        nicegui.Client.prune_instances(client_age_threshold=-1)
    assert len(opened) == 4
    end = time.monotonic() + PATIENCE
    while alive(opened) > 1 and time.monotonic() < end:
        time.sleep(0.05)

    assert alive(opened) <= 1, "tasks that have begun may hold the newest page for a moment, but no other"


def alive(opened: list[weakref.ref]) -> int:
    gc.collect()
    return sum(one() is not None for one in opened)
