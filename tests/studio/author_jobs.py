"""Do the seven jobs of an author in headless Chromium, and print what each costs: clicks, seconds, words, harm.

python tests/studio/author_jobs.py [--pictures FOLDER] [JOB ...]
JOB: try, correct, add, overlap, triage, reword, restore
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from driven_studio import CHROMIUM, Served, open_screen, start, stop

from intentmatch import Matcher

ROOT = Path(__file__).parents[2]
SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
MISSES = 34
"""Refused messages; with those that are matched in doubt, about forty are in the inbox."""
JARGON = re.compile(
    r"\b(?:utterances?|held[ -]out|lint|mends?|revisions?|heads?|(?:in|out of) scope|cosine|threshold|confidence"
    r"|encod\w+|artefact|calibrat\w+|classifier|similarity|candidates?|negatives?|(?<![.\w])YAML|µs)\b",
    re.IGNORECASE,
)
"""Words that somebody who has never seen the studio may not understand."""


@dataclass
class Walk:
    """One job on one page: counts what the author does, and how long the page lets them wait."""

    page: object
    served: Served
    labels: dict[str, str]
    pictures: Path | None
    name: str
    clicks: int = 0
    waited: float = 0.0
    longest: float = 0.0
    words: Counter[str] = field(default_factory=Counter)

    def open(self, path: str) -> None:
        """Choose a screen in the bar."""
        self.clicks += 1
        with self._waiting():
            open_screen(self.page, self.served, path)

    def click(self, what, then=None) -> None:
        """Click, and wait until `then` is there, or gone if it is a pair with the state."""
        self.clicks += 1
        what.click()
        if then is not None:
            self.wait(then)

    def type(self, what, text: str, then=None) -> None:
        """Write into a field."""
        what.fill(text)
        if then is not None:
            self.wait(then)

    def key(self, key: str, then=None) -> None:
        """Press a key, which counts as a click."""
        self.clicks += 1
        self.page.keyboard.press(key)
        if then is not None:
            self.wait(then)

    def wait(self, what) -> None:
        """Wait for a part of the page."""
        what, state = what if isinstance(what, tuple) else (what, "visible")
        with self._waiting():
            what.first.wait_for(state=state)
        self.look()

    def save(self) -> None:
        """Look at the dialog of an edit, and save without waiting for its effect."""
        dialog = self.page.locator(".st-proposal")
        button = dialog.get_by_role("button", name="Save")
        self.wait(button)
        self.picture("dialog")
        self.click(button, (dialog, "detached"))

    def look(self) -> None:
        """Note the words on the screen."""
        self.words.update({word.lower() for word in JARGON.findall(self.page.locator("body").inner_text())})

    def picture(self, what: str) -> None:
        """Keep a picture of the page."""
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{self.name}-{what}.png")

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        begun = time.monotonic()
        yield
        took = time.monotonic() - begun
        self.waited, self.longest = self.waited + took, max(self.longest, took)


def job_try(walk: Walk) -> None:
    page = walk.page
    walk.open("try")
    for message in ("where is my parcel", "how do I become a pilot"):
        walk.type(page.get_by_label("Message", exact=True), message, page.locator(".st-said", has_text=message))
    walk.picture("answer")


def job_correct(walk: Walk) -> None:
    """Teach a message that is not understood."""
    page, message = walk.page, "the courier page has shown the same spot for a week"
    walk.open("try")
    walk.type(page.get_by_label("Message", exact=True), message, page.locator(".st-said", has_text=message))
    walk.click(page.get_by_label("This belongs to"))
    walk.type(page.get_by_label("This belongs to"), "order_status", page.get_by_role("option", name="order_status"))
    walk.click(page.get_by_role("option", name="order_status"))
    walk.click(page.get_by_role("button", name="Add the line"))
    walk.save()
    walk.wait(page.locator(".st-verdict .st-badge", has_text="matched"))


def job_add(walk: Walk) -> None:
    """Add an intent with four examples."""
    page = walk.page
    walk.open("edit")
    walk.click(page.get_by_label("Name", exact=True))
    walk.type(page.get_by_label("Name", exact=True), "gift_wrap")
    walk.click(page.get_by_label("First example"))
    walk.type(page.get_by_label("First example"), "can you wrap it as a gift")
    walk.click(page.locator(".st-card", has_text="New intent").get_by_role("button", name="Add", exact=True))
    walk.save()
    lines = page.get_by_label("Add lines, one per row").first
    walk.wait(lines)
    walk.click(lines)
    walk.type(
        lines, "do you offer gift wrapping\nplease put it in gift paper\nis there a wrapping service for presents"
    )
    walk.click(page.get_by_role("button", name="Add", exact=True).first)
    walk.save()
    walk.wait(page.locator(".st-lines").get_by_text("please put it in gift paper"))
    walk.picture("added")


def job_overlap(walk: Walk) -> None:
    """Add a line to the first pair of intents that take each other's lines."""
    page, wording = walk.page, walk.page.get_by_label("Another way to say it")
    walk.open("see")
    walk.click(page.get_by_role("tab", name="Overlaps"), page.locator(".st-versus"))
    walk.picture("pair")
    walk.click(page.get_by_role("button", name="Add a line like “ciao ciao”"), wording)
    walk.type(wording, "ciao ciao, a presto")
    walk.key("Enter")
    walk.save()


def job_triage(walk: Walk) -> None:
    """Decide about all groups of the inbox by what their messages mean."""
    page = walk.page
    walk.open("inbox")
    walk.wait(page.locator("article"))
    walk.picture("groups")
    sure = page.get_by_role("button", name=re.compile("^Accept the .* sure$"))
    if sure.count():
        walk.click(sure.first)
    more = page.get_by_role("button", name="Show more")
    while more.is_visible():
        shown = page.locator("article").count()
        walk.click(more)
        page.wait_for_function("(shown) => document.querySelectorAll('article').length > shown", arg=shown)
    for place in range(page.locator("article").count()):
        group = page.locator("article").nth(place)
        if group.get_by_text("not written yet").count():
            continue
        name = str(group.get_attribute("aria-label")).strip("“”")
        decide(walk, group, walk.labels[name])
        group.get_by_text("not written yet").wait_for()
    walk.look()
    walk.click(page.get_by_role("button", name="Write …"))
    walk.save()
    walk.wait(page.get_by_text("The inbox is empty"))


def decide(walk: Walk, group, label: str) -> None:
    """Decide about one group as an author who knows what it means."""
    page = walk.page
    offered = group.get_by_role("button", name=f"Add to {label}:")
    if label.startswith("refuses "):
        refused = group.get_by_role("button", name="Must not match")
        walk.click(refused if refused.count() else group.get_by_role("button", name="Expect no intent"))
    elif " " in label or label in ("new", "states", "depends", "courtesy", "noise"):
        walk.click(group.get_by_role("button", name="Ignore"))
    elif offered.count():
        walk.click(offered)
    else:
        walk.click(group.get_by_role("button", name="Another intent"), page.get_by_label("Intent", exact=True))
        walk.type(page.get_by_label("Intent", exact=True), label)
        walk.click(page.get_by_role("option", name=label, exact=True))


def job_reword(walk: Walk) -> None:
    page, new = walk.page, "please take the black jacket out of my order"
    walk.open("edit")
    walk.type(page.get_by_label("Search"), "order_change", page.get_by_text(re.compile("^1 of .* intents$")))
    walk.click(page.locator(".st-intent"), page.locator(".st-reword"))
    walk.click(page.locator(".st-reword").first, page.get_by_label("New wording"))
    walk.type(page.get_by_label("New wording"), new)
    walk.key("Enter")
    walk.save()
    walk.wait(page.locator(".st-lines").get_by_text(new))
    walk.picture("reworded")


def job_restore(walk: Walk) -> None:
    page = walk.page
    walk.open("history")
    walk.click(page.locator(".st-intent").nth(1), page.locator(".st-sentence"))
    walk.picture("version")
    walk.click(page.get_by_role("button", name="Restore"))
    walk.save()


JOBS: dict[str, Callable[[Walk], None]] = {
    name.removeprefix("job_"): job for name, job in list(globals().items()) if name.startswith("job_")
}


def labelled() -> dict[str, str]:
    """Return messages to the shipped intents with what they mean: see `tests/inbox/triage`."""
    found = yaml.safe_load((ROOT / "tests/inbox/triage/unseen.yaml").read_text(encoding="utf-8"))["shipped"]
    return {text: label for labels in found.values() for label, texts in labels.items() for text in texts}


def miss(page, served: Served, labels: dict[str, str]) -> None:
    """Let the bot miss messages."""
    missed = 0
    for text in labels:
        answer = page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": text}).json()
        missed += answer["verdict"] != "matched"
        if missed == MISSES:
            return
    raise AssertionError(f"only {missed} messages are missed")


def answers(folder: Path, labels: dict[str, str]) -> list[tuple[bool, bool]]:
    """Return for each test and labelled message whether the answer is right, and whether it is a wrong intent."""
    matcher = Matcher.load(folder)
    tests = {test.text: test.expected for test in Matcher.load(ROOT / "intents").registry.tests}
    tests |= {text: label if label in matcher.registry else None for text, label in labels.items()}
    found = matcher.match_many(list(tests))
    return [
        (one.intent == wanted, one.intent not in (None, wanted))
        for one, wanted in zip(found, tests.values(), strict=True)
    ]


def worse(before: list[tuple[bool, bool]], after: list[tuple[bool, bool]]) -> int:
    """Return how many messages are answered wrongly that were not."""
    return sum((was[0] and not now[0]) or (now[1] and not was[1]) for was, now in zip(before, after, strict=True))


def main(arguments: list[str]) -> None:
    """Do the jobs at both sizes, and print a row for each."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", help="jobs to do; all without any")
    parser.add_argument("--pictures", type=Path, help="keep pictures in this folder")
    options = parser.parse_args(arguments)
    labels = labelled()
    print("| job | size | clicks | seconds waited | longest wait | words not understood | harm |")
    print("|---|---|--:|--:|--:|---|--:|")
    for size, (width, height) in SIZES.items():
        with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
            folder = Path(shutil.copytree(ROOT / "intents", Path(place) / "intents"))
            served = start(folder, "--set", "inbox=misses.sqlite")
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": width, "height": height}, locale="en-US")
            page.set_default_timeout(120_000)
            try:
                miss(page, served, labels)
                held = answers(folder, labels)
                for name in options.jobs or JOBS:
                    walk = Walk(page, served, labels, options.pictures, f"{name}-{size}")
                    JOBS[name](walk)
                    before, held = held, answers(folder, labels)
                    words = ", ".join(sorted(walk.words)) or "–"
                    print(
                        f"| {name} | {size} | {walk.clicks} | {walk.waited:.1f} | {walk.longest:.1f} | {words} | "
                        f"{worse(before, held)} |",
                        flush=True,
                    )
            finally:
                browser.close()
                stop(served)


if __name__ == "__main__":
    main(sys.argv[1:])
