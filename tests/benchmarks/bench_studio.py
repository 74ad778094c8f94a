"""Measure the studio in a headless browser: opening its screens, a verdict while typing, scrolling, start and memory.

    python tests/benchmarks/bench_studio.py
    python tests/benchmarks/bench_studio.py --size 10000x500 --rounds 5 --part screens

Needs the extra `studio`, Playwright, and Chromium. README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "studio"))

import bench_growth
from bench_latency import distinct, made_up
from driven_studio import CHROMIUM, Served, start, stop, watched
from entry import add_json_option, option_parser, run_benchmark
from metrics import percentiles, plain_table, provenance

from intentmatch import Matcher
from intentmatch.core.errors import InputError

PARTS = ("screens", "verdict", "scrolling", "start")
SOURCE = Path(__file__).parents[2] / "intents"
_SEED = 20261123
_SECONDS_OF_SCROLLING = 2.0
_SECONDS_ON_A_SCREEN = 4.0  # before the next one, as somebody who looks at it
_MOST_MILLISECONDS = 1_800_000  # the first look at the cross-validation of a large registry takes minutes
_TICKS = os.sysconf("SC_CLK_TCK")

# Address of a screen, what it shows once it answers to the author, and what it shows once it is complete.
_BEGUN = "main .st-card, main [role=status], main .st-empty"
SCREENS = {
    "Try": ("try?message={message}", ".st-verdict", ".st-verdict"),
    "Edit": ("edit", ".st-intent", ".st-intent"),
    "Edit, an intent": ("edit?intent={intent}", ".st-line", ".st-line"),
    "Edit, a file": ("edit?file={file}", ".cm-line", ".cm-line"),
    "See, map": ("see", _BEGUN, ".st-map canvas"),
    "See, overlaps": ("see?view=overlaps", _BEGUN, ".st-two, .st-empty"),
    "See, confusion": ("see?view=confusion", _BEGUN, ".st-two, .st-empty"),
    "See, target": ("see?view=target", _BEGUN, ".st-curve canvas"),
    "See, languages": ("see?view=languages", _BEGUN, ".st-coverage td"),
    "Inbox": ("inbox", "main [aria-busy], article, .st-empty", "article, .st-empty"),
    "Issues": ("issues", "main [role=status], article, .st-empty", "article, .st-empty"),
    "History": ("history", ".st-intent, .st-empty", ".st-intent, .st-empty"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    return run_benchmark(lambda: _measured(options), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--size", default="10000x500", metavar="UTTERANCESxINTENTS", help="of the screens (10000x500)")
    parser.add_argument("--missed", type=int, default=300, help="messages in the inbox (300)")
    parser.add_argument(
        "--after", type=float, default=0.0, metavar="SECONDS", help="from the start to the first screen"
    )
    parser.add_argument("--rounds", type=int, default=5, help="openings of each screen after the first (5)")
    parser.add_argument("--screen", action="append", choices=SCREENS, metavar="NAME", help="only this one, repeatable")
    parser.add_argument("--messages", type=int, default=60, help="messages that are typed (60)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part, repeatable")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="of the screens' registry")
    add_json_option(parser)
    return parser


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise InputError("this takes Playwright: pip install playwright") from None
    if CHROMIUM is None:
        raise InputError("this takes Chromium, such as apt-get install chromium")
    matcher = Matcher.load(SOURCE)
    found: dict[str, Any] = provenance([Path(sys.executable).name, *sys.argv], matcher.encoder)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        measured: dict[str, Callable[[], Any]] = {
            "screens": lambda: _screens(browser, Path(folder), options),
            "verdict": lambda: _verdicts(browser, Path(folder), matcher, options),
            "scrolling": lambda: _scrolling(browser, Path(folder), options),
            "start": lambda: _starts(browser, Path(folder), options),
        }
        for part in options.part or PARTS:
            sys.stderr.write(f"{part}\n")
            found[part] = measured[part]()
        browser.close()
    return found


@contextmanager
def _served(folder: Path, options: argparse.Namespace) -> Iterator[Served]:
    """A studio of a synthetic registry with an inbox."""
    registry = folder / "large" / "intents"
    if not registry.exists():
        registry.parent.mkdir()
        utterances, _, intents = options.size.partition("x")
        bench_growth.made_up(registry, int(utterances), int(intents), options.missed)
        # Built before the server starts, which then finds it in the cache.
        Matcher.load(registry, **dict(one.split("=", 1) for one in options.setting))
    more = [word for one in options.setting for word in ("--set", one)]
    running = start(registry, "--set", "inbox=misses.sqlite", *more)
    try:
        yield running
    finally:
        stop(running)


def _screens(browser: Any, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Open each screen once, until it is complete, and then again and again."""
    with _served(folder, options) as served, watched(browser) as page:
        started = time.perf_counter()
        page.set_default_timeout(_MOST_MILLISECONDS)
        said = json.loads((served.folder.parent / "messages.json").read_text(encoding="utf-8"))
        _fill_inbox(served, [text for text, _ in said])
        file = sorted(served.folder.glob("*.yaml"))[-1]
        values = {"message": said[0][0], "intent": said[0][1], "file": file.name}
        rows = []
        time.sleep(max(0.0, options.after - (time.perf_counter() - started)))
        for number, name in enumerate(options.screen or SCREENS):
            time.sleep(_SECONDS_ON_A_SCREEN if number else 0.0)
            path, begun, complete = SCREENS[name]
            url = f"{served.url}/{path.format(**values)}"
            opened = time.perf_counter() - started
            first = _opened(page, served, url, begun, complete)
            again = [_opened(page, served, url, begun, complete) for _ in range(options.rounds)]
            rows.append({"screen": name, "opened": opened, "first": first, "again": _medians(again)})
            sys.stderr.write(f"{json.dumps(rows[-1])}\n")
        return rows


def _fill_inbox(served: Served, texts: Sequence[str]) -> None:
    """Send messages of words from several lines, most of which no intent is meant for."""
    chance = random.Random(_SEED)
    words = [word for text in texts for word in text.split()]
    for _ in texts:
        _ask(served, " ".join(chance.sample(words, min(4, len(words)))))


def _ask(served: Served, text: str) -> None:
    body = json.dumps({"text": text}).encode()
    address = f"{served.url.removesuffix('/studio')}/match"
    urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": "application/json"})).read()


def _opened(page: Any, served: Served, url: str, begun: str, complete: str) -> dict[str, float]:
    worked, began = _processor(served.process.pid), time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(begun, state="attached")
    shown = time.perf_counter() - began
    page.wait_for_selector(complete, state="attached")
    done = time.perf_counter() - began
    # Painted, not only in the document.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return {"shown": shown, "complete": done, "server": _processor(served.process.pid) - worked}


def _verdicts(browser: Any, folder: Path, matcher: Matcher, options: argparse.Namespace) -> dict[str, Any]:
    """Type the last letter of messages, and wait for the verdict on the whole message."""
    from intentmatch.studio.one_message import DEBOUNCE_MS

    chance = random.Random(_SEED)
    messages = distinct(matcher, made_up(matcher, chance), options.messages)
    running = start(_copy(folder), "--set", "inbox=off")
    try:
        with watched(browser) as page:
            page.goto(f"{running.url}/try")
            page.wait_for_function("window.did_handshake")
            field = page.get_by_label("Message", exact=True)
            page.evaluate(_WATCH_VERDICTS)
            seconds, work = [], []
            for message in messages:
                field.fill(message[:-1])
                page.wait_for_function("(text) => window.shownAt(text)", arg=message[:-1])
                worked = _processor(running.process.pid)
                field.press("End")
                page.keyboard.type(message[-1])
                page.wait_for_function("(text) => window.shownAt(text)", arg=message)
                seconds.append(page.evaluate("(text) => window.shownAt(text) - window.typedAt", message) / 1000)
                work.append(_processor(running.process.pid) - worked)
    finally:
        stop(running)
    after = [one - DEBOUNCE_MS / 1000 for one in seconds[5:]]
    p50, p90 = percentiles(after, 50, 90)
    return {"debounce": DEBOUNCE_MS / 1000, "p50": p50, "p90": p90, "best": min(after), "server": sum(work) / len(work)}


# Times of the browser: of the last letter, and of the first frame that shows the verdict on a message. Letters that are
# not on the keyboard come without an event of a key.
_WATCH_VERDICTS = """() => {
  const shown = new Map();
  window.shownAt = (text) => shown.get(text);
  document.addEventListener("input", (event) => { window.typedAt = event.timeStamp; }, true);
  new MutationObserver(() => {
    const text = document.querySelector(".st-verdict .st-said")?.textContent;
    if (text && !shown.has(text)) shown.set(text, performance.now());
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


def _scrolling(browser: Any, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Scroll the intents of Edit, and count the frames."""
    with _served(folder, options) as served, watched(browser) as page:
        page.goto(f"{served.url}/edit")
        page.wait_for_selector(".st-intent")
        rows = page.locator(".st-intent").count()
        still = page.evaluate(_FRAMES, [".nothing", _SECONDS_OF_SCROLLING])
        moving = page.evaluate(_FRAMES, [".st-list-of-intents", _SECONDS_OF_SCROLLING])
    return {"rows": rows, "still": _frames(still), "moving": _frames(moving)}


_FRAMES = """([selector, seconds]) => new Promise((done) => {
  const list = document.querySelector(selector), times = [], began = performance.now();
  const step = (now) => {
    times.push(now);
    if (list) list.scrollTop = Math.abs(((now - began) * 1.5) % (2 * list.scrollHeight) - list.scrollHeight);
    if (now - began < 1000 * seconds) requestAnimationFrame(step); else done(times);
  };
  requestAnimationFrame(step);
})"""


def _frames(times: Sequence[float]) -> dict[str, float]:
    between = [after - before for before, after in pairwise(times)] or [0.0]
    return {"a_second": 1000 * len(between) / (times[-1] - times[0] or 1), "median": median(between) / 1000}


def _starts(browser: Any, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Start `serve` and `studio` in turns, until the first answer and the first screen."""
    registry = _copy(folder)
    found: dict[str, list[dict[str, float]]] = {"serve": [], "studio": []}
    for _ in range(options.rounds):
        for name, runs in found.items():
            runs.append(_start(browser, registry, name))
    return [{"command": name, **_medians(runs)} for name, runs in found.items()]


def _start(browser: Any, registry: Path, command: str) -> dict[str, float]:
    began = time.perf_counter()
    running = start(registry, command=command)
    try:
        _ask(running, "where is my order")
        measured = {"answer": time.perf_counter() - began, "memory": _megabytes(running.process.pid)}
        if command == "studio":
            with watched(browser) as page:
                page.goto(f"{running.url}/try?message=where is my order", wait_until="commit")
                page.wait_for_selector(".st-verdict")
                measured["screen"] = time.perf_counter() - began
                measured["memory_open"] = _megabytes(running.process.pid)
        measured["processor"] = _processor(running.process.pid)
        return measured
    finally:
        stop(running)


def _copy(folder: Path) -> Path:
    """Copy the shipped registry, without its history."""
    target = folder / "shipped" / "intents"
    if not target.exists():
        target.mkdir(parents=True)
        for file in SOURCE.glob("*.yaml"):
            (target / file.name).write_bytes(file.read_bytes())
    return target


def _medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: median(run[key] for run in runs) for key in runs[0]} if runs else {}


def _processor(process: int) -> float:
    """Seconds of processor time of a process, with all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))) / 1024


def _print(found: dict[str, Any]) -> None:
    if rows := found.get("screens"):
        kinds = [
            ("first", "complete"),
            ("first", "server"),
            ("again", "shown"),
            ("again", "complete"),
            ("again", "server"),
        ]
        header = ["screen", "opened s", "first s", "first cpu s", "shown s", "complete s", "cpu s"]
        cells = [
            [row["screen"], f"{row['opened']:.0f}", *(f"{row[a].get(b, 0.0):.2f}" for a, b in kinds)] for row in rows
        ]
        sys.stdout.write(f"{plain_table(header, cells)}\n\n")
    if verdict := found.get("verdict"):
        shown = [f"{1000 * verdict[key]:.1f}" for key in ("p50", "p90", "best", "server")]
        sys.stdout.write(f"{plain_table(['p50 ms', 'p90 ms', 'best ms', 'cpu ms'], [shown], left=0)}\n\n")
    if frames := found.get("scrolling"):
        cells = [
            [name, f"{frames[name]['a_second']:.0f}", f"{1000 * frames[name]['median']:.1f}"]
            for name in ("still", "moving")
        ]
        sys.stdout.write(f"{frames['rows']} rows\n{plain_table(['list', 'frames/s', 'median ms'], cells)}\n\n")
    if starts := found.get("start"):
        keys = ("answer", "screen", "processor", "memory", "memory_open")
        cells = [[row["command"], *(f"{row[key]:.2f}" if key in row else "" for key in keys)] for row in starts]
        header = ["command", "answer s", "screen s", "cpu s", "MB", "MB open"]
        sys.stdout.write(f"{plain_table(header, cells)}\n")


if __name__ == "__main__":
    sys.exit(main())
