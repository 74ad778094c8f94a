"""Revisions are evaluated in the background: the newest first, once, and not after closing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from intentmatch.authoring import evaluator as module
from intentmatch.authoring.evaluator import Evaluation, Evaluator
from intentmatch.authoring.revision_scores import Scores
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.runtime import steps

SCORES = Scores((), 1, 2, sampled=False)


class Fake(Workspace):
    """Evaluates without a matcher: notes the revisions, and waits until it is let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.begun: list[str] = []
        self.go = threading.Event()
        self.error: Exception | None = None

    def evaluated(self, identity: str) -> Scores:
        self.begun.append(identity)
        while not self.go.is_set():
            steps.report("waiting")
            time.sleep(0.002)
        if self.error is not None:
            raise self.error
        self.scores.write(identity, SCORES)
        return SCORES


@pytest.fixture
def workspace(bot: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    def evaluate(workspace: Fake, identity: str, *_: Any, **__: Any) -> Scores:
        return workspace.evaluated(identity)

    monkeypatch.setattr(module, "evaluate", evaluate)
    return Fake(bot)


@pytest.fixture
def evaluator(workspace: Fake) -> Iterator[Evaluator]:
    made = Evaluator(workspace, SimpleNamespace)  # type: ignore[arg-type]
    yield made
    made.close()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_pending_until_it_is_done(workspace: Fake, evaluator: Evaluator) -> None:
    assert evaluator.evaluation("1") == Evaluation("pending")
    until(lambda: workspace.begun == ["1"])
    assert evaluator.evaluation("1").state == "pending"
    workspace.go.set()

    until(lambda: evaluator.evaluation("1") == Evaluation("done", SCORES))
    assert workspace.begun == ["1"]


def test_newest_request_comes_first(workspace: Fake, evaluator: Evaluator) -> None:
    evaluator.ask("1")
    until(lambda: workspace.begun == ["1"])
    for identity in ("2", "3", "2"):
        evaluator.ask(identity)
    workspace.go.set()

    until(lambda: workspace.begun == ["1", "2", "3"])


def test_of_many_requests_only_the_newest_wait(
    workspace: Fake, evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 2)
    evaluator.ask("0")
    until(lambda: workspace.begun == ["0"])
    for number in range(1, 9):
        evaluator.ask(str(number))
    workspace.go.set()

    until(lambda: evaluator._thread is None)
    assert workspace.begun == ["0", "8", "7", "6"]


def test_failure_is_told_and_does_not_stop_the_others(
    workspace: Fake, evaluator: Evaluator, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.error = InputError("no such model")
    workspace.go.set()
    evaluator.ask("1")

    until(lambda: evaluator.evaluation("1") == Evaluation("failed", reason="no such model"))
    workspace.error = ZeroDivisionError()
    evaluator.ask("2")
    until(lambda: evaluator.evaluation("2").state == "failed")
    assert evaluator.evaluation("2").reason == "It failed unexpectedly, see the log."
    assert "ZeroDivisionError" in caplog.text
    workspace.error = None
    evaluator.ask("3")
    until(lambda: evaluator.evaluation("3").state == "done")


def test_closing_stops_at_the_next_step(workspace: Fake, evaluator: Evaluator) -> None:
    evaluator.ask("1")
    until(lambda: workspace.begun == ["1"])

    evaluator.close()

    assert evaluator._thread is None
    assert workspace.scores.read("1") is None
    evaluator.ask("2")
    assert evaluator._thread is None


def test_two_processes_evaluate_a_revision_once(bot: Path, workspace: Fake, evaluator: Evaluator) -> None:
    other = Fake(bot)
    also = Evaluator(other, SimpleNamespace)  # type: ignore[arg-type]
    evaluator.ask("1")
    until(lambda: workspace.begun == ["1"])
    also.ask("1")
    workspace.go.set()
    until(lambda: also.evaluation("1").state == "done")
    also.close()

    assert other.begun == []
