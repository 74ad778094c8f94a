"""The dialog that every edit goes through, in a headless browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driven_studio import CHROMIUM, Served, copied, open_screen, save_proposal, start, stop, watched

ENDLESS = """
import time
from intentmatch.authoring.effect import Comparison
from intentmatch.runtime import steps

def go_on(*_):
    while True:
        steps.report("comparing", 3, 7)
        time.sleep(0.01)

Comparison.go_on = go_on
"""
SLOW_PLAN = """
import time
from pathlib import Path
from intentmatch.authoring.operations.operation import Operation
from intentmatch.runtime import steps

planned = Operation.planned

def when_told(self, workspace):
    while not (workspace.base.parent / "go").exists():
        steps.report("planning", 3, 7)
        time.sleep(0.01)
    return planned(self, workspace)

Operation.planned = when_told
"""
IN_VIEW = """(element) => {
  const {left, top, right, bottom} = element.getBoundingClientRect();
  const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return top >= 0 && bottom <= innerHeight && (element.contains(seen) || seen.contains(element));
}"""
"""Whether the whole height of an element is in view, and nothing covers its middle."""
NO_TIME = "from intentmatch.studio import proposal\nproposal.EFFECT_SECONDS = 0.0\n"


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    """A studio whose time for an effect is up at once, as in a large registry."""
    yield from changed(tmp_path_factory.mktemp("hurried"), NO_TIME)


def changed(folder: Path, code: str) -> Iterator[Served]:
    """A studio that runs some code at its start."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    running = start(copied(folder), environment={"PYTHONPATH": path})
    yield running
    stop(running)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 700)])
def test_save_and_effect_stay_in_view_however_long_the_difference_is(browser, served, width, height):
    with watched(browser, width, height) as page:
        open_screen(page, served, "edit?intent=cancel_order")
        lines = "\n".join(f"undo the purchase number {number} please" for number in range(40))
        page.get_by_label("Add lines, one per row").first.fill(lines)
        page.get_by_role("button", name="Add", exact=True).first.click()
        save = page.locator(".st-proposal").get_by_role("button", name="Save", disabled=False)
        save.wait_for()  # once the difference is there
        page.wait_for_timeout(400)  # the dialog grows
        box = save.bounding_box()

        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        effect = page.locator(".st-proposal [aria-live]").get_by_text("broken")
        effect.wait_for()
        assert effect.evaluate(IN_VIEW)
        assert save.evaluate(IN_VIEW)
        page.get_by_role("button", name="Show them").click()
        page.wait_for_function(f"({IN_VIEW})(document.querySelector('.st-effects'))")


def test_effect_goes_on_when_the_visitor_takes_more_time(browser, hurried):
    with watched(browser) as page:
        open_screen(page, hurried, "edit?intent=cancel_order")
        page.get_by_label("Add lines, one per row").first.fill("undo the purchase")
        page.get_by_role("button", name="Add", exact=True).first.click()
        effect = page.locator(".st-proposal [aria-live]")
        effect.get_by_text("The effect could not be worked out in time.").wait_for()

        effect.get_by_role("button", name="Compare more").click()
        effect.get_by_text("fixed").wait_for()
        assert effect.get_by_role("button", name="Compare more").count() == 0
        assert effect.get_by_text("could not be worked out").count() == 0


def test_edit_is_saved_before_its_effect_is_there(browser, tmp_path):
    with contextmanager(changed)(tmp_path, ENDLESS) as endless, watched(browser) as page:
        open_screen(page, endless, "edit?intent=cancel_order")
        page.get_by_label("Add lines, one per row").first.fill("undo the purchase")
        page.get_by_role("button", name="Add", exact=True).first.click()
        effect = page.locator(".st-proposal [aria-live]")
        effect.get_by_text("You can save before.").wait_for()
        effect.get_by_text("3 of 7").wait_for()
        save_proposal(page)

        assert "undo the purchase" in (endless.folder / "orders.yaml").read_text(encoding="utf-8")


def test_dialog_is_there_before_what_it_shows(browser, tmp_path):
    with contextmanager(changed)(tmp_path, SLOW_PLAN) as slow, watched(browser, 390, 844) as page:
        open_screen(page, slow, "edit?intent=cancel_order")
        page.get_by_label("Add lines, one per row").first.fill("undo the purchase")
        add = page.get_by_role("button", name="Add", exact=True).first
        add.click()
        dialog = page.locator(".st-proposal")
        dialog.get_by_text("Working out what changes.").wait_for()
        dialog.get_by_text("3 of 7").wait_for()
        save, cancel = (dialog.get_by_role("button", name=name) for name in ("Save", "Cancel"))
        assert save.is_disabled()
        page.wait_for_timeout(400)  # the dialog grows
        assert abs(save.bounding_box()["y"] - cancel.bounding_box()["y"]) < 4
        dialog.get_by_role("button", name="Cancel").click()
        dialog.wait_for(state="detached")

        add.click()
        dialog.get_by_text("3 of 7").wait_for()
        (tmp_path / "go").touch()
        dialog.locator(".st-sentence", has_text="Add an example of cancel_order").wait_for()
        save_proposal(page)

        assert "undo the purchase" in (slow.folder / "orders.yaml").read_text(encoding="utf-8")
