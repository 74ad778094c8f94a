"""Make the pictures of the guide page `studio` anew: each screen, in headless Chromium.

python tests/studio/screenshots.py [NAME ...]     # NAME: try, edit, yaml, see, target, inbox, issues, history, review
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

from driven_studio import CHROMIUM, Served, open_screen, save_proposal, start, stop

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "intentmatch" / "guide" / "studio"
UNDERSTOOD = tuple(
    message.format(thing)
    for message in ("where is my {}", "please cancel the {}", "the {} is broken", "I want to return the {}")
    for thing in ("parcel", "order", "package", "jacket", "lamp", "table", "shoes", "camera", "mirror")
)
MISSED = ("do you ship to norway", "is shipping to norway possible", "can I pay with bitcoin", "do you take crypto")


def shot_try(page, served: Served) -> None:
    open_screen(page, served, "try")
    page.get_by_label("Message", exact=True).fill("when do I get my refund of 20 euros")
    page.locator(".st-stack .st-candidate").first.wait_for()


def shot_edit(page, served: Served) -> None:
    open_screen(page, served, "edit?intent=order_status")


def shot_yaml(page, served: Served) -> None:
    open_screen(page, served, "edit?file=orders.yaml")
    page.locator('.cm-content[aria-label="YAML of orders.yaml"]').click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("langage: en\n")
    page.locator(".st-line-error").first.wait_for()


def shot_see(page, served: Served) -> None:
    open_screen(page, served, "see")
    page.get_by_text("are taken by another intent").wait_for()


def shot_target(page, served: Served) -> None:
    open_screen(page, served, "see?view=target")
    page.get_by_role("slider").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="What changes").wait_for()
    page.wait_for_timeout(1500)
    page.locator(".st-curve").evaluate("(e) => scrollTo(0, e.getBoundingClientRect().top + scrollY - 130)")


def shot_inbox(page, served: Served) -> None:
    open_screen(page, served, "try")
    for message in MISSED:
        page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": message})
    page.wait_for_timeout(2000)
    open_screen(page, served, "inbox")
    page.locator("article").first.wait_for()
    page.keyboard.press("1")


def shot_issues(page, served: Served) -> None:
    open_screen(page, served, "issues")
    page.locator("article").first.wait_for()
    for _ in range(6):
        page.keyboard.press("j")
    page.wait_for_timeout(800)
    # Few computers have fonts for all scripts of the registry.
    page.locator("article").nth(5).evaluate("(e) => scrollTo(0, e.getBoundingClientRect().top + scrollY - 90)")


def shot_history(page, served: Served) -> None:
    open_screen(page, served, "edit?intent=order_status")
    page.get_by_label("Add lines, one per row").first.fill("any sign of my box yet")
    page.get_by_role("button", name="Add", exact=True).first.click()
    save_proposal(page)
    open_screen(page, served, "history")
    page.locator(".st-intent").first.click()
    page.locator(".st-sentence").first.wait_for()


def shot_review(page, served: Served) -> None:
    open_screen(page, served, "try")
    for message in (*UNDERSTOOD, *MISSED):
        page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": message})
    page.wait_for_timeout(2000)
    open_screen(page, served, "review")
    for left in range(len(UNDERSTOOD) + len(MISSED), 4, -1):
        page.get_by_text(f"{left} questions open").wait_for()
        page.keyboard.press("y" if page.get_by_role("button", name="Right").count() else "s")  # some are questions
    page.get_by_text("4 questions open").wait_for()


SHOTS = {name.removeprefix("shot_"): shot for name, shot in list(globals().items()) if name.startswith("shot_")}


def as_webp(browser, png: bytes) -> bytes:
    """Return a picture as WebP, a fifth of its size; the browser converts it."""
    page = browser.new_page()
    data = page.evaluate(
        """async (png) => {
            const image = new Image();
            image.src = "data:image/png;base64," + png;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            canvas.getContext("2d").drawImage(image, 0, 0);
            const blob = await canvas.convertToBlob({type: "image/webp", quality: 0.8});
            return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
        }""",
        base64.b64encode(png).decode(),
    )
    page.close()
    return base64.b64decode(data)


def main(names: list[str]) -> None:
    """Write the pictures with these names, or all."""
    from playwright.sync_api import sync_playwright

    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = start(
            Path(shutil.copytree(ROOT / "intents", Path(folder) / "intents")),
            "--set",
            "inbox=misses.sqlite",
            "--set",
            "inbox_sample=1",
        )
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            for name in names or SHOTS:
                page = browser.new_page(viewport={"width": 1100, "height": 720}, locale="en-US")
                page.set_default_timeout(180_000)
                SHOTS[name](page, served)
                page.wait_for_timeout(800)
                file = TARGET / f"{name}.webp"
                file.write_bytes(as_webp(browser, page.screenshot()))
                print(f"{file.name}: {file.stat().st_size / 1000:.0f} KB")
                page.close()
        finally:
            browser.close()
            stop(served)


if __name__ == "__main__":
    main(sys.argv[1:])
