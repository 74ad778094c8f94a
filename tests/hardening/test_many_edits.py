"""A registry that is edited as quickly as it can be loaded: threads and memory stay flat."""

from __future__ import annotations

import logging
import os
import resource
import sys
import threading
import time
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.matching import watch
from intentmatch.matching.matcher import Matcher

pytestmark = pytest.mark.end_to_end

_log = logging.getLogger(__name__)

PATIENCE = 600.0
MOST_MEGABYTES = 48
"""Growth of memory after the first tenth of the edits, whatever their number."""
MOST_THREADS = 1 + (os.cpu_count() or 1)
"""Threads beside the watch: the one that trains, and those that help it."""


def registry(number: int) -> str:
    """Return a registry that takes longer to train than to load."""
    ways = ("where is", "cancel", "change", "show me", "explain", "I have a question about", f"number {number} of")
    intents = (f"  topic_{n}: {{utterances: [{', '.join(f'{way} my topic {n}' for way in ways)}]}}" for n in range(60))
    return "\n".join(["intents:", *intents, ""])


def learners() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "intentmatch-train"]


def megabytes() -> float:
    """Return the memory of this process now, or its peak where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return pages * resource.getpagesize() / 1e6


@pytest.mark.rounds(60, 3600)
def test_many_edits_keep_threads_and_memory_flat(tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bot.yaml"
    file.write_text(registry(-1), encoding="utf-8")
    encoder = WordHashEncoder()
    matcher = Matcher.load(tmp_path, encoder=encoder, cache="off")
    monkeypatch.setattr(watch, "_QUIET", 0.0)
    early = 0.0
    with matcher.watch() as watching:
        threads = threading.active_count()
        for number in range(rounds):
            file.write_text(registry(number), encoding="utf-8")
            watching._look()
            encoder.encoded.clear()  # what the test's encoder keeps, and no real one
            assert len(learners()) <= 1
            assert threading.active_count() <= threads + MOST_THREADS
            if number == rounds // 10:
                early = megabytes()
            if number % 50 == 0:  # --log-cli-level=INFO shows it
                _log.info("%d edits: %d threads, %.0f MB", number, threading.active_count(), megabytes())
        assert megabytes() - early < MOST_MEGABYTES
    assert matcher.match(f"number {rounds - 1} of my topic 3").intent == "topic_3"
    deadline = time.monotonic() + PATIENCE
    while learners():
        assert time.monotonic() < deadline, "training never ended"
        time.sleep(0.01)
