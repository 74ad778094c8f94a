"""The studio of a server: people sign in with its keys, and see what their key opens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from driven_studio import CHROMIUM, REGISTRY, Served, open_screen, save_proposal, serious_findings, start, stop, watched

from intentmatch.cli.commands import cli
from intentmatch.core import plugins

KEYS = {"INTENTMATCH_KEYS": "plain", "INTENTMATCH_AUTHOR_KEYS": "anna=hers", "INTENTMATCH_ADMIN_KEYS": "root"}


@pytest.fixture(scope="module")
def guarded(browser, tmp_path_factory) -> Iterator[Served]:
    """`serve --studio` with a key of each role."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    folder = tmp_path_factory.mktemp("guarded")
    registry = shutil.copytree(REGISTRY, folder / "intents")
    running = start(registry, "--studio", command="serve", environment=KEYS)
    yield running
    stop(running)


def sign_in(page, served: Served, key: str) -> None:
    page.goto(served.url)
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.end_to_end
def test_wrong_key_stays_at_the_door(browser, guarded):
    with watched(browser, expected=("401",)) as page:
        sign_in(page, guarded, "wrong")

        assert page.get_by_role("alert").inner_text() == "This key is not valid."
        assert serious_findings(page) == []
        assert "wrong" not in page.url


@pytest.mark.end_to_end
@pytest.mark.parametrize(("key", "screens", "audit"), [("plain", 1, False), ("hers", 7, False), ("root", 7, True)])
def test_each_role_sees_its_screens(browser, guarded, key, screens, audit):
    with watched(browser) as page:
        sign_in(page, guarded, key)
        page.locator("nav a").first.wait_for()

        assert page.locator("nav a").count() == screens
        open_screen(page, guarded, "history")
        assert page.get_by_text("This screen takes a key for authors.").is_visible() is (screens == 1)
        page.locator("main [aria-busy=true]").wait_for(state="detached")
        assert (page.locator("main .st-stack[aria-busy]").count() > 0) is audit
        assert key not in page.url


@pytest.mark.end_to_end
def test_plain_key_tries_messages_and_changes_nothing(browser, guarded):
    with watched(browser) as page:
        sign_in(page, guarded, "plain")
        page.get_by_label("Message", exact=True).fill("where is my order")
        page.locator(".st-verdict").wait_for()

        assert page.get_by_role("button", name="belongs here").count() == 0
        assert page.get_by_role("button", name="Pin as test").count() == 0


@pytest.mark.end_to_end
def test_revision_has_the_name_of_the_key_and_signing_out_closes_open_pages(browser, guarded):
    with watched(browser, expected=("WebSocket",)) as page:
        sign_in(page, guarded, "hers")
        open_screen(page, guarded, "edit?intent=refund")
        page.get_by_label("Add lines, one per row").first.fill("pay me back")
        page.get_by_role("button", name="Add", exact=True).first.click()
        save_proposal(page)
        open_screen(page, guarded, "history")
        assert page.locator(".st-intent").first.inner_text().startswith("Add a line to refund\nanna")

        other = page.context.new_page()
        open_screen(other, guarded, "try")
        other.get_by_role("button", name="Sign out anna").click()
        other.get_by_label("Key").wait_for()
        page.get_by_label("Key").wait_for()


@pytest.mark.end_to_end
def test_log_holds_no_key(guarded):
    log = guarded.log.read_text(encoding="utf-8")

    assert "POST /studio/sign-in" in log
    assert not [key for key in ("plain", "hers", "root") if key in log]


def test_several_processes_are_refused(tmp_path):
    shutil.copytree(REGISTRY, tmp_path / "intents")
    words = ["serve", str(tmp_path / "intents"), "--studio", "--workers", "2", "--port", "0"]
    answer = CliRunner().invoke(cli, words, env=KEYS)

    assert answer.exit_code == 2
    assert "the studio takes one process" in answer.output


def test_missing_extra_is_named(monkeypatch):
    installed = plugins.installed
    monkeypatch.setattr(plugins, "installed", lambda module: module != "nicegui" and installed(module))
    answer = CliRunner().invoke(cli, ["studio", str(REGISTRY)])

    assert answer.exit_code == 5
    assert "intentmatch[studio]" in answer.output
