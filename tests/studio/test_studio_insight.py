"""See, Inbox and Issues, used as a person would: in Chromium, in two languages, at two widths, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from driven_studio import (
    JARGON,
    SPOKEN,
    Served,
    copied,
    open_difference,
    open_screen,
    save_proposal,
    serious_findings,
    start,
    stop,
    watched,
)

from intentmatch.authoring.workspace import Workspace

pytestmark = pytest.mark.end_to_end

READY = {
    "try?message=where is my order": ".st-candidate",
    "try?message=volcanoes of iceland": ".st-candidate",
    "edit?intent=cancel_order": ".st-line",
    "see": ".st-map canvas",
    "see?view=overlaps": ".st-two, .st-empty",
    "see?view=confusion": ".st-two, .st-empty",
    "see?view=target": ".st-curve canvas",
    "see?view=languages": ".st-coverage td",
    "see?view=growth": ".st-growth",
    "inbox": ".st-card, .st-empty",
    "review": ".st-card, .st-empty",
    "issues": "article",
    "history": ".st-empty",
}
"""What each screen shows once it is complete."""

# A line that belongs to `refund`, and one that is there twice.
STRAYED = "        - please give me my money back now\n        - cancel my order\n"
MISSED = ("do you ship to norway", "is shipping to norway possible", "هل تشحنون إلى النرويج", "what a lovely day")


def yaml(served) -> str:
    return (served.folder / "orders.yaml").read_text(encoding="utf-8")


TOP_OF_OPENED = """() => {
  const {top, height} = document.querySelector('.st-opened').getBoundingClientRect();
  return height > 0 && top > 0 && top < innerHeight / 2;
}"""


def in_view(page) -> bool:
    """Whether what a list has opened is shown in the upper half of the window."""
    return page.evaluate(f"({TOP_OF_OPENED})()")


def opened(page, served, path: str) -> None:
    open_screen(page, served, path)
    page.locator(READY[path]).first.wait_for()


def miss(page, served, *messages: str) -> None:
    for text in messages:
        page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": text})


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    """A studio whose file has lines to mend."""
    folder = copied(tmp_path_factory.mktemp("insight"))
    text = (folder / "orders.yaml").read_text(encoding="utf-8")
    first = "        - cancel my order\n"
    (folder / "orders.yaml").write_text(text.replace(first, first + STRAYED), encoding="utf-8")
    running = start(folder, "--set", "inbox=misses.sqlite")
    yield running
    stop(running)


@pytest.mark.parametrize(("width", "dark"), [(375, True), (1280, False)], ids=["phone-dark", "desktop-light"])
def test_screens_fit_the_width_and_axe_finds_nothing_serious(browser, served, width, dark):
    with watched(browser, width, dark=dark) as page:
        miss(page, served, *MISSED)
        for path in READY:
            opened(page, served, path)

            assert serious_findings(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert JARGON.findall(page.evaluate(SPOKEN)) == [], path
            page.keyboard.press("Escape")  # no field has the focus then
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("?")
            help_of_keys = page.locator(".st-dialog")
            help_of_keys.wait_for()
            assert JARGON.findall(help_of_keys.inner_text()) == [], path


DATA = """(series) => {
  const chart = getElement(Number(document.querySelector('.st-map').id.slice(1))).chart;
  const data = chart.getOption().series[series].data;
  return Array.from({length: data.length / 3}, (_, number) => data.slice(3 * number, 3 * number + 3));
}"""
POINT = f"""([series, number]) => {{
  const element = document.querySelector('.st-map'), box = element.getBoundingClientRect();
  const chart = getElement(Number(element.id.slice(1))).chart;
  const [x, y] = chart.convertToPixel({{seriesIndex: series}}, Array.from(({DATA})(series).at(number).slice(0, 2)));
  return [box.x + x, box.y + y];
}}"""


class TestSee:
    def test_click_on_the_map_opens_the_line(self, page, served):
        opened(page, served, "see")
        page.get_by_text("are taken by another intent").wait_for()
        point = page.evaluate(POINT, [0, 0])
        page.mouse.click(*point)

        page.wait_for_url("**/edit?file=orders.yaml&line=8")

    def test_click_opens_the_line_under_other_colours_with_an_intent_chosen(self, page, served):
        opened(page, served, "see")
        page.get_by_role("button", name="By language").click()
        page.get_by_role("combobox", name="Intent").fill("refund")
        page.get_by_role("option", name="refund").click()
        page.wait_for_function(f"() => ({DATA})(2).length === 8")  # after a series for each language
        line = page.evaluate(f"() => window.mapLines[({DATA})(2).at(-1)[2]]").split("\n")[0]
        page.mouse.click(*page.evaluate(POINT, [2, 7]))

        page.wait_for_url("**/edit?file=*&line=*")
        place = parse_qs(urlparse(page.url).query)
        file = (served.folder / place["file"][0]).read_text(encoding="utf-8")
        assert line in file.splitlines()[int(place["line"][0]) - 1]

    def test_tabs_are_chosen_by_keys_and_kept_in_the_address(self, page, served):
        opened(page, served, "see")
        page.get_by_role("tab", name="Map").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")

        page.wait_for_url("**/see?view=overlaps")
        page.locator(READY["see?view=overlaps"]).first.wait_for()

    def test_line_moves_to_the_intent_that_it_is_near(self, page, served):
        before = yaml(served)
        opened(page, served, "see?view=overlaps")
        page.get_by_role("button", name="cancel_order · refund").click()
        page.get_by_role("button", name="Move to refund: “please give me my money back now”").first.click()
        open_difference(page)
        diff = page.locator(".st-diff")

        assert "-        - please give me my money back now" in diff.inner_text()
        page.get_by_role("button", name="Cancel", exact=True).click()
        assert yaml(served) == before

    def test_moved_target_shows_the_answers_that_change(self, page, served):
        opened(page, served, "see?view=target")
        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")

        page.get_by_role("heading", name="What changes").wait_for()
        assert page.get_by_text("Precision wanted: 50.0%").is_visible()
        page.get_by_role("button", name="Use this target").click()
        open_difference(page)
        assert "precision=0.5" in page.locator(".st-diff .add").all_inner_texts()[-1]

    def test_point_is_dragged_along_the_curve(self, page, served):
        opened(page, served, "see?view=target")
        where = """(series) => {
          const element = document.querySelector('.st-curve'), box = element.getBoundingClientRect();
          const chart = getElement(Number(element.id.slice(1))).chart, data = chart.getOption().series[series].data;
          const [x, y] = chart.convertToPixel({gridIndex: 0}, data[Math.floor(data.length / 3)]);
          return [box.x + x, box.y + y];
        }"""
        page.wait_for_function(
            "() => getElement(Number(document.querySelector('.st-curve').id.slice(1)))?.chart?.studioDrag"
        )
        page.mouse.move(*page.evaluate(where, 2))
        page.mouse.down()
        page.mouse.move(*page.evaluate(where, 0), steps=4)
        page.mouse.up()

        page.get_by_role("heading", name="What changes").wait_for()

    def test_matrix_of_languages_links_to_the_intents(self, page, served):
        opened(page, served, "see?view=languages")

        row = page.locator(".st-coverage tr", has_text="refund")
        assert row.locator("td").all_inner_texts()[1:3] == ["3", "5"]
        assert row.get_by_role("link").get_attribute("href").endswith("/edit?intent=refund")

    def test_choice_on_a_phone_shows_what_it_opens(self, browser, served):
        with watched(browser, 390) as page:
            opened(page, served, "see?view=overlaps")
            assert not in_view(page)
            page.locator(".st-choice").last.click()
            page.wait_for_function(TOP_OF_OPENED)

    def test_matrix_on_a_phone_has_cells_that_can_be_read(self, browser, served):
        with watched(browser, 390) as page:
            opened(page, served, "see?view=confusion")
            page.locator(".st-matrix canvas").first.wait_for()
            width = page.locator(".st-matrix").evaluate("(e) => e.getBoundingClientRect().width")

            # Half of the names are out of sight on a screen that is as narrow.
            assert width >= 170 + 30 * 4
            assert page.locator(".st-scroll").evaluate("(e) => getComputedStyle(e).overflowX") == "auto"


class TestInbox:
    def test_triage_by_keys_alone_becomes_one_revision(self, page, served):
        miss(page, served, *MISSED)
        opened(page, served, "inbox")
        page.locator("article").first.wait_for()
        groups = page.locator("article").count()
        for _ in range(groups - 1):
            page.keyboard.press("i")
        page.locator(".st-cluster.ignore").nth(groups - 2).wait_for()
        page.keyboard.press("k")
        page.keyboard.press("j")
        page.keyboard.press("n")
        page.get_by_label("Name", exact=True).fill("shipping_abroad")
        page.keyboard.press("Enter")
        page.locator(".st-cluster.new").wait_for()
        page.keyboard.press("w")
        open_difference(page)
        assert "shipping_abroad" in page.locator(".st-diff").inner_text()
        save_proposal(page)

        page.get_by_text("The inbox is empty").wait_for()
        assert "shipping_abroad:" in yaml(served)
        written = [entry.what for entry in Workspace(served.folder).audit(2)]
        assert written[0].startswith("Inbox: ignore ")
        assert written[1] == "Inbox: Add the intent shipping_abroad"

    def test_decision_is_undone(self, page, served):
        miss(page, served, "can I bring my dog")
        opened(page, served, "inbox")
        page.locator("article").first.wait_for()
        page.keyboard.press("i")
        page.locator(".st-cluster.ignore").wait_for()
        page.keyboard.press("u")

        page.locator(".st-cluster.ignore").wait_for(state="detached")
        page.locator(".st-dock").wait_for(state="hidden")

        # The click redraws the card that its button is in.
        page.get_by_role("button", name="Ignore: ").first.click()
        page.locator(".st-cluster.ignore").wait_for()
        page.wait_for_function("document.activeElement?.matches('article.st-current')")
        assert "has been deleted" not in served.log.read_text(encoding="utf-8")

    def test_question_mark_lists_the_keys(self, page, served):
        opened(page, served, "inbox")
        page.keyboard.press("?")

        page.get_by_text("Accept the proposal").wait_for()


class TestIssues:
    def test_mend_shows_its_difference_and_ends_the_issue(self, page, served):
        opened(page, served, "issues")
        card = page.locator("article", has_text="the same example twice")
        card.get_by_role("button", name="Remove the second one").click()
        open_difference(page)
        assert page.locator(".st-diff .del").all_inner_texts()[-1].strip() == "-        - cancel my order"
        save_proposal(page)

        card.wait_for(state="detached")
        assert yaml(served).count("- cancel my order\n") == 1

    def test_keys_choose_and_mend(self, page, served):
        opened(page, served, "issues")
        page.keyboard.press("j")

        page.wait_for_function("document.activeElement?.matches('article.st-current')")
        first = page.locator("article").first
        assert first.get_attribute("aria-current") == "true"
