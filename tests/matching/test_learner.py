"""The thread that trains after edits."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.types import Encoder
from intentmatch.matching import loader, watch
from intentmatch.matching.learner import Learner
from intentmatch.matching.matcher import Matcher
from intentmatch.runtime import steps
from intentmatch.storage.vector_cache import VectorCache

PATIENCE = 240.0
NAME = "intentmatch-train"


def learners() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def until_idle() -> None:
    deadline = time.monotonic() + PATIENCE
    while learners():
        assert time.monotonic() < deadline, "training never ended"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _idle() -> None:
    """A watch of an earlier test may be gone while its last training goes on."""
    until_idle()


def registry_of(lines: int) -> str:
    """Return a registry large enough to train on."""
    topics = ["order", "parcel", "refund", "invoice", "address", "account", "card", "voucher", "shop", "hours"]
    return "\n".join(["intents:", *(f"  {topic}: {{utterances: [{said(topic, lines)}]}}" for topic in topics), ""])


def said(topic: str, lines: int) -> str:
    return ", ".join(f"{way} my {topic}" for way in ("where is", "cancel", "change", "show me", "explain")[:lines])


def test_requests_during_training_make_one_more_training() -> None:
    started, go_on = threading.Semaphore(0), threading.Semaphore(0)
    trainings: list[int] = []

    def train() -> None:
        trainings.append(len(learners()))
        started.release()
        assert go_on.acquire(timeout=PATIENCE)

    learner = Learner(train)
    learner.request()
    assert started.acquire(timeout=PATIENCE)
    for _ in range(300):
        learner.request()
    assert len(learners()) == 1
    go_on.release(2)
    until_idle()
    assert trainings == [1, 1]


def test_request_after_training_starts_again() -> None:
    trainings: list[None] = []
    learner = Learner(lambda: trainings.append(None))
    for expected in (1, 2):
        learner.request()
        until_idle()
        assert len(trainings) == expected


def test_many_quick_edits_have_one_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the edits is loaded while a slow training runs; the last one is trained in the end."""
    file = tmp_path / "bot.yaml"
    file.write_text(registry_of(4), encoding="utf-8")
    matcher = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off")
    monkeypatch.setattr(watch, "_QUIET", 0.0)
    go_on, original = threading.Event(), loader.trained_again
    trained: list[str] = []

    def slow(artefact: Artefact, encoder: Encoder, *cache: VectorCache) -> Artefact:
        trained.append(artefact.fingerprint)
        assert go_on.wait(PATIENCE)
        return original(artefact, encoder, *cache)

    monkeypatch.setattr(loader, "trained_again", slow)
    most = 0
    with matcher.watch() as watching:
        for number in range(200):
            file.write_text(f"# edit {number}\n{registry_of(3 + number % 2)}", encoding="utf-8")
            watching._look()
            most = max(most, len(learners()))
        assert most == 1
        assert len(trained) == 1
        go_on.set()
    until_idle()
    fresh = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off").artefact
    assert matcher.artefact.calibration == fresh.calibration
    assert 2 <= len(trained) <= 4  # the watch may load the last edit once more


def test_training_stops_at_its_next_step_after_another_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bot.yaml"
    file.write_text(registry_of(4), encoding="utf-8")
    matcher = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off")
    reloader = matcher._reloader
    file.write_text(registry_of(5), encoding="utf-8")
    reloader.reload_provisionally()
    completed: list[int] = []

    def trained_again(artefact: Artefact, *_: object) -> Artefact:
        for number in steps.counted("cross-validating", range(10), 10):
            if number == 3:
                reloader.reload_provisionally()
            completed.append(number)
        return artefact

    monkeypatch.setattr(loader, "trained_again", trained_again)
    before = matcher.artefact.calibration
    reloader.train()
    assert completed == [0, 1, 2, 3]
    assert matcher.artefact.calibration is before
