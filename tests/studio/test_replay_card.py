"""History replays the messages of the last days by a revision, and says what differs by cause."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven_studio import Served, copied, open_screen, save_proposal, serious_findings, start, stop, watched

REFUSED = "have you dispatched my stuff already"
MESSAGES = (REFUSED, "where is my order", REFUSED, "أين طلبي")


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    """A studio that has answered messages before a line was added that changes an answer."""
    settings = ("--set", "inbox=answers.sqlite", "--set", "inbox_sample=1")
    running = start(copied(tmp_path_factory.mktemp("replay")), *settings)
    with watched(browser) as page:
        open_screen(page, running, "edit?intent=order_status")
        for text in MESSAGES:
            page.request.post(f"{running.url.removesuffix('/studio')}/match", data={"text": text})
        page.get_by_label("Add lines, one per row").first.fill(REFUSED)
        page.get_by_role("button", name="Add", exact=True).first.click()
        save_proposal(page)
    yield running
    stop(running)


@pytest.mark.parametrize(("width", "dark"), [(375, True), (1280, False)], ids=["phone-dark", "desktop-light"])
def test_differences_are_grouped_by_cause(browser, served, width, dark):
    with watched(browser, width, dark=dark) as page:
        open_screen(page, served, "history")
        page.locator(".st-intent").first.click()
        card = page.get_by_role("region", name="Replay")
        card.get_by_role("button", name="Replay").click()
        card.get_by_text("2 of 4 messages would be answered otherwise.").wait_for()

        assert card.locator(".st-lines li").count() == 1
        assert REFUSED in card.locator(".st-lines li").inner_text()
        assert card.get_by_text("2 times").is_visible()
        assert card.get_by_text("out of scope → order_status").is_visible()
        heading = card.get_by_role("heading", level=3)
        assert heading.inner_text() == f"Its nearest utterance is new: “{REFUSED}” orders.yaml:14"
        assert heading.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") < 20
        assert card.get_by_text("order_status", exact=False).first.is_visible()
        assert serious_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

        card.get_by_role("link", name="Try").click()
        page.locator(".st-said", has_text=REFUSED).wait_for()


def test_registry_in_use_answers_as_the_newest_revision(page, served):
    open_screen(page, served, "history")
    page.locator(".st-intent").first.click()
    card = page.get_by_role("region", name="Replay")
    card.get_by_label("Compared with").click()
    page.get_by_role("option", name="the registry in use").click()
    card.get_by_role("button", name="Replay").click()

    card.get_by_text("0 of 4 messages would be answered otherwise.").wait_for()


def test_first_revision_says_why_it_cannot_be_compared(page, served):
    open_screen(page, served, "history")
    page.locator(".st-intent").last.click()
    card = page.get_by_role("region", name="Replay")
    card.get_by_role("button", name="Replay").click()

    card.get_by_text("nothing valid before revision").wait_for()
