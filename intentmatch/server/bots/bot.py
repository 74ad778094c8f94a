"""One bot: its matcher, its inbox, and whether it is warming up, ready, stale or broken."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from intentmatch.authoring.read_limits import named_on_disk, served_settings
from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry, Utterance
from intentmatch.inbox import Inbox, is_missed
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.daily_drift import DailyDrift
from intentmatch.server.bots.editing import Editing
from intentmatch.server.bots.followed_files import FollowedFiles
from intentmatch.server.bots.probe import Probe
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.middleware.problems import (
    BROKEN,
    WARMING,
    ProblemError,
)
from intentmatch.server.middleware.request_log import answered_by
from intentmatch.server.process.logs import messages_log
from intentmatch.server.process.metrics import BotStatus, State
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.server.candidates.candidate import BotCandidate

_log = logging.getLogger(__name__)

SECONDS_BETWEEN_PROBES = 10.0
"""After which `/readyz` tries a message, unless one was answered meanwhile."""

_Message = TypeVar("_Message")
_Result = TypeVar("_Result")


class Bot:
    """Holds a matcher: one given ready-made, or one that `load` reads from a path."""

    def __init__(
        self,
        source: Matcher | str | os.PathLike[str],
        queue: BatchQueue,
        *,
        watch: bool = False,
        spans: Spans | None = None,
        reloads: ReloadCounter | None = None,
        reloads_seen: int = 0,
        name: str | None = None,
        candidates: bool = False,
    ) -> None:
        """A bot of a pool has a `name`, and shares queue and metrics with the others.

        With `candidates`, it may have a second registry beside the first: see `server.candidates`.
        `reloads_seen` is the count of `reloads` when a ready-made matcher was loaded.
        """
        self._source = source
        # Here and not in `load`: what the YAML names on disk when the server starts counts as the operator's word.
        self._settings = {} if isinstance(source, Matcher) else served_settings({}, named_on_disk(source))
        self.name = name
        """The name of a bot of a pool."""
        self._spans = spans
        self._watching = watch
        self._inbox: Inbox | None = None
        self._inbox_settings = Settings()
        self._matcher = source if isinstance(source, Matcher) else None
        self._warming = self._matcher is None
        self._failed = False
        self._answered_at = -math.inf
        self._probe = Probe()
        self._queue, self.metrics = queue, queue.metrics
        self.metrics.expect(name)
        # Begins lines of the log: of several bots, the one that a line is about.
        self._about = "" if name is None else f"{name}: "
        self.files = FollowedFiles(lambda: self.matcher, queue.metrics, name, reloads, reloads_seen)
        """The files that the matcher was loaded from."""
        self.editing = Editing(lambda: self.matcher)
        """The same files, for authors."""
        self.candidate = self._make_candidate(queue) if candidates else None
        """The second registry; None if the server has no authors, who could begin one."""
        self._drift = DailyDrift(lambda: self.matcher, lambda: self.inbox, name)
        self._following: list[asyncio.Task[None]] = []

    def _make_candidate(self, queue: BatchQueue) -> BotCandidate:
        from intentmatch.server.candidates.of_bot import make_candidate  # needed by few servers

        return make_candidate(lambda: self.matcher, self.editing, queue, self.name)

    @property
    def matcher(self) -> Matcher:
        """The matcher. Raises `ProblemError` (503) until it is loaded."""
        if self._matcher is None:
            detail = (
                "The intents are not loaded yet. The app loads them in its lifespan, when the server starts; an app "
                "mounted in another has no lifespan of its own and must be made from a loaded Matcher."
            )
            raise ProblemError(ProblemDetails.for_status(503, detail, kind=WARMING))
        return self._matcher

    async def bot_named(self, request: Request, name: str | None) -> Bot:
        """Return this bot, whatever name the caller uses: there is only one."""
        return self

    def matcher_for(self, conversation: str | None = None) -> Matcher:
        """Return the matcher that answers a conversation: the candidate's for its share of a canary.

        Raises `ProblemError` (503) until the matcher is loaded.
        """
        chosen = None if self.candidate is None else self.candidate.matcher_for(conversation)
        return chosen or self.matcher

    @contextmanager
    def snapshot_for(self, conversation: str | None = None) -> Iterator[Snapshot]:
        """Lend the registry that answers a conversation, for one answer.

        Note whether the registry in use failed through no fault of the caller: then `ready` tries it again.
        """
        matcher = self.matcher_for(conversation)
        try:
            yield matcher.snapshot()
        # The caller's mistakes, a full queue and a client that has gone say nothing about the bot.
        except (InputError, ProblemError, ClientDisconnect):
            raise
        except Exception:
            self._failed = self._failed or matcher is self._matcher
            raise
        if matcher is self._matcher:
            self._failed = False
            self._answered_at = time.monotonic()

    async def match(
        self, message: str | Hypotheses, options: MatchOptions, conversation: str | None = None
    ) -> MatchResult:
        """Match a message as soon as the queue lets it, and record the result.

        The candidate answers its share of the conversations; if it fails, the registry in use answers.

        Raises what `BatchQueue.match` does, and `ProblemError` (503) until the matcher is loaded.
        """
        answer = None
        if self.candidate is not None and (chosen := self.candidate.matcher_for(conversation)) is not None:
            try:
                answer = await self._queue.match(chosen, message, options)
            # A full queue or a client that has gone is not the candidate's fault, and the other
            # registry would fare no better.
            except (ProblemError, ClientDisconnect):
                raise
            except Exception as error:  # noqa: BLE001 - such as a name in `allowed` that only the present one has
                self.candidate.failed(error)
        if answer is None:
            # The queue takes a snapshot of its own; this one is for noting failures.
            with self.snapshot_for():
                answer = await self._queue.match(self.matcher, message, options)
        self.record([answer.result], answer.registry, options, conversation, [message])
        return answer.result

    async def match_many(self, messages: Sequence[str | Hypotheses], options: MatchOptions) -> list[MatchResult]:
        """Match messages of one caller against the same registry, and record the results.

        Raises what `BatchQueue.in_parts` does, and `ProblemError` (503) until the matcher is loaded.
        """
        with self.snapshot_for() as snapshot:

            def match(part: Sequence[str | Hypotheses]) -> list[MatchResult]:
                return snapshot.match_many(
                    part,
                    language=options.language,
                    top_k=options.top_k,
                    allowed=options.allowed,
                    context=options.context,
                    now=options.now,
                    previous=options.previous,
                )

            results = await self.in_parts(messages, match)
        # In a thread, since it writes to the inbox: hundreds of messages would hold up the event loop.
        await asyncio.to_thread(self.record, results, snapshot.registry, options, None, messages)
        return results

    async def in_parts(
        self, messages: Sequence[_Message], work: Callable[[Sequence[_Message]], Sequence[_Result]]
    ) -> list[_Result]:
        """Return the results of `work` for many messages of one caller, as `BatchQueue.in_parts` does."""
        return await self._queue.in_parts(messages, work)

    async def ready(self, *, with_reasons: bool = True) -> Matcher:
        """Return the matcher if it answers; if the last message failed, try some messages first.

        A busy model is not waited for longer than a second. Raises `ProblemError` (503) while the bot is warming up or
        broken; `with_reasons`, it says why.
        """
        matcher = self.matcher
        if self._warming:
            detail = "The intents are loaded, and the first messages are being tried."
            raise ProblemError(ProblemDetails.for_status(503, detail, kind=WARMING))
        if self._failed or time.monotonic() > self._answered_at + SECONDS_BETWEEN_PROBES:
            try:
                await self._probe.try_out(self._warm_up if self._failed else self._answer_and_record)
                if self._failed:  # the trial goes on
                    raise TimeoutError("the last message failed, and no other has been answered since")
            except Exception as error:
                _log.warning("%sno message can be answered: %s", self._about, error)
                reason = f": {error}" if with_reasons and isinstance(error, IntentMatchError) else ", see the log."
                detail = f"No message can be answered{reason}"
                raise ProblemError(ProblemDetails.for_status(503, detail, kind=BROKEN)) from error
        return matcher

    def _answer_and_record(self) -> None:
        """Answer a message, and see that it could be recorded."""
        with self.snapshot_for() as snapshot:
            if utterance := next(iter(snapshot.registry.utterances), None):
                snapshot.match(_probing(utterance), language=utterance.language)
            # An inbox that cannot be opened fails every call after its message was
            # matched: the probe must see that too.
            Inbox.from_settings(snapshot.settings, self.matcher.address)

    def _warm_up(self) -> None:
        """Send messages of every language, and of every intent with slots, through all stages."""
        with self.snapshot_for() as snapshot:
            registry = snapshot.registry
            # Each language and each kind of slot loads its tables on first use, for which the first callers would wait.
            tried = {utterance.language: utterance for utterance in registry.utterances}
            slotted = [intent.all_utterances[0] for intent in registry if intent.slots]
            for utterance in (*tried.values(), *slotted):
                snapshot.match(_probing(utterance), language=utterance.language)

    async def load(self) -> None:
        """Load the matcher if there is none, warm it up, and start watching if asked to.

        Raises what `Matcher.load`, `Matcher.match` and `Matcher.watch` do.
        """
        self._warming = True
        if not isinstance(self._source, Matcher):
            self._matcher = await asyncio.to_thread(partial(Matcher.load, self._source, **self._settings))
            self.files.loaded_at = time.time()
        # For this load and for each later one: an author's edit must not bring in what the start would refuse.
        self.matcher.require(self._check)
        await asyncio.to_thread(self._warm_up)
        self._warming = False
        # Whoever serves a bot from a database wants its newest revision.
        if self._watching or self.matcher.address is not None:
            await asyncio.to_thread(self.files.watch)
        followed = [self.files.follow(), self._drift.follow()]
        followed += [] if self.candidate is None else [self.candidate.follow()]
        self._following = [_in_background(work) for work in followed]

    def _check(self, settings: Settings) -> None:
        """Refuse settings that loading alone does not find impossible. Raises `InputError`."""
        Inbox.from_settings(settings, self.matcher.address)

    async def close(self) -> None:
        """Stop watching and evaluating, and flush the inbox."""
        await asyncio.to_thread(self.editing.close)
        for task in self._following:
            task.cancel()
        if self.candidate is not None:
            await self.candidate.close()
        await asyncio.to_thread(self.files.close)
        if self._inbox is not None:
            # Last, when nothing above records messages any more.
            await asyncio.to_thread(self._inbox.flush)

    @property
    def inbox(self) -> Inbox | None:
        """The inbox that the settings in use ask for; None if it is off."""
        settings = self.matcher.settings
        # Settings are a new value after each reload: asked for every message, the identity is cheap. Only if these four
        # differ is there a new inbox, because the old one may hold messages that are not written yet.
        if settings is not self._inbox_settings:
            names = ("inbox", "inbox_keep", "inbox_mode", "inbox_sample")
            if any(getattr(settings, name) != getattr(self._inbox_settings, name) for name in names):
                self._inbox = Inbox.from_settings(settings, self.matcher.address)
            self._inbox_settings = settings
        return self._inbox

    def record(
        self,
        results: Sequence[MatchResult],
        registry: Registry,
        options: MatchOptions | None = None,
        conversation: str | None = None,
        messages: Sequence[str | Hypotheses] | None = None,
    ) -> None:
        """Count, trace and log results of a registry, and keep misses in the inbox, each if it is turned on.

        With the `options` of the match, a candidate matches the messages too: those of the results, unless `messages`
        were matched, such as hypotheses from speech.
        """
        # Becomes the header X-Registry-Fingerprint, by which callers of a canary tell the registries apart.
        if (answered := answered_by.get()) is not None:
            answered.fingerprint = registry.fingerprint
        self.metrics.matched(results, self.name)
        if self._spans is not None:
            self._spans.matched(results, registry.fingerprint)
        for result in results:
            fields: dict[str, Any] = {"text": result.message, "verdict": result.verdict, "intent": result.intent}
            if self.name is not None:
                fields["bot"] = self.name
            if result.is_follow_up:
                fields["follow_up"] = True
            told = "%(about)s%(verdict)s %(intent)s: %(text)r"
            messages_log.info(told, {**fields, "about": self._about}, extra={"fields": fields})
        inbox = self.inbox
        if inbox is not None:
            for result in results:
                inbox.record(result)
            self.metrics.kept(sum(map(is_missed, results)), self.name)
        if self.candidate is not None and options is not None:
            for message, result in zip(messages or [one.message for one in results], results, strict=True):
                self.candidate.heard(message, result, registry, options, conversation)

    @property
    def state(self) -> State:
        """The state as `/readyz` reports it, without trying a message."""
        if self._matcher is None or self._warming:
            return "warming"
        if self._failed:
            return "broken"
        return "ready" if self.files.stale_since is None else "stale"

    @property
    def status(self) -> BotStatus:
        """What the metrics report about the bot."""
        candidate_bytes = None if self.candidate is None else self.candidate.bytes
        return BotStatus(self.state, self._matcher, self.files.loaded_at, self.name, candidate_bytes, self._drift.last)

    def exposition(self) -> bytes:
        """Return the metrics in Prometheus's text format."""
        if self.state != "warming":
            self.files.look()
        return self.metrics.exposition([self.status])


def _probing(utterance: Utterance) -> str:
    """Return a message that is doubled, because an exact match would not reach the encoder."""
    return f"{utterance.text} {utterance.text}"


def _in_background(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task that belongs to no request, although one has loaded the bot: its log lines have no request's id."""
    return Context().run(asyncio.create_task, work)
