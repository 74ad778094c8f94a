"""Two intents that take each other's lines: from the issue to their lines, and to one intent, in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from driven_studio import JARGON, open_screen, save_proposal, start, stop, watched

from intentmatch import Matcher

TEXT = """language: en
intents:
  stop_order:
    utterances:
      - cancel my order
      - stop my purchase
      - I want to cancel the order
      - please cancel what I bought
  drop_order:
    utterances:
      - cancel the order please
      - stop the purchase now
      - I would like to cancel my order
      - please cancel my purchase
  greet:
    utterances: [hello there, good morning, hi]
"""


@pytest.mark.end_to_end
def test_overlap_is_compared_and_merged_after_a_choice(browser, tmp_path: Path):
    folder = tmp_path / "intents"
    folder.mkdir()
    (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    served = start(folder)
    try:
        with watched(browser) as page:
            open_screen(page, served, "issues")
            card = page.locator("article", has_text="Many examples of two intents")
            card.get_by_text("Give both more examples like these").wait_for()  # merging is the last remedy
            card.get_by_role("button", name="Merge them …").wait_for()
            card.get_by_role("button", name="Compare their lines").click()
            page.wait_for_url("**/see?view=overlaps&**")
            page.get_by_role("button", name="Merge them …").click()
            assert JARGON.findall(page.locator(".st-dialog").inner_text()) == []
            assert (folder / "bot.yaml").read_text(encoding="utf-8") == TEXT
            page.get_by_role("button", name="Keep drop_order").click()
            page.locator(".st-sentence", has_text="Merge stop_order into drop_order").wait_for()
            save_proposal(page)
    finally:
        stop(served)

    registry = Matcher.load(folder).registry
    assert [intent.name for intent in registry] == ["drop_order", "greet"]
    assert len(registry["drop_order"].utterances) == 8
