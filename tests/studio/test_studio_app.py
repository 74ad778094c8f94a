"""The frame of every screen: navigation, theme, shortcuts, and the regions that screen readers need."""

from __future__ import annotations

from pathlib import Path

import pytest
from driven_studio import copied, open_screen, start, stop, watched

SCREENS = ("Try", "Edit", "See", "Inbox", "Review", "Issues", "History")


def test_start_opens_the_first_screen_with_a_link_to_each_other(page, served):
    page.goto(served.url)

    assert page.url == f"{served.url}/try"
    assert tuple(page.locator("nav a span").all_inner_texts()) == SCREENS


def test_keys_open_each_screen(page, served):
    keys = {"Try": "t", "Edit": "e", "See": "s", "Inbox": "i", "Review": "r", "Issues": "u", "History": "h"}
    for screen in SCREENS:
        page.goto(f"{served.url}/{'edit' if screen == 'History' else 'history'}")
        page.locator("h1").wait_for()
        page.wait_for_function("window.socket?.connected")

        page.keyboard.press("g")
        page.keyboard.press(keys[screen])
        page.wait_for_url(f"{served.url}/{screen.lower()}*")

        assert page.locator('nav a[aria-current="page"]').inner_text().split()[-1] == screen


def test_question_mark_lists_the_keys_and_nothing_is_lost_on_the_way(page, served):
    open_screen(page, served, "history")
    page.keyboard.press("?")

    page.get_by_text("Open Inbox").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_text("Open Inbox").wait_for(state="detached")


def test_keys_in_a_text_field_are_text(page, served):
    open_screen(page, served, "try")
    page.get_by_label("Message", exact=True).fill("")
    page.keyboard.type("g e?")

    assert page.get_by_label("Message", exact=True).input_value() == "g e?"
    assert page.url == f"{served.url}/try"


def test_skip_link_is_the_first_that_the_keyboard_reaches(page, served):
    open_screen(page, served, "history")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.className") == "st-main"


def test_page_has_one_main_region(page, served):
    open_screen(page, served, "history")

    assert page.evaluate("document.querySelectorAll('main').length") == 1
    assert page.evaluate("document.querySelector('main .st-main').ariaLabel") == "History"


def test_theme_is_chosen_and_kept(page, served):
    open_screen(page, served, "history")
    dark = "document.body.classList.contains('body--dark')"
    assert page.evaluate(dark) is False
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(dark) is True

    open_screen(page, served, "try")
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(dark) is True


def test_pages_load_nothing_from_elsewhere(page, served):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_screen(page, served, "edit?file=orders.yaml")

    host = served.url.removesuffix("/studio")
    assert asked
    assert [url for url in asked if not url.startswith((host, "data:", "blob:"))] == []


def test_unknown_screen_is_an_error_page_with_a_policy(browser, served):
    with watched(browser, expected=("404",)) as page:
        answer = page.goto(f"{served.url}/nothing")

        assert answer.status == 404
        assert "script-src 'self' 'nonce-" in answer.headers["content-security-policy"]


@pytest.mark.full_length
def test_reloads_do_not_add_up_in_memory(page, served):
    """The 1,000 reloads of a long session, in small: what a page held is given back some seconds after it is gone."""
    address = f"{served.url}/try?message=where is my order"

    def reload(times: int) -> float:
        for _ in range(times):
            page.goto(address)
            page.wait_for_function("window.socket?.connected")
        status = Path(f"/proc/{served.process.pid}/statm")
        return int(status.read_text().split()[1]) * 4096 / 1e6 if status.exists() else 0.0

    warm = reload(12)

    assert reload(12) - warm < 25


def test_calls_of_authors_need_a_key_where_the_pages_need_none(page, served, tmp_path):
    """Or a page of another site could write through the browser; the answer says what to do."""
    answer = page.request.get(f"{served.url.removesuffix('/studio')}/registry")
    assert answer.status == 401
    assert "this server has none" in answer.json()["detail"]
    assert "INTENTMATCH_AUTHOR_KEYS=NAME=KEY" in answer.json()["detail"]

    running = start(copied(tmp_path), environment={"INTENTMATCH_AUTHOR_KEYS": "me=a-key-of-my-own-1234567890"})
    try:
        call = f"{running.url.removesuffix('/studio')}/registry"
        assert page.request.get(call, headers={"X-API-Key": "a-key-of-my-own-1234567890"}).ok
        assert page.request.get(call, headers={"X-API-Key": "another"}).status == 401
        open_screen(page, running, "edit")  # still without a key
        page.get_by_text("4 intents").first.wait_for()
    finally:
        stop(running)
