"""Starts a studio in a process of its own, and opens pages in a headless browser."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

# Nothing is expected to take as long: a machine that is slow and busy must not fail a test.
PATIENCE = 180.0
"""Seconds after which a page, or a server that starts or stops, counts as stuck."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Two languages, one of them written from right to left; small enough to build in a moment, large enough to calibrate.
REGISTRY = Path(__file__).parent / "registry"

JARGON = re.compile(
    r"\b(?:utterances?|held[ -]out|lint|mends?|revisions?|heads?|(?:in|out[ -]of)[ -]scope|\w+_scope)\b", re.IGNORECASE
)
"""Words that an author need not know."""
SPOKEN = """() => [document.body.innerText, ...[...document.querySelectorAll("[title], [aria-label], [placeholder]")]
  .flatMap((e) => ["title", "aria-label", "placeholder"].map((name) => e.getAttribute(name)))].join("\\n")"""
"""All words of a page, with those that a mouse shows or a screen reader speaks."""

WITHOUT_FILES = """(dialog) => {
  const copy = dialog.cloneNode(true);
  copy.querySelectorAll(".st-diff").forEach((difference) => difference.remove());
  return copy.textContent;
}"""
"""The words of a dialog without the lines of the files."""


@dataclass
class Served:
    """A studio that is running."""

    url: str
    """Address of the studio, without a slash at the end."""
    folder: Path
    """The registry that it shows, a copy."""
    process: subprocess.Popen[bytes]
    log: Path


def start(
    folder: Path,
    *words: str,
    command: str = "studio",
    environment: dict[str, str] | None = None,
    port: int | None = None,
) -> Served:
    """Start `intentmatch studio` or `serve --studio`, and wait until it answers. Without a port, at a free one."""
    if port is None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = int(found.getsockname()[1])
    log = folder.parent / f"{command}-{port}.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "intentmatch", command, str(folder), "--port", str(port), *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=folder.parent,
        )
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
                return Served(f"http://127.0.0.1:{port}/studio", folder, process, log)
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError(f"the studio did not start:\n{log.read_text()}")


def stop(served: Served) -> None:
    """Stop a studio as Ctrl+C does."""
    served.process.send_signal(signal.SIGINT)
    try:
        served.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        served.process.kill()
        raise


def copied(target: Path) -> Path:
    """Return a copy of the registry of these tests."""
    return Path(shutil.copytree(REGISTRY, target / "intents"))


class watched:  # noqa: N801 - reads like a function
    """A page in a browser of its own that fails the test if its console reports an error."""

    def __init__(
        self, browser, width: int = 1280, height: int = 800, *, dark: bool = False, expected: tuple[str, ...] = ()
    ) -> None:
        """Errors that contain one of `expected` are meant."""
        self._expected = expected
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", locale="en-US"
        )
        self._context.set_default_timeout(1000 * PATIENCE)
        self.errors: list[str] = []

    def __enter__(self):
        page = self._context.new_page()
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def __exit__(self, kind, *_) -> None:
        self._context.close()
        if kind is None:
            assert [error for error in self.errors if not any(meant in error for meant in self._expected)] == []


def open_screen(page, served: Served, path: str) -> None:
    """Open a screen, and wait until it answers to clicks and keys."""
    page.goto(f"{served.url}/{path}")
    page.locator("h1").wait_for()
    page.wait_for_function("window.did_handshake && window.socket.connected")


def open_difference(page) -> None:
    """Unfold the difference of the files in the dialog that every edit goes through."""
    page.get_by_text("Show the lines of the files").click()
    page.locator(".st-diff").wait_for()


def save_proposal(page) -> None:
    """Press Save in the dialog that every edit goes through, and wait until it is gone. Its words are plain."""
    said = page.locator(".st-proposal").evaluate(WITHOUT_FILES)
    assert not JARGON.findall(said), said
    page.locator(".st-proposal").get_by_role("button", name="Save").click()
    page.locator(".st-proposal").wait_for(state="detached")


def serious_findings(page) -> list[str]:
    """What axe finds on the page that is serious or critical, one line per finding."""
    import axe_core_python

    source = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
    page.evaluate(f"{source}; 0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
