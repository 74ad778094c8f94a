"""Try, Edit and History, used as a person would: in Chromium, in two languages, at two widths, light and dark."""

from __future__ import annotations

import re

import pytest
from driven_studio import (
    JARGON,
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

HOLD = """() => {
  const emit = socket.emit.bind(socket), held = [];
  let holding = false;
  socket.emit = (...said) => holding ? held.push(said) : emit(...said);
  window.hold = (key) => document.addEventListener("keydown", (event) => { holding ||= event.key === key; }, true);
  window.release = () => { holding = false; socket.emit = emit; held.forEach((said) => emit(...said)); };
}"""
"""Holds back what the browser sends from the key of `hold(key)` on, until `release()`."""
PAGES = ("try?message=أين طلبي", "edit?intent=refund", "edit?file=orders.yaml&line=5", "edit", "history")


def yaml(served) -> str:
    return (served.folder / "orders.yaml").read_text(encoding="utf-8")


def add_line(page, line: str) -> None:
    """Add a line to the intent that is open in Edit."""
    page.get_by_label("Add lines, one per row").first.fill(line)
    page.get_by_role("button", name="Add", exact=True).first.click()
    save_proposal(page)
    page.locator(".st-lines").get_by_text(line).wait_for()


def verdict(page, message: str) -> str:
    page.get_by_label("Message", exact=True).fill(message)
    said = page.locator(".st-verdict .st-said")
    page.wait_for_function(
        "(text) => document.querySelector('.st-verdict .st-said')?.textContent === text", arg=message
    )
    assert said.is_visible()
    return page.locator(".st-verdict .st-badge").first.inner_text()


@pytest.mark.end_to_end
@pytest.mark.parametrize(("width", "dark"), [(375, True), (1280, False)], ids=["phone-dark", "desktop-light"])
def test_screens_fit_the_width_and_axe_finds_nothing_serious(browser, served, width, dark):
    with watched(browser, width, dark=dark) as page:
        for path in PAGES:
            open_screen(page, served, path)
            drawn = ".cm-content[aria-label]" if "file=" in path else ":is(.st-card, .st-empty):visible"
            page.locator(drawn).first.wait_for()

            assert serious_findings(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate("document.body.classList.contains('body--dark')") is dark


class TestTry:
    @pytest.mark.parametrize(
        ("message", "intent"), [("where is my parcel", "order_status"), ("أريد استرداد أموالي الآن", "refund")]
    )
    def test_verdict_appears_while_typing(self, page, served, message, intent):
        open_screen(page, served, "try")

        assert verdict(page, message) == "matched"
        assert page.locator(".st-verdict a").first.inner_text() == intent
        assert page.locator(".st-candidate").count() == 4
        assert page.locator(".st-threshold").count() >= 1
        assert page.get_by_text("Which word met which").is_visible()

    def test_steps_are_behind_a_fold_that_stays_open(self, page, served):
        open_screen(page, served, "try")
        verdict(page, "where is my parcel")
        times = page.get_by_role("columnheader", name="µs")
        assert not times.is_visible()
        page.get_by_text(re.compile("^Show the .* steps to this answer")).click()
        times.wait_for()
        verdict(page, "where is my order now")

        assert times.is_visible()

    def test_text_from_right_to_left_is_shown_so(self, page, served):
        open_screen(page, served, "try?message=أين طلبي")

        direction = "(element) => getComputedStyle(element).direction"
        assert page.locator(".st-said").evaluate(direction) == "rtl"
        assert page.locator("h1").evaluate(direction) == "ltr"

    @pytest.mark.parametrize(
        ("message", "says"),
        [("volcanoes of iceland", "nothing like your lines"), ("order my money", "three of your intents")],
    )
    def test_verdict_without_an_intent_says_which_reason_it_has(self, page, served, message, says):
        open_screen(page, served, "try")

        assert verdict(page, message) == says
        assert page.locator(".st-verdict").get_by_text(f"{says.capitalize()}: ").count() == 1

    def test_slots_are_marked_in_the_message(self, page, served):
        open_screen(page, served, "try")
        verdict(page, "refund 20 euros to my card")

        assert page.locator("mark.st-slot").inner_text() == "20 euros"

    def test_answers_to_questions_are_shown_with_a_link_to_their_lines(self, page, served):
        open_screen(page, served, "try")
        verdict(page, "where is my parcel, I need it today, please hurry")
        box = page.get_by_role("region", name="Questions beside the intent")
        assert box.locator(".st-badge").inner_text() == "yes"
        assert box.get_by_text("Is it urgent?").is_visible()
        verdict(page, "where is my parcel")
        assert box.get_by_text("does not say").is_visible()
        assert box.get_by_role("meter").count() == 2

        box.locator("a.st-place").click()
        page.locator('.cm-content[aria-label="YAML of orders.yaml"]').wait_for()

    def test_belongs_here_adds_the_line_after_its_effect_was_shown(self, page, served):
        open_screen(page, served, "try")
        verdict(page, "any trace of my box")
        page.get_by_role("button", name="The message belongs to order_status").click()

        page.locator(".st-change.add", has_text="any trace of my box").wait_for()
        page.locator(".st-proposal .st-badge", has_text="broken").wait_for()
        assert JARGON.findall(page.locator(".st-proposal").inner_text()) == []
        assert "any trace of my box" not in yaml(served)
        save_proposal(page)

        assert "any trace of my box" in yaml(served)
        page.locator(".st-candidate").first.get_by_text("any trace of my box").wait_for()

    def test_line_is_reworded_in_place(self, page, served):
        open_screen(page, served, "edit?intent=cancel_order")
        page.get_by_role("button", name="call off the delivery").first.click()
        page.get_by_label("New wording").fill("call the delivery off again")
        page.keyboard.press("Enter")
        dialog = page.locator(".st-proposal")
        dialog.locator(".st-change.del", has_text="call off the delivery").wait_for()
        assert dialog.locator(".st-change.add .st-words").inner_text() == "call the delivery off again"
        save_proposal(page)

        assert "call the delivery off again" in yaml(served)
        assert "call off the delivery" not in yaml(served)

    def test_message_is_pinned_as_a_test(self, page, served):
        open_screen(page, served, "try")
        verdict(page, "quelle heure est-il")
        page.get_by_role("button", name="Pin as test").click()
        save_proposal(page)

        assert "quelle heure est-il" in yaml(served).partition("tests:")[2]

    def test_list_is_matched_filtered_and_exported(self, page, served):
        open_screen(page, served, "try")
        page.get_by_role("tab", name="Many messages").click()
        page.get_by_label("One message per line").fill(
            "text,intent\nwhere is my order,order_status\nمتى تفتحون,refund\n"
        )
        page.get_by_role("button", name="Match all").click()
        page.get_by_text("2 messages: 2 matched").wait_for()
        assert page.get_by_text("50.0% as expected").is_visible()

        page.get_by_label("Filter").fill("تفتحون")
        page.wait_for_function("document.querySelectorAll('.st-answers tbody tr').length === 1")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export CSV").click()
        rows = download.value.path().read_text(encoding="utf-8").splitlines()
        assert len(rows) == 2
        assert "متى تفتحون" in rows[1]

    def test_file_is_read_as_a_list(self, page, served):
        open_screen(page, served, "try")
        page.get_by_role("tab", name="Many messages").click()
        rows = "text\nأين طلبي\ncancel my order\n".encode()
        page.get_by_label("or a CSV:").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": rows})

        page.get_by_text("2 messages: 2 matched").wait_for()

    def test_table_says_verdicts_in_the_words_of_the_other_screens(self, page, served):
        open_screen(page, served, "try")
        page.get_by_role("tab", name="Many messages").click()
        rows = b"text,intent\nvolcanoes of iceland,out_of_scope\n"
        page.get_by_label("or a CSV:").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": rows})

        row = page.locator(".st-answers tbody tr", has_text="volcanoes of iceland")
        row.wait_for()
        assert {"no intent", "nothing like your lines"} <= set(row.locator("td").all_inner_texts())
        assert "out_of_scope" not in row.inner_text()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export CSV").click()
        assert "out_of_scope" in download.value.path().read_text(encoding="utf-8")

    def test_conversation_asks_back_and_answers(self, page, served):
        open_screen(page, served, "try")
        page.get_by_role("tab", name="Conversation").click()
        page.get_by_label("Your message").fill("أين طلبي")
        page.keyboard.press("Enter")

        page.locator(".st-bubble.bot").get_by_text("طلبك في الطريق.").wait_for()


@pytest.mark.end_to_end
class TestEdit:
    def test_lines_of_questions_are_shown_until_an_intent_is_opened(self, page, served):
        open_screen(page, served, "edit")
        box = page.get_by_role("region", name="Questions beside the intent")
        box.get_by_text("yes: 7 lines").click()
        box.get_by_text("this is an emergency").wait_for()
        page.get_by_role("button", name="refund", exact=False).first.click()

        box.wait_for(state="detached")

    def test_change_of_somebody_else_appears_and_leaves_what_is_typed(self, browser, served):
        with watched(browser) as first, watched(browser) as second:
            open_screen(first, served, "edit?intent=refund")
            first.get_by_label("Add lines, one per row").first.fill("half a sen")
            first.get_by_label("Title", exact=True).fill("Money back")
            open_screen(second, served, "edit?intent=refund")
            add_line(second, "return my payment")
            first.locator(".st-lines").get_by_text("return my payment").wait_for()

            assert first.get_by_label("Add lines, one per row").first.input_value() == "half a sen"
            assert first.get_by_label("Title", exact=True).input_value() == "Money back"

    def test_choice_on_a_phone_shows_the_intent(self, browser, served):
        with watched(browser, 390) as page:
            open_screen(page, served, "edit")
            page.get_by_role("button", name="refund", exact=False).first.click()
            page.get_by_role("heading", name="refund", exact=True).wait_for()

            page.wait_for_function(
                "() => { const {top} = document.querySelector('.st-opened').getBoundingClientRect();"
                " return top > 0 && top < innerHeight / 2; }"
            )

    def test_search_by_text_finds_a_line(self, page, served):
        open_screen(page, served, "edit")
        page.get_by_label("Search").fill("ساعات")

        page.get_by_text("1 of 4 intents").wait_for()
        assert page.locator(".st-intent .st-strong").all_inner_texts() == ["opening_hours"]

    def test_search_by_meaning_finds_other_words(self, page, served):
        open_screen(page, served, "edit")
        page.get_by_role("checkbox", name="by meaning").click()
        page.get_by_label("Search").fill("reimburse me")

        page.wait_for_function("document.querySelector('.st-intent .st-strong')?.textContent === 'refund'")

    def test_lines_are_added_and_the_save_undone(self, page, served):
        before = yaml(served)
        open_screen(page, served, "edit?intent=opening_hours")
        page.get_by_label("Add lines, one per row").first.fill("is the shop closed\nwhen do you shut")
        page.get_by_role("button", name="Add", exact=True).first.click()
        save_proposal(page)
        page.locator(".st-lines").get_by_text("when do you shut").wait_for()
        assert "- when do you shut" in yaml(served)

        page.get_by_role("button", name="Undo the last save").click()
        save_proposal(page)
        page.locator(".st-lines").get_by_text("when do you shut").wait_for(state="detached")
        assert yaml(served) == before

    def test_intent_begins_as_a_description(self, page, served):
        before = yaml(served)
        open_screen(page, served, "edit")
        card = page.locator(".st-card", has_text="New intent")
        card.get_by_label("Name", exact=True).fill("gift_card")
        card.get_by_label("First example").fill("أريد بطاقة هدية")
        card.get_by_label("Language").click()
        page.get_by_role("option", name="ar", exact=True).click()
        card.get_by_label("Or what users want").fill("buy a gift card")
        card.get_by_label("File").click()
        page.get_by_role("option", name="orders.yaml").click()
        card.get_by_role("button", name="Add", exact=True).click()
        save_proposal(page)
        page.get_by_role("heading", name="gift_card", exact=True).wait_for()
        assert "  gift_card:\n    description: buy a gift card\n    utterances:\n      ar:\n" in yaml(served)

        page.get_by_role("button", name="Undo the last save").click()
        save_proposal(page)
        page.get_by_role("heading", name="gift_card", exact=True).wait_for(state="detached")
        assert yaml(served) == before

    def test_language_of_the_lines_is_chosen(self, page, served):
        open_screen(page, served, "edit?intent=refund")
        page.get_by_role("button", name="ar 3", exact=True).click()

        page.locator(".st-lines").get_by_text("متى أستعيد نقودي").wait_for()

    def test_problems_are_shown_at_their_line_while_typing(self, page, served):
        open_screen(page, served, "edit?file=orders.yaml")
        page.locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("intnts: 3\n")

        page.locator(".cm-line.st-line-error", has_text="intnts").wait_for()
        assert page.get_by_text("unknown key 'intnts'").is_visible()
        page.get_by_role("button", name="Discard").click()
        page.locator(".st-line-error").wait_for(state="detached")

    def test_letters_on_their_way_stay_when_problems_are_shown(self, page, served):
        open_screen(page, served, "edit?file=orders.yaml")
        page.locator('.cm-content[aria-label="YAML of orders.yaml"]').click()
        page.keyboard.press("Control+Home")
        page.evaluate(HOLD)
        page.evaluate("hold('#')")
        page.keyboard.type("intnts: 3\n# on")
        page.locator(".st-line-error", has_text="intnts").wait_for()
        page.keyboard.type(" the way")
        page.evaluate("release()")
        page.keyboard.type(" here\n")
        page.keyboard.press("Control+s")

        page.locator(".st-change.add", has_text="# on the way here").wait_for()
        assert "intnts: 3\n# on the way here\n" in page.locator(".cm-content").inner_text()
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.get_by_role("button", name="Discard").click()

    def test_keys_are_completed(self, page, served):
        open_screen(page, served, "edit?file=orders.yaml")
        page.locator('.cm-content[aria-label="YAML of orders.yaml"]').click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("sett")

        page.locator(".cm-tooltip-autocomplete").get_by_text("settings").wait_for()

    def test_change_on_disk_appears_and_is_not_overwritten(self, page, served):
        file = served.folder / "orders.yaml"
        open_screen(page, served, "edit?file=orders.yaml")
        page.locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("# mine\n")
        page.get_by_text("not saved").wait_for()
        file.write_text(f"{yaml(served)}# theirs\n", encoding="utf-8")
        page.get_by_text("your changes are kept").wait_for()

        page.get_by_role("button", name="Review and save").click()
        save_proposal(page)

        assert yaml(served).startswith("# mine\n")
        assert yaml(served).endswith("# theirs\n")

    def test_letters_on_their_way_stay_when_somebody_else_saves(self, page, served):
        file = served.folder / "orders.yaml"
        open_screen(page, served, "edit?file=orders.yaml")
        page.locator('.cm-content[aria-label="YAML of orders.yaml"]').click()
        page.keyboard.press("Control+Home")
        page.evaluate(HOLD)
        page.keyboard.type("# known\n")
        page.get_by_text("not saved").wait_for()
        page.evaluate("hold('#')")
        page.keyboard.type("# mine\n# on")
        head, *rest = yaml(served).splitlines(keepends=True)
        theirs = [head, "# first of theirs\n", *rest, "# last of theirs\n"]
        file.write_text("".join(theirs), encoding="utf-8")
        page.locator(".cm-content").get_by_text("# first of theirs").wait_for()
        page.keyboard.type(" the way")
        page.evaluate("release()")
        page.keyboard.type(" here\n")
        page.get_by_text("your changes are kept").wait_for()

        page.get_by_role("button", name="Review and save").click()
        save_proposal(page)
        mine = ["# known\n", "# mine\n", "# on the way here\n"]
        assert yaml(served) == "".join([*mine, *theirs])
        assert page.get_by_text("not saved").count() == 0

    def test_undo_in_the_editor_leaves_what_somebody_else_has_saved(self, page, served):
        file = served.folder / "orders.yaml"
        open_screen(page, served, "edit?file=orders.yaml")
        content = page.locator('.cm-content[aria-label="YAML of orders.yaml"]')
        content.click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("# undone\n")
        page.get_by_text("not saved").wait_for()
        head, *rest = yaml(served).splitlines(keepends=True)
        file.write_text("".join([head, "# another one's\n", *rest]), encoding="utf-8")
        content.get_by_text("# another one's").wait_for()
        for _ in range(4):
            page.keyboard.press("Control+z")

        content.get_by_text("# undone").wait_for(state="detached")
        assert content.get_by_text("# another one's").count() == 1
        page.locator("[role=status]", has_text="not saved").wait_for(state="detached")

    def test_line_ends_of_windows_stay(self, page, served):
        file = served.folder / "windows.yaml"
        file.write_bytes(b"intents:\r\n  windows_help:\r\n    utterances:\r\n      - open the pane\r\n")
        open_screen(page, served, "edit?file=windows.yaml")
        page.locator('.cm-content[aria-label="YAML of windows.yaml"]').click()
        page.keyboard.press("Control+End")
        page.keyboard.type("# the end")
        page.get_by_text("not saved").wait_for()
        page.get_by_role("button", name="Review and save").click()
        save_proposal(page)

        assert file.read_bytes().count(b"\r\n") == 4
        assert file.read_bytes().count(b"\n") == 4
        assert b"      - open the pane\r\n" in file.read_bytes()
        assert b"# the end" in file.read_bytes()
        file.unlink()

    def test_two_browsers_edit_at_once_and_lose_nothing(self, browser, served):
        with watched(browser) as first, watched(browser) as second:
            for number, page in enumerate((first, second)):
                open_screen(page, served, "edit?intent=cancel_order")
                page.get_by_label("Add lines, one per row").first.fill(f"forget the order number {number}")
                page.get_by_role("button", name="Add", exact=True).first.click()
                page.locator(".st-proposal").wait_for()
            save_proposal(first)
            second.locator(".st-proposal").get_by_role("button", name="Save").click()
            second.get_by_text("Somebody else has changed the files.").wait_for()
            save_proposal(second)
            first.locator(".st-lines").get_by_text("forget the order number 1").wait_for()

        assert "forget the order number 0" in yaml(served)
        assert "forget the order number 1" in yaml(served)

    def test_same_line_changed_twice_is_a_conflict_that_shows_both(self, page, served):
        file = served.folder / "orders.yaml"
        open_screen(page, served, "edit?file=orders.yaml")
        first = yaml(served).splitlines()[0]
        page.locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("# left ")
        page.get_by_text("not saved").wait_for()
        file.write_text(yaml(served).replace(first, f"# right {first}", 1), encoding="utf-8")
        page.get_by_text("Saving shows both").wait_for()
        page.get_by_role("button", name="Review and save").click()

        page.get_by_text("Both versions are between").wait_for()
        shown = page.locator(".cm-content").inner_text()
        assert "# left" in shown
        assert "# right" in shown
        assert "# left" not in yaml(served)


@pytest.mark.end_to_end
def test_history_without_a_revision_says_so_without_an_empty_list(browser, tmp_path):
    running = start(copied(tmp_path))
    try:
        with watched(browser) as page:
            open_screen(page, running, "history")
            page.get_by_text("There is no version yet").wait_for()

            assert not page.get_by_label("Revisions", exact=True).is_visible()
    finally:
        stop(running)


@pytest.mark.end_to_end
class TestSwitches:
    @pytest.mark.parametrize(
        ("screen", "switch", "setting"),
        [
            ("inbox", "Keep them from now on", "inbox: misses.sqlite"),
            ("review", "Keep a twentieth of all answers", 'inbox_sample: "0.05"'),
        ],
    )
    def test_author_turns_the_inbox_on(self, browser, tmp_path, screen, switch, setting):
        running = start(copied(tmp_path))
        try:
            with watched(browser) as page:
                open_screen(page, running, screen)
                page.get_by_role("button", name=switch).click()
                save_proposal(page)
                page.get_by_role("button", name=switch).wait_for(state="detached")
                assert setting in (running.folder / "orders.yaml").read_text(encoding="utf-8")
        finally:
            stop(running)


class TestHistory:
    def test_revision_shows_its_difference_and_is_restored(self, page, served):
        before = yaml(served)
        open_screen(page, served, "edit?intent=order_status")
        page.get_by_label("Add lines, one per row").first.fill("did you send it off")
        page.get_by_role("button", name="Add", exact=True).first.click()
        save_proposal(page)
        open_screen(page, served, "history")
        page.locator(".st-intent").nth(0).click()
        added = page.locator(".st-change.add", has_text="did you send it off")
        added.wait_for()
        assert page.locator(".st-sentence p").first.inner_text() == "Add an example of order_status"
        assert not page.locator(".st-diff").is_visible()
        open_difference(page)
        assert "did you send it off" in page.locator(".st-diff .add").inner_text()

        page.locator(".st-intent").nth(1).click()
        added.wait_for(state="detached")  # until then, the button restores the newest revision, which changes nothing
        page.get_by_role("button", name="Restore").click()
        save_proposal(page)

        assert yaml(served) == before

    def test_row_stays_in_place_when_somebody_else_saves(self, browser, served):
        """Otherwise a click that is on its way would be lost."""
        with watched(browser) as first, watched(browser) as second:
            open_screen(first, served, "edit?intent=order_status")
            add_line(first, "is it with the carrier")
            open_screen(first, served, "history")
            first.locator(".st-intent").first.wait_for()
            first.evaluate("window.row = document.querySelector('.st-intent')")
            open_screen(second, served, "edit?intent=order_status")
            add_line(second, "did the carrier take it")
            first.wait_for_function("document.querySelectorAll('.st-intent')[1] === window.row")

            first.evaluate("window.row.click()")
            first.locator(".st-change.add", has_text="is it with the carrier").wait_for()
            assert first.locator(".st-intent[aria-current]").count() == 1

    def test_evaluation_before_and_after_is_shown_once_another_has_ended(self, page, served):
        """Each save is evaluated in the background, so that another evaluation is often on its way."""
        open_screen(page, served, "edit?intent=order_status")
        add_line(page, "did the parcel leave your depot")
        open_screen(page, served, "history")
        page.locator(".st-intent").first.click()
        button = page.locator(".st-card", has_text="Evaluation").get_by_role("button", name="Evaluate")
        with Workspace(served.folder).scores.turn(lambda: False) as mine:
            assert mine
            button.click()
            page.get_by_text("The evaluation has begun.").wait_for(state="attached")

        page.get_by_role("columnheader", name="right before").wait_for()
        assert page.get_by_role("cell", name="examples, each left out").is_visible()
