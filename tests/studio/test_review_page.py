"""The screen Review, used by keys alone in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven_studio import Served, copied, open_screen, serious_findings, start, stop

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    """A studio whose inbox keeps every answer."""
    folder = copied(tmp_path_factory.mktemp("review"))
    running = start(folder, "--set", "inbox=answers.sqlite", "--set", "inbox_sample=1")
    yield running
    stop(running)


def test_answers_are_judged_by_keys_alone(page, served):
    open_screen(page, served, "review")
    page.get_by_text("No answer is sampled yet").wait_for(timeout=60_000)
    for text in ("cancel my order", "do you sell llamas"):
        page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": text})
    open_screen(page, served, "review")
    page.get_by_text("2 questions open").wait_for(timeout=60_000)
    assert serious_findings(page) == []
    page.keyboard.press("y")
    page.get_by_text("1 question open").wait_for()
    page.keyboard.press("u")
    page.get_by_text("2 questions open").wait_for()
    page.keyboard.press("o")
    page.get_by_text("1 question open").wait_for()
    page.keyboard.press("m")
    page.get_by_label("Intent", exact=True).fill("refund")
    page.get_by_role("option", name="refund").click()

    page.get_by_text("Every message of the sample is judged").wait_for()
    page.get_by_text("28 to go").wait_for()
    assert "Traceback" not in served.log.read_text(encoding="utf-8")
