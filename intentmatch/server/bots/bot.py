"""The matcher behind the routes: there or not there yet, fresh or stale."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request

from intentmatch.core.errors import InputError, IntentMatchError, Problem
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.inbox import Inbox
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.options import MatchOptions
from intentmatch.server.bots.batching import Batches
from intentmatch.server.bots.reloads import Reloads
from intentmatch.server.middleware.problems import BROKEN, WARMING, ProblemError, of_problems, of_reload
from intentmatch.server.process.logs import messages_log
from intentmatch.server.process.metrics import Now, State
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.matching.watch import Watch

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LOOKS = 0.1


class Service:
    """Holds the matcher of one app: the one it was given, or the one `load` reads from a path."""

    def __init__(
        self,
        source: Matcher | str | os.PathLike[str],
        batches: Batches,
        *,
        watch: bool = False,
        spans: Spans | None = None,
        reloads: Reloads | None = None,
        reloads_seen: int = 0,
        name: str | None = None,
    ) -> None:
        """One of several has a `name`; what waits for them, and is counted, they have in common.

        A matcher that was loaded after some of the `reloads` has `reloads_seen`.
        """
        self._source = source
        self._name = name
        self._spans = spans
        self._watching = watch
        self._watch: Watch | None = None
        self._inbox: Inbox | None = None
        self._inbox_settings = Settings()
        self._matcher = source if isinstance(source, Matcher) else None
        # One thread: reloads wait for each other there, and not in the threads that messages are matched in.
        self._reloader = ThreadPoolExecutor(1, thread_name_prefix="intentmatch-reload")
        self._reloads, self._reloads_seen = reloads, reloads_seen
        self._following: asyncio.Task[None] | None = None
        self._warming = self._matcher is None
        self._failed = False
        self._loaded_at = time.time()
        self._batches = batches
        self.metrics = batches.metrics
        self.reload_error: ProblemDetails | None = None
        """Why the last reload failed; None when it did not."""

    @property
    def matcher(self) -> Matcher:
        """The matcher. Raises `ProblemError` (503) while it is not loaded."""
        if self._matcher is None:
            detail = (
                "The intents are not loaded. They are when the server starts, in the app's lifespan; an app that is "
                "mounted in another gets no lifespan of its own and must be made from a loaded Matcher."
            )
            raise ProblemError(ProblemDetails.of(503, detail, kind=WARMING))
        return self._matcher

    async def bot_named(self, request: Request, name: str | None) -> Service:
        """The one bot that there is, whatever others call it."""
        return self

    @contextmanager
    def answering(self) -> Iterator[Matcher]:
        """The matcher, for an answer. That it could not give one, through no fault of the caller, is remembered."""
        matcher = self.matcher
        try:
            yield matcher
        except (InputError, ProblemError, ClientDisconnect):
            raise
        except Exception:
            self._failed = True
            raise
        self._failed = False

    async def match(self, matcher: Matcher, text: str, **options: Any) -> MatchResult:
        """What a matcher says of a text, recorded."""
        with self.answering():
            result = await self._batches.match(matcher, text, MatchOptions(**options))
        self.record([result])
        return result

    async def ready(self, *, telling: bool = True) -> Matcher:
        """The matcher, if it answers; where the last message got no answer, others are tried.

        Raises `ProblemError` (503) while it is warming up, and when it is broken: `telling` why, or only that it is.
        """
        matcher = self.matcher
        if self._warming:
            detail = "The intents are loaded, and the first messages are being tried."
            raise ProblemError(ProblemDetails.of(503, detail, kind=WARMING))
        if self._failed:
            try:
                await asyncio.to_thread(self._try)
            except Exception as error:
                _log.warning("no message can be answered: %s", error)
                said = f": {error}" if telling and isinstance(error, IntentMatchError) else ", see the log."
                detail = f"No message can be answered{said}"
                raise ProblemError(ProblemDetails.of(503, detail, kind=BROKEN)) from error
        return matcher

    def _try(self) -> None:
        """Match messages of every language, and of every intent with slots, through all stages."""
        with self.answering() as matcher:
            registry = matcher.registry
            tried = {utterance.language: utterance for utterance in registry.utterances}
            slotted = [intent.utterances[0] for intent in registry if intent.slots]
            for utterance in (*tried.values(), *slotted):
                # Twice, because what an author wrote is answered without the encoder.
                matcher.match(f"{utterance.text} {utterance.text}", language=utterance.language)

    async def load(self) -> None:
        """Load the matcher, unless it is there, warm it up, and begin to watch its files if asked to.

        Raises what `Matcher.load`, `Matcher.match` and `Matcher.watch` do.
        """
        self._warming = True
        if not isinstance(self._source, Matcher):
            self._matcher = await asyncio.to_thread(Matcher.load, self._source)
            self._loaded_at = time.time()
        await asyncio.to_thread(self._try)
        self._warming = False
        if self._watching:
            self._watch = await asyncio.to_thread(
                self.matcher.watch, on_reload=self._was_reloaded, on_error=self._was_refused
            )
        if self._reloads is not None:
            self._following = asyncio.create_task(self._follow(self._reloads))

    async def close(self) -> None:
        """Stop watching, and see that what goes to the inbox is written."""
        if self._following is not None:
            self._following.cancel()
        if self._watch is not None:
            await asyncio.to_thread(self._watch.stop)
        if self._inbox is not None:
            await asyncio.to_thread(self._inbox.flush)

    @property
    def inbox(self) -> Inbox | None:
        """The inbox that the settings in use now ask for; None where it is off."""
        settings = self.matcher.settings
        if settings is not self._inbox_settings:
            names = ("inbox", "inbox_keep", "inbox_mode")
            if any(getattr(settings, name) != getattr(self._inbox_settings, name) for name in names):
                self._inbox = Inbox.from_settings(settings)
            self._inbox_settings = settings
        return self._inbox

    def record(self, results: Sequence[MatchResult]) -> None:
        """Count, trace and log what was made of messages, and keep what was missed: each where it is asked for."""
        self.metrics.matched(results, self._name)
        if self._spans is not None:
            self._spans.matched(results, self.matcher.registry.fingerprint)
        for result in results:
            fields = {"text": result.message, "verdict": result.verdict, "intent": result.intent}
            messages_log.info("%(verdict)s %(intent)s: %(text)r", fields, extra={"fields": fields})
        inbox = self.inbox
        if inbox is not None:
            for result in results:
                inbox.record(result)

    @property
    def state(self) -> State:
        """As `/readyz` has it, without trying."""
        if self._matcher is None or self._warming:
            return "warming"
        if self._failed:
            return "broken"
        return "ready" if self.reload_error is None else "stale"

    @property
    def now(self) -> Now:
        """What there is to look up."""
        return Now(self.state, self._matcher, self._loaded_at, self._name)

    def exposition(self) -> bytes:
        """What Prometheus is told."""
        return self.metrics.exposition([self.now])

    async def reload(self) -> Matcher:
        """Read the files again, and have other workers do so too.

        Raises `ProblemError` where they cannot be used; the old registry then stays.
        """
        if self._reloads is not None:
            self._reloads_seen = self._reloads.ask()
        return await self._reload_here()

    async def _reload_here(self) -> Matcher:
        return await asyncio.get_running_loop().run_in_executor(self._reloader, self._reload, self.matcher)

    async def _follow(self, reloads: Reloads) -> None:
        """Reload whenever that was asked for elsewhere."""
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            if (asked := reloads.asked) != self._reloads_seen:
                self._reloads_seen = asked
                with suppress(ProblemError):  # the log and /readyz have it
                    await self._reload_here()

    def _reload(self, matcher: Matcher) -> Matcher:
        try:
            matcher.reload()
        except Exception as error:
            self.reload_error = of_reload(error)
            expected = isinstance(error, IntentMatchError)
            _log.warning("reload failed, the old intents go on answering: %s", error, exc_info=not expected)
            raise ProblemError(self.reload_error) from error
        self._was_reloaded(matcher.registry)
        _log.info("reloaded: %d intents, fingerprint %s", len(matcher.registry), matcher.registry.fingerprint)
        return matcher

    def _was_reloaded(self, registry: Registry) -> None:
        self.reload_error = None
        self._loaded_at = time.time()

    def _was_refused(self, problems: Sequence[Problem]) -> None:
        self.reload_error = of_problems(problems)
