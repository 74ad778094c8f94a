"""Insights into a registry in the background: each is worked out once for the same content, and shared by all who ask.

The answer is the result, the progress of the thread that works on it, or the reason why there is no result. Results are
kept for the registries that were asked about last.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextvars import copy_context
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from intentmatch.artefact.artefact import Artefact
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.time_limit import StoppedError, stopping
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError
from intentmatch.evaluation.insight.closest_lines import OverlappingIntents, overlapping_intents
from intentmatch.evaluation.insight.growth import LearningCurve, learning_curve
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases, held_out_cases
from intentmatch.evaluation.insight.issues import Issue, issues
from intentmatch.evaluation.insight.utterance_map import UtteranceMap, utterance_map
from intentmatch.lint import lint
from intentmatch.lint.subject import Subject
from intentmatch.matching.matcher import Matcher
from intentmatch.runtime import steps
from intentmatch.runtime.steps import Step

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

MOST_RESULTS = 24
"""Results that are kept."""
MOST_LINES_IN_ADVANCE = 20_000
"""Utterances of the largest registry whose insights are worked out before somebody asks."""
_SECONDS_UNTIL_NEXT_TRY = 10.0
_SECONDS_BETWEEN_LOOKS = 0.1
_BEGINNING = Step("waiting for other work")


class Rank(IntEnum):
    """What work comes first. One job works at a time: insights must leave time for answers."""

    SHORT = 0
    """Takes seconds, and somebody waits for it."""
    LONG = 1
    """Takes a minute or more, and somebody waits for it. Pauses at its next step for short work."""
    ADVANCE = 2
    """Takes seconds, and nobody has asked for it yet. Stopped for other work, and begun again after it."""


@dataclass(frozen=True, slots=True)
class Ready(Generic[_T]):
    """The result."""

    value: _T


@dataclass(frozen=True, slots=True)
class Working:
    """The result is not there yet."""

    step: Step
    seconds: float
    """How long it has been worked on."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no result. A later call tries again."""

    reason: str


class _Job:
    """One result, and the thread that works it out."""

    def __init__(self, lane: Hashable, rank: Rank) -> None:
        self.lane, self.rank = lane, rank
        self.state: Ready[object] | Failed | None = None
        self.step = _BEGINNING
        self.stopped = False
        self.begin = time.monotonic()
        self.end = 0.0


class Insights:
    """Results by key, for any number of threads."""

    def __init__(self, most: int = MOST_RESULTS) -> None:
        self._jobs: OrderedDict[Hashable, _Job] = OrderedDict()
        self._unfinished: list[_Job] = []
        """In the order in which they were asked for."""
        # Guards all of it; waiters are told when a job begins, comes first or ends.
        self._changed = threading.Condition()
        self._most = most

    def ask(
        self,
        key: Hashable,
        work: Callable[[], _T],
        *,
        lane: Hashable = None,
        rank: Rank = Rank.SHORT,
        seconds: float = 0.0,
    ) -> Ready[_T] | Working | Failed:
        """Return the result of `work` for this key, or how far it is after so many seconds. The first call starts it.

        Unfinished work for another key of the same `lane` is stopped at its next step: nobody needs it any more. Work
        may run several times, if its `rank` is `ADVANCE`.
        """
        with self._changed:
            job = self._job(key, work, lane, rank)
            self._changed.wait_for(lambda: job.state is not None, seconds)
            if job.state is None:
                return Working(job.step, time.monotonic() - job.begin)
            return job.state  # type: ignore[return-value]

    def _job(self, key: Hashable, work: Callable[[], object], lane: Hashable, rank: Rank) -> _Job:
        """Return the job of a key, begun if there is none. The lock must be held."""
        job = self._jobs.get(key)
        if job is not None and not self._outdated(job):
            self._jobs.move_to_end(key)
            # Somebody waits now for what was worked out in advance.
            if job.state is None and rank < job.rank:
                job.rank = rank
                self._unfinished.remove(job)
                self._unfinished.append(job)
                self._changed.notify_all()
            return job
        for other in self._unfinished if lane is not None else ():
            other.stopped |= other.lane == lane
        job = self._jobs[key] = _Job(lane, rank)
        self._unfinished.append(job)
        self._changed.notify_all()
        self._jobs.move_to_end(key)
        # Unfinished jobs stay, whose threads would go on anyway.
        finished = [one for one, of in self._jobs.items() if of.state is not None]
        for one in finished[: max(0, len(self._jobs) - self._most)]:
            del self._jobs[one]
        # The thread must not keep a program from ending.
        thread = threading.Thread(
            target=copy_context().run, args=(self._run, job, work), name="intentmatch-insights", daemon=True
        )
        thread.start()
        return job

    @staticmethod
    def _outdated(job: _Job) -> bool:
        """Whether a job has to be done again."""
        if job.stopped and not isinstance(job.state, Ready):
            return True
        return isinstance(job.state, Failed) and time.monotonic() - job.end > _SECONDS_UNTIL_NEXT_TRY

    def _run(self, job: _Job, work: Callable[[], object]) -> None:
        state: Ready[object] | Failed | None = None
        while state is None:
            try:
                self._wait_for_turn(job)
                with stopping(lambda: job.stopped or self._gives_way(job), lambda step: self._follow(job, step)):
                    state = Failed("it was stopped") if job.stopped else Ready(work())
            except StoppedError:
                state = Failed("it was stopped, because the files have changed") if job.stopped else None
                # It was stopped for more urgent work and begins again.
                job.step = _BEGINNING
            except IntentMatchError as error:
                state = Failed(str(error))
            except Exception:  # noqa: BLE001 - whoever asks must not wait for ever
                _log.exception("an insight could not be worked out")
                state = Failed("it could not be worked out, see the log")
        with self._changed:
            job.end = time.monotonic()
            job.state = state
            self._unfinished.remove(job)
            self._changed.notify_all()

    def _follow(self, job: _Job, step: Step) -> None:
        job.step = step
        # Short work never pauses: it may hold what other work needs.
        if job.rank == Rank.LONG:
            self._wait_for_turn(job)

    def _wait_for_turn(self, job: _Job) -> None:
        with self._changed:
            self._changed.wait_for(lambda: job.stopped or job is self._first())

    def _gives_way(self, job: _Job) -> bool:
        with self._changed:
            return job.rank == Rank.ADVANCE and job is not self._first()

    def _first(self) -> _Job:
        """Return the job that works now. The lock must be held."""
        # Of one rank, the oldest.
        return min(self._unfinished, key=lambda job: job.rank)


shared = Insights()
"""The results of this process, the same for pages and calls. All functions below wait for `seconds` at most."""


def prepare(matcher: Matcher, workspace: Workspace | None) -> None:
    """Have the insights that take seconds worked out before somebody asks, unless the registry is too large.

    Without a workspace, only those of the registry in use. Raises `InputError` if the files cannot be read.
    """
    if len(matcher.registry.utterances) > MOST_LINES_IN_ADVANCE:
        return
    utterance_map_of(matcher, rank=Rank.ADVANCE)
    overlaps_of(matcher, rank=Rank.ADVANCE)
    if workspace is not None:
        issues_of(matcher, workspace, rank=Rank.ADVANCE)


def utterance_map_of(
    matcher: Matcher, seconds: float = 0.0, *, rank: Rank = Rank.SHORT
) -> Ready[UtteranceMap] | Working | Failed:
    """Return the map of the registry in use."""
    return _of_artefact("map", matcher, lambda artefact: utterance_map(_subject(artefact)), seconds, rank)


def overlaps_of(
    matcher: Matcher, seconds: float = 0.0, *, rank: Rank = Rank.SHORT
) -> Ready[list[OverlappingIntents]] | Working | Failed:
    """Return the overlapping intents of the registry in use."""
    return _of_artefact("overlaps", matcher, lambda artefact: overlapping_intents(_subject(artefact)), seconds, rank)


def held_out_of(matcher: Matcher, seconds: float = 0.0) -> Ready[HeldOutCases] | Working | Failed:
    """Return the held-out cases of the registry in use.

    They come from its training, once that has ended; without a cache, 10,000 lines take a minute.
    """
    encoder = matcher.encoder

    def work(artefact: Artefact) -> HeldOutCases:
        while matcher.is_training:
            steps.report("training")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        # The training replaces the artefact. If the files have changed meanwhile, its vectors are of other lines.
        trained = matcher.artefact
        return held_out_cases(trained if _content(trained) == _content(artefact) else artefact, encoder)

    return _of_artefact("held out", matcher, work, seconds, Rank.LONG)


def learning_curve_of(matcher: Matcher, seconds: float = 0.0) -> Ready[LearningCurve] | Working | Failed:
    """Return the learning curve of the registry in use; two to three times the time of `held_out_of`.

    It starts once the held-out cases are there.
    """
    cases = held_out_of(matcher, seconds)
    if not isinstance(cases, Ready):
        return cases
    return _of_artefact("curve", matcher, lambda _: learning_curve(cases.value), seconds, Rank.LONG)


def issues_of(
    matcher: Matcher, workspace: Workspace, seconds: float = 0.0, *, rank: Rank = Rank.SHORT
) -> Ready[list[Issue]] | Working | Failed:
    """Return the findings about the files as they are now. Raises `InputError` if they cannot be read."""
    # By the files and not by the registry in use, which may be older, or valid where they are not.
    key = "issues", digest_of(workspace.files()), str(workspace.path), matcher.artefact.encoder_fingerprint
    encoder = matcher.encoder
    return shared.ask(
        key,
        lambda: issues(lint(workspace.path, encoder=encoder), workspace.base),
        lane=("issues", str(workspace.path)),
        rank=rank,
        seconds=seconds,
    )


def _of_artefact(
    kind: str, matcher: Matcher, work: Callable[[Artefact], _T], seconds: float, rank: Rank
) -> Ready[_T] | Working | Failed:
    artefact = matcher.artefact
    lane = None if matcher.path is None else (kind, str(matcher.path))
    return shared.ask((kind, *_content(artefact)), lambda: work(artefact), lane=lane, rank=rank, seconds=seconds)


_subjects: WeakKeyDictionary[Artefact, Subject] = WeakKeyDictionary()


def _subject(artefact: Artefact) -> Subject:
    """Return what map and overlaps share while the registry is in use: each line is compared with all others once."""
    subject = _subjects.get(artefact)
    if subject is None:
        subject = Subject(artefact.registry, artefact.wide_vectors, artefact.settings.aggregation)
        _subjects[artefact] = subject
    return subject


_contents: WeakKeyDictionary[Artefact, tuple[str, str]] = WeakKeyDictionary()


def _content(artefact: Artefact) -> tuple[str, str]:
    """Return fingerprint and a digest of the places of all lines, which the fingerprint leaves out."""
    content = _contents.get(artefact)
    if content is None:
        places = [str(line.location) for line in artefact.registry.utterances]
        digest = hashlib.sha256(json.dumps(places).encode("utf-8", "surrogatepass")).hexdigest()
        content = _contents[artefact] = artefact.fingerprint, digest
    return content
