"""The frame of every screen: navigation, theme, shortcuts, and the regions that screen readers need."""

from __future__ import annotations

import pytest

SCREENS = ("Try", "Edit", "See", "Inbox", "Issues", "History")


def test_start_opens_the_first_screen_with_a_link_to_each_other(page, served):
    page.goto(served.url)

    assert page.url == f"{served.url}/try"
    assert tuple(page.locator("nav a span").all_inner_texts()) == SCREENS


@pytest.mark.parametrize("screen", SCREENS)
def test_keys_open_each_screen(page, served, screen):
    keys = {"Try": "t", "Edit": "e", "See": "s", "Inbox": "i", "Issues": "u", "History": "h"}
    page.goto(f"{served.url}/{'edit' if screen == 'Try' else 'try'}")
    page.locator("h1").wait_for()
    page.wait_for_function("window.socket?.connected")

    page.keyboard.press("g")
    page.keyboard.press(keys[screen])
    page.wait_for_url(f"{served.url}/{screen.lower()}*")

    assert page.locator('nav a[aria-current="page"]').inner_text().split()[-1] == screen
