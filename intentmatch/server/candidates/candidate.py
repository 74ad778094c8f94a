"""The candidate of one bot in one worker: loads what all workers are to load, and follows its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TYPE_CHECKING

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.runtime.background import in_background
from intentmatch.server.bots.memory import own_bytes
from intentmatch.server.candidates.records import CandidateRecord, CandidateSource, CandidateStore, Sample, State
from intentmatch.server.candidates.running import Heard, RunningCandidate, UserCorrection, oldest
from intentmatch.server.candidates.shadow_queue import ShadowQueue
from intentmatch.server.candidates.sources import LoadedCandidate

if TYPE_CHECKING:
    from intentmatch.server.process.metrics import Metrics

_log = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 1.0
"""How often a worker looks for a candidate that another one has begun or ended."""
# The cause of a failed load may lie outside of the files, such as a model server that is away.
_SECONDS_BETWEEN_TRIES = 30.0


@dataclass(frozen=True)
class CandidateStatus:
    """What is known about a candidate."""

    record: CandidateRecord | None
    """None if there is none."""
    counts: dict[str, int]
    """By name, as for `breach`, beside the registry in use."""
    samples: list[Sample]
    loaded: bool
    """Whether this worker has loaded it."""
    problem: str | None
    """Why this worker has not."""
    bytes: int
    """Estimated memory in this worker, without models."""
    shares_encoder: bool
    """Whether the candidate uses the encoder of the registry in use."""
    equals_present: bool = False
    """Whether the candidate is the same as the registry in use, so that no answer can differ."""


class BotCandidate:
    """Holds the candidate of a bot while it runs. For the event loop, except where a method says otherwise."""

    def __init__(
        self,
        *,
        matcher: Callable[[], Matcher],
        store: Callable[[], CandidateStore | None],
        load: Callable[[CandidateSource], LoadedCandidate],
        metrics: Metrics,
        queue: ShadowQueue,
        note: Callable[[str, str], None],
        bot: str | None = None,
    ) -> None:
        """`store` returns None for a bot whose candidate no worker could share.

        `load` loads a candidate, and `note` writes into the audit log: who, and what. Both are called in a thread.
        """
        self._matcher, self._make_store, self._load = matcher, store, load
        self._metrics, self._queue, self._note, self._bot = metrics, queue, note, bot
        # Begins lines of the log: of several bots, the one that a line is about.
        self._about = "" if bot is None else f"{bot}: "
        self._store: CandidateStore | None = None
        self._looked = False
        self._starting = asyncio.Lock()
        self._failed: tuple[str, float, str] | None = None
        self._warned = ""
        self.running: RunningCandidate | None = None
        """The candidate; None unless it is loaded here, and runs."""
        self.bytes = 0
        """Estimated memory of the candidate, without models."""

    @property
    def store(self) -> CandidateStore | None:
        """Where the workers share the candidate; None for a bot that can have none. For any thread."""
        if not self._looked:
            self._store, self._looked = self._make_store(), True
        return self._store

    def matcher_for(self, conversation: str | None) -> Matcher | None:
        """Return the candidate's matcher if it answers a conversation; otherwise None. For any thread."""
        running = self.running
        return running.matcher if running is not None and running.answers(conversation) else None

    def heard(
        self,
        message: str | Hypotheses,
        result: MatchResult,
        registry: Registry,
        options: MatchOptions,
        conversation: str | None,
    ) -> None:
        """Have the registry that did not answer a message match it too. For any thread; returns at once."""
        running = self.running
        if running is None or running.stopped:
            return
        if conversation is not None and running.record.mode == "canary":
            running.note("heard/candidate" if registry is running.matcher.registry else "heard/present")
        if not self._queue.put(running, Heard(message, options, result, registry, time.time())):
            running.note("skipped")

    def corrected(self, text: str, intent: str | None, language: str | None, conversation: str | None) -> None:
        """Note what a user of a canary's conversation said that a message means. Returns at once."""
        running = self.running
        # A correction says nothing about a registry unless it is known which one answered.
        if running is None or conversation is None or running.record.mode != "canary":
            return
        self._queue.put(running, UserCorrection(text, intent, language, running.answers(conversation)), rare=True)

    def failed(self, error: Exception) -> None:
        """Log that the candidate could not answer, so that the present registry did. For any thread."""
        running = self.running
        if running is not None:
            _log.warning("%sthe candidate %s failed: %s", self._about, running.record.source, error)

    async def begin(self, record: CandidateRecord) -> CandidateRecord:
        """Load a candidate here, and have all workers load it. Raises what loading raises, and `InputError`.

        The candidate before goes on until then. If the very same one runs already, it goes on with its counts under
        the new mode, share and rule.
        """
        async with self._starting:
            store = await asyncio.to_thread(lambda: self.store)
            if store is None:
                raise InputError("a registry that was made in code has no candidate: serve one from files")
            matcher, digest = await asyncio.to_thread(self._load, record.source)
            # Read after the load, which may take minutes: another worker may have begun a candidate meanwhile.
            before = await asyncio.to_thread(store.read)
            record = replace(
                record,
                id=token_hex(8),
                fingerprint=matcher.fingerprint,
                digest=digest,
                registry=matcher.registry.fingerprint,
            )
            if (
                before is not None
                and before.state == "running"
                and (before.source, before.fingerprint) == (record.source, record.fingerprint)
            ):
                record = replace(record, id=before.id, started=before.started)
            if self.running is not None:
                await asyncio.to_thread(self.running.flush)
            await asyncio.to_thread(store.begin, record)
            await self._take(record, matcher, store)
            await asyncio.to_thread(self._note, record.author, record.note)
            return record

    async def end(self, state: State, reason: str, beside: str | None = None) -> bool:
        """End the candidate in all workers; False if none runs. Raises `InputError`.

        The counts that stay are those beside the registry with the fingerprint `beside`: by default the one in use.
        """
        store, record = await asyncio.to_thread(self._read)
        if store is None or record is None:
            return False
        # What was counted since the last write belongs to the result of the candidate.
        if self.running is not None and self.running.record.id == record.id:
            await asyncio.to_thread(self.running.flush)
        ended = await asyncio.to_thread(
            store.end, record.id, state, reason, time.time(), beside or self._matcher().fingerprint
        )
        self._drop()
        return ended

    async def clear(self) -> None:
        """Forget the candidate with its counts and samples. Raises `InputError`."""
        self._drop()
        store, _ = await asyncio.to_thread(self._read)
        if store is not None:
            await asyncio.to_thread(store.clear)

    def status(self) -> CandidateStatus:
        """Return what is known about the candidate. For a thread. Raises `InputError`."""
        running, present = self.running, self._matcher()
        store, record = self._read()
        if store is None or record is None:
            return CandidateStatus(None, {}, [], False, None, 0, False)
        loaded = running is not None and running.record.id == record.id and record.state == "running"
        if running is not None and loaded:
            # May roll the candidate back, so that the record is read again.
            running.flush()
            record = store.read() or record
        problem = self._failed[2] if self._failed and self._failed[0] == record.id and not loaded else None
        fingerprint = record.beside or present.fingerprint
        return CandidateStatus(
            record,
            store.counts(fingerprint),
            store.samples(fingerprint, oldest(present.settings)),
            loaded,
            problem if record.state == "running" else None,
            self.bytes if loaded else 0,
            loaded and running is not None and running.matcher.encoder is present.encoder,
            record.fingerprint == fingerprint,
        )

    async def follow(self) -> None:
        """Do what other workers have begun or ended, until cancelled."""
        while True:
            try:
                await self.look()
                self._warned = ""
            except Exception as error:  # noqa: BLE001 - whatever failed, the next look may succeed
                if str(error) != self._warned:
                    unexpected = None if isinstance(error, IntentMatchError) else error
                    _log.warning("%sthe candidate cannot be followed: %s", self._about, error, exc_info=unexpected)
                self._warned = str(error)
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def look(self) -> None:
        """Load, change or drop the candidate as the other workers have. Raises `InputError`."""
        # `begin` changes what this would look at, and takes as long as a candidate loads.
        if self._starting.locked():
            return
        async with self._starting:
            store, record = await in_background(self._read)
            running = self.running
            if store is None or record is None or record.state != "running":
                self._drop()
            elif running is not None and running.record.id == record.id:
                # Another worker has changed the share, the mode or the rule.
                running.record = record
            elif self._may_try(record):
                await self._load_here(record, store)

    async def close(self) -> None:
        """Write what is counted, and stop; the candidate goes on in other workers, and after a restart."""
        running = self.running
        self._drop()
        if running is not None:
            await asyncio.to_thread(running.flush)

    def _read(self) -> tuple[CandidateStore | None, CandidateRecord | None]:
        store = self.store
        return store, None if store is None else store.read()

    def _may_try(self, record: CandidateRecord) -> bool:
        return (
            self._failed is None
            or self._failed[0] != record.id
            or time.monotonic() > self._failed[1] + _SECONDS_BETWEEN_TRIES
        )

    async def _load_here(self, record: CandidateRecord, store: CandidateStore) -> None:
        self._drop()
        try:
            matcher, _ = await asyncio.to_thread(self._load, record.source)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the present registry answers
            reason = str(error) if isinstance(error, IntentMatchError) else "it failed unexpectedly, see the log"
            self._fail(record, reason, None if isinstance(error, IntentMatchError) else error)
            return
        # The counts of all workers are added up, which is meaningless unless all have the same candidate.
        if matcher.fingerprint != record.fingerprint:
            self._fail(record, "its files have changed since it was loaded first", None)
            return
        await self._take(record, matcher, store)

    def _fail(self, record: CandidateRecord, reason: str, unexpected: Exception | None) -> None:
        self._failed = record.id, time.monotonic(), reason
        _log.warning(
            "%sthe candidate %s is not loaded here: %s", self._about, record.source, reason, exc_info=unexpected
        )

    async def _take(self, record: CandidateRecord, matcher: Matcher, store: CandidateStore) -> None:
        size = await asyncio.to_thread(own_bytes, matcher)
        if self.running is not None:
            self.running.stopped = True
        self.running = RunningCandidate(
            record, matcher, self._matcher(), store, self._metrics, bot=self._bot, broke=self._broke(record, store)
        )
        self.bytes, self._failed = size, None
        if matcher.fingerprint == self._matcher().fingerprint:
            told = "%sthe candidate %s is the same as the registry in use: no answer can differ"
            _log.warning(told, self._about, record.source)
        _log.info(
            "%sthe candidate %s is loaded: %s, fingerprint %s, %.1f MB",
            self._about, record.source, record.mode, matcher.registry.fingerprint, size / 1e6,
        )  # fmt: skip

    def _broke(self, record: CandidateRecord, store: CandidateStore) -> Callable[[str], None]:
        def roll_back(reason: str) -> None:
            beside = self._matcher().fingerprint
            if not store.end(record.id, "rolled_back", reason, time.time(), beside):
                return  # another worker was quicker
            _log.warning("%sthe candidate %s is rolled back: %s", self._about, record.source, reason)
            self._metrics.rolled_back(self._bot)
            self._note("intentmatch", f"Roll back candidate {record.source}: {reason}")

        return roll_back

    def _drop(self) -> None:
        if self.running is not None:
            self.running.stopped = True
            self.running = None
            self.bytes = 0
