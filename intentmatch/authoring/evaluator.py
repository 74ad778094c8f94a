"""Evaluate revisions in the background, one after the other, and tell how far that is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from intentmatch.authoring.revision_scores import SECONDS, Scores
from intentmatch.authoring.score_revision import evaluate
from intentmatch.authoring.time_limit import stopping
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError
from intentmatch.matching.matcher import Matcher

State = Literal["pending", "done", "failed"]

_log = logging.getLogger(__name__)

# Of many edits in a row the newest are evaluated; the others once somebody asks for them.
_MOST_WAITING = 10
_SECONDS_TO_STOP = 5.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a revision, or why there is none yet."""

    state: State
    scores: Scores | None = None
    """None unless the state is `done`."""
    reason: str | None = None
    """Why it failed."""


class _ClosedError(Exception):
    """The evaluator was closed. Unlike work whose time is up, the work so far is not kept."""


class Evaluator:
    """Evaluates the revisions of one registry in a thread of its own, the newest request first.

    Several processes may do so: only one evaluates at a time, and all find what one has kept.
    """

    def __init__(self, workspace: Workspace, matcher: Callable[[], Matcher], *, seconds: float = SECONDS) -> None:
        """`matcher` returns the matcher whose models are used, at the time when a revision is evaluated."""
        self._workspace, self._matcher, self._seconds = workspace, matcher, seconds
        self._wanted: list[str] = []
        self._failed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def evaluation(self, identity: str) -> Evaluation:
        """Return the evaluation of a revision, and begin it if nobody has."""
        scores = self._workspace.scores.read(identity)
        if scores is not None:
            return Evaluation("done", scores)
        with self._lock:
            # Without this, each look at a failed revision would evaluate it again.
            if identity in self._failed:
                return Evaluation("failed", reason=self._failed[identity])
        self.ask(identity)
        return Evaluation("pending")

    def ask(self, identity: str) -> None:
        """Evaluate a revision as soon as those are done that have begun."""
        with self._lock:
            if self._closed:
                return
            # Asked again it becomes the newest: somebody waits for it now.
            waiting = [one for one in self._wanted if one != identity]
            self._wanted = [*waiting[-_MOST_WAITING:], identity]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intentmatch-evaluate", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop at the next step of the work; a revision that is not evaluated yet stays so."""
        with self._lock:
            self._closed = True
            self._wanted.clear()
            thread = self._thread
        if thread is not None:
            # Outside of the lock, which the thread needs to end.
            thread.join(_SECONDS_TO_STOP)

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._closed or not self._wanted:
                    self._thread = None
                    return
                # It stays in the list until it is done, so that nobody asks for it twice.
                identity = self._wanted[-1]
            try:
                with stopping(lambda: self._closed, error=_ClosedError):
                    self._evaluate(identity)
            except _ClosedError:
                continue
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one revision, the others are evaluated
                expected = isinstance(error, IntentMatchError)
                _log.warning("the revision %s cannot be evaluated: %s", identity, error, exc_info=not expected)
                with self._lock:
                    self._failed[identity] = str(error) if expected else "It failed unexpectedly, see the log."
            with self._lock:
                if identity in self._wanted:
                    self._wanted.remove(identity)

    def _evaluate(self, identity: str) -> None:
        scores = self._workspace.scores
        with scores.turn(lambda: self._closed) as mine:
            # Another process may have evaluated it while this one waited.
            if mine and scores.read(identity) is None:
                evaluate(self._workspace, identity, self._matcher(), seconds=self._seconds)
