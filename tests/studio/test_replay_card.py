"""History replays the messages of the last days by a revision, and says what differs by cause."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven_studio import Served, copied, open_screen, save_proposal, serious_findings, start, stop, watched

pytestmark = pytest.mark.end_to_end

REFUSED = "have you dispatched my stuff already"
MESSAGES = (REFUSED, "where is my order", REFUSED, "أين طلبي")


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    """A studio that has answered messages before a line was added that changes an answer."""
    settings = ("--set", "inbox=answers.sqlite", "--set", "inbox_sample=1")
    running = start(copied(tmp_path_factory.mktemp("replay")), *settings, environment={"TZ": "Asia/Tokyo"})
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

        # Said once: the count of messages, which changes several times a second, is not announced.
        assert page.get_by_role("status").all_inner_texts() == ["2 of 4 messages would be answered otherwise."]
        assert card.locator(".st-lines li").count() == 1
        assert REFUSED in card.locator(".st-lines li").inner_text()
        assert card.get_by_text("2 times").is_visible()
        assert card.get_by_text("no intent → order_status").is_visible()
        heading = card.get_by_role("heading", level=3)
        assert heading.inner_text() == f"Its nearest example is new: “{REFUSED}” orders.yaml:14"
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

    card.get_by_text("nothing valid before version").wait_for()


def test_failure_is_announced(page, served):
    open_screen(page, served, "history")
    page.locator(".st-intent").last.click()
    page.get_by_role("region", name="Replay").get_by_role("button", name="Replay").click()

    page.get_by_role("status").filter(has_text="nothing valid before version").wait_for(state="attached")


def test_restore_names_files_as_the_history_does(page, served):
    open_screen(page, served, "history")
    page.locator(".st-intent").last.click()
    page.get_by_role("button", name="Restore").click()
    dialog = page.locator(".st-proposal")
    dialog.locator(".st-effect, .st-effects").first.wait_for(state="attached")

    assert dialog.locator(".st-sentence p").first.inner_text() == "Remove an example of order_status"
    dialog.get_by_text("Show the lines of the files").click()
    assert "--- orders.yaml" in dialog.locator(".st-diff").inner_text()
    assert "orders.yaml:" in dialog.inner_text()
    assert str(served.folder) not in dialog.inner_text()
    dialog.get_by_role("button", name="Cancel").click()


def test_audit_log_is_in_local_time_and_fits_a_phone(browser, served):
    with watched(browser, 360) as page:
        open_screen(page, served, "history")
        row = page.locator(".st-table", has=page.get_by_role("columnheader", name="who")).locator("tbody tr").first
        row.wait_for()

        told = row.locator("td").first.inner_text()
        assert told[:16] == page.locator(".st-intent time").first.inner_text()
        assert row.locator("td.st-cell").evaluate_all("all => all.every(one => one.clientWidth >= 60)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
