"""A studio and a headless browser for each test file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven_studio import CHROMIUM, Served, copied, start, stop, watched
from hardening.conftest import rounds  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium. One for a file, because Playwright keeps an event loop in the main thread while it runs."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """A studio without keys, for all files. Tests share its registry: each changes lines of its own."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    running = start(copied(tmp_path_factory.mktemp("studio")), "--set", "inbox=misses.sqlite")
    yield running
    stop(running)


@pytest.fixture
def page(browser, served):
    """An empty page of desktop width, which must not report an error."""
    with watched(browser) as opened:
        yield opened


@pytest.fixture
def unopened(monkeypatch):
    """A page that no browser has opened, drawn without an event loop."""
    nicegui = pytest.importorskip("nicegui", reason="the extra studio is not installed")
    # NiceGUI keeps what waits for a loop, and awaits it whenever a server starts later in this process.
    monkeypatch.setattr(nicegui.background_tasks, "create_or_defer", lambda waiting, **_: waiting.close())
    with nicegui.Client(nicegui.page.page("")) as opened:
        yield opened
    opened.delete()
