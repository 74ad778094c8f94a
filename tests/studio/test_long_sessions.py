"""The studio over a long time: reloads keep its memory, an inbox is emptied by keys alone, a killed save is whole."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driven_studio import PATIENCE, Served, copied, open_screen, save_proposal, start, stop, watched

from intentmatch import read_registry
from intentmatch.authoring.workspace import Workspace

pytestmark = pytest.mark.end_to_end

SEED = 22
# What a browser says while the server is away, or does not know the page.
AWAY = ("net::ERR", "WebSocket connection")
SCREENS = ("try?message=أين طلبي", "edit?intent=refund", "edit?file=orders.yaml&line=5", "history", "inbox", "issues")
# What no intent of the registry is about, in its two languages.
FOREIGN = {
    "{0} {1} in {2}": (
        ("do penguins", "can tigers", "may dragons", "will robots", "should owls"),
        ("sing", "swim", "dream", "dance", "whistle"),
        ("winter", "japan", "the opera", "old films", "a submarine"),
    ),
    "{0} {1} في {2}": (
        ("هل تغني", "هل تسبح", "هل ترقص", "هل تحلم", "هل تطير"),
        ("البطاريق", "النمور", "التنانين", "الأفيال", "الفراشات"),
        ("الشتاء", "اليابان", "الأوبرا", "الفضاء", "الصحراء"),
    ),
}


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    running = start(copied(tmp_path_factory.mktemp("long")), "--set", "inbox=misses.sqlite")
    yield running
    stop(running)


@pytest.fixture
def killed(browser, tmp_path: Path) -> Iterator[Served]:
    """A studio of its own, for a test that kills it."""
    running = start(copied(tmp_path))
    yield running
    stop(running)


def yaml(served: Served) -> str:
    return (served.folder / "orders.yaml").read_text(encoding="utf-8")


def megabytes(served: Served) -> float:
    status = Path(f"/proc/{served.process.pid}/status")
    if not status.exists():
        pytest.skip("the memory of a process is read from /proc")
    return int(re.search(r"VmRSS:\s*(\d+)", status.read_text(encoding="utf-8"))[1]) / 1024


def nodes(page) -> int:
    """How many nodes of documents the browser holds for a page."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return int(found["Nodes"])


@pytest.mark.full_length
@pytest.mark.rounds(3, 1000)
def test_session_left_open_over_many_reloads_keeps_its_memory(browser, served, rounds):
    """One page stays open while the files change each round, and another page is loaded again and again."""
    text, sizes = yaml(served), []
    with watched(browser) as left, watched(browser) as page:
        open_screen(left, served, "edit?intent=refund")
        before = nodes(left)
        for number, path in zip(range(rounds), itertools.cycle(SCREENS)):
            line = f"        - give back the amount {number}\n"
            (served.folder / "orders.yaml").write_text(
                text.replace("        - cancel my order\n", f"        - cancel my order\n{line}"), encoding="utf-8"
            )
            open_screen(page, served, path)
            sizes.append(megabytes(served))
        open_screen(page, served, "edit?intent=cancel_order")
        page.locator(".st-lines").get_by_text(f"give back the amount {rounds - 1}").wait_for()
        left.get_by_label("Search").fill("give back")
        left.locator(".st-intent").get_by_text(f"“give back the amount {rounds - 1}”").wait_for()

        assert nodes(left) < 1.5 * before + 500
    warm = sizes[: max(1, rounds // 4)]
    assert max(sizes) - max(warm) < 80.0, f"megabytes: {sizes[:: max(1, rounds // 20)]}"


def missed(page, served: Served, count: int) -> int:
    """Send messages in both languages until so many are in the inbox; return how many there are."""
    texts = [pattern.format(*parts) for pattern, words in FOREIGN.items() for parts in itertools.product(*words)]
    random.Random(SEED).shuffle(texts)
    found = 0
    for text in texts:
        answer = page.request.post(f"{served.url.removesuffix('/studio')}/match", data={"text": text}).json()
        found += answer["verdict"] == "out_of_scope"
        if found == count:
            break
    return found


@pytest.mark.rounds(6, 100)
def test_inbox_is_emptied_by_keys_alone(browser, served, rounds):
    """Each group is ignored, made an intent, or added to one; no mouse is moved, and one save writes it all."""
    with watched(browser) as page:
        assert missed(page, served, rounds) == rounds
        open_screen(page, served, "history")
        page.keyboard.press("g")
        page.keyboard.press("i")
        page.locator("article").first.wait_for()
        said = page.locator("main .st-strong").first.inner_text()
        assert said.startswith(f"{rounds} messages in ")
        groups = int(re.search(r"in (\d+) group", said)[1])
        for number in range(groups):
            keys = "nmi"[number % 3]
            page.keyboard.press(keys)
            if keys != "i":
                page.wait_for_function("document.activeElement?.matches('.st-dialog input')")
            if keys == "n":
                page.keyboard.press("Control+A")
                page.keyboard.type(f"topic_{number}")
                page.keyboard.press("Enter")
            elif keys == "m":
                page.keyboard.press("Control+A")
                page.keyboard.type("opening")
                page.locator(".q-item", has_text="opening_hours").wait_for()
                page.keyboard.press("ArrowDown")
                page.keyboard.press("Enter")
            page.locator(".st-cluster.add, .st-cluster.new, .st-cluster.ignore").nth(number).wait_for()
        page.keyboard.press("w")
        page.wait_for_function("document.activeElement?.matches('.st-proposal button')")
        page.keyboard.press("Enter")
        page.locator(".st-proposal").wait_for(state="detached")
        page.get_by_text("The inbox is empty").wait_for()

    registry = read_registry(served.folder)
    topics = {intent.name for intent in registry if intent.name.startswith("topic_")}
    assert topics == {f"topic_{number}" for number in range(0, groups, 3)}
    lines = [line.text for line in registry.utterances]
    assert any("هل" in line for line in lines)
    assert len(Workspace(served.folder).revisions()) == 2, "what was there before, and what the inbox wrote"


@pytest.mark.rounds(1, 40)
def test_server_killed_in_a_save_from_the_page_comes_back_whole(browser, killed, rounds):
    """The page finds the server again by itself, and shows what the files hold."""
    moments, written = random.Random(SEED), 0
    before = len(read_registry(killed.folder).utterances)
    port = int(re.search(r":(\d+)/", killed.url)[1])
    with watched(browser, expected=AWAY) as page:
        open_screen(page, killed, "edit?intent=cancel_order")
        for number in range(rounds):
            line = f"undo the purchase {number}"
            page.get_by_label("Add lines, one per row").first.fill(line)
            page.get_by_role("button", name="Add", exact=True).first.click()
            page.locator(".st-proposal").get_by_role("button", name="Save").click()
            time.sleep(moments.uniform(0.0, 0.1))
            killed.process.kill()
            killed.process.wait(PATIENCE)

            kept = read_registry(killed.folder)
            written += line in [one.text for one in kept.utterances]
            assert len(kept.utterances) == before + written
            for revision in (workspace := Workspace(killed.folder)).revisions():
                assert workspace.revision(revision.id)[0] == revision
            killed.process = start(killed.folder, port=port).process
            page.locator(".st-proposal").wait_for(state="detached")
            page.wait_for_function("window.did_handshake && window.socket.connected")
            page.get_by_role("heading", name=f"Examples ({9 + written})").wait_for()
        page.get_by_label("Add lines, one per row").first.fill("forget my basket")
        page.get_by_role("button", name="Add", exact=True).first.click()
        save_proposal(page)

    assert len(read_registry(killed.folder).utterances) == before + written + 1
