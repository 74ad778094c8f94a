"""A loaded candidate: which conversations it answers, and how its answers compare with the present registry's."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.result import MatchResult
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.inbox.sample import SECONDS_IN_A_DAY
from intentmatch.inbox.store import Entry
from intentmatch.inbox.stored_rows import row_of
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server.candidates.differences import KINDS, Kind, answer, kind_of
from intentmatch.server.candidates.records import SAMPLES_OF_A_KIND, CandidateRecord, CandidateStore, Sample
from intentmatch.server.candidates.rollback import breach

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_WRITES = 5.0


class Heard(NamedTuple):
    """A message that one registry has answered."""

    message: str | Hypotheses
    """As it was received: of hypotheses, either registry may choose another one."""
    options: MatchOptions
    result: MatchResult
    registry: Registry
    """The registry that answered."""
    time: float
    """When it was said, in seconds since the epoch."""


class UserCorrection(NamedTuple):
    """What a user of a conversation said that a message means."""

    text: str
    intent: str | None
    language: str | None
    by_candidate: bool


class CandidateMetrics(Protocol):
    """Counts for Prometheus."""

    def compared(self, kind: str, messages: int, bot: str | None) -> None:
        """Count messages that both registries have answered."""

    def not_compared(self, messages: int, bot: str | None) -> None:
        """Count messages that were skipped."""

    def heard(self, registry: str, messages: int, bot: str | None) -> None:
        """Count messages of a canary's conversations, by the registry that answered."""


class RunningCandidate:
    """A candidate of one bot in one worker. For any thread."""

    def __init__(
        self,
        record: CandidateRecord,
        matcher: Matcher,
        present: Matcher,
        store: CandidateStore,
        metrics: CandidateMetrics,
        *,
        bot: str | None,
        broke: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`broke` is called with the reason, in the thread that works, once the rule says to roll back."""
        self.record, self.matcher, self.stopped = record, matcher, False
        self._present, self._store, self._metrics, self._bot, self._broke = present, store, metrics, bot, broke
        self._clock = clock
        self._lock, self._working = threading.Lock(), threading.Lock()
        # Threads of requests note under `_lock`, which nobody holds for long. All else changes under `_working`, for as
        # long as a batch is matched.
        self._noted: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._samples: list[Sample] = []
        self._beside = ""
        self._fingerprints: tuple[Registry, str] | None = None
        self._written = clock()

    @property
    def outside(self) -> bool:
        """Whether encoders work outside of the thread."""
        return self.matcher.batches or self._present.batches

    def answers(self, conversation: str | None) -> bool:
        """Whether the candidate answers a conversation; one without an id is the present registry's.

        The same conversations are the candidate's while it runs, and stay so when the share grows.
        """
        record = self.record
        if record.mode != "canary" or conversation is None or self.stopped:
            return False
        # With the id, each candidate gets other conversations: no users are always the first to try. Ids of
        # conversations are any JSON text, half of a surrogate pair included.
        key = f"{record.id} {conversation}".encode("utf-8", "surrogatepass")
        place = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
        return place < record.share * 2.0**64

    def note(self, name: str, messages: int = 1) -> None:
        """Count messages by a name of `breach`, or `skipped`."""
        with self._lock:
            self._noted[name] += messages

    def work(self, items: Sequence[Heard | UserCorrection]) -> None:
        """Have the registry that did not answer match each message as well, and count how the answers differ."""
        if not self.stopped:
            with self._working:
                self._work(items)

    def _work(self, items: Sequence[Heard | UserCorrection]) -> None:
        present, candidate = self._present.snapshot(), self.matcher.snapshot()
        self._put_beside(present)
        heard = [item for item in items if isinstance(item, Heard)]
        for registry, other, by_candidate in (
            (present.registry, candidate, False),
            (candidate.registry, present, True),
        ):
            some = [item for item in heard if item.registry is registry]
            answers = other.match_each([(item.message, item.options) for item in some])
            for item, found in zip(some, answers, strict=True):
                self._compare(item, None if isinstance(found, Exception) else found, by_candidate=by_candidate)
        # A reload in between has changed the registry of these.
        known = (present.registry, candidate.registry)
        self.note("skipped", sum(not any(item.registry is one for one in known) for item in heard))
        for correction in items:
            if isinstance(correction, UserCorrection):
                self._correct(correction, candidate if correction.by_candidate else present)

    def rest(self) -> bool:
        """Write counts and samples every five seconds, and look at the rule; whether the candidate still runs."""
        if not self.stopped and self._clock() >= self._written + _SECONDS_BETWEEN_WRITES:
            self.flush()
        return not self.stopped

    def flush(self) -> None:
        """Write what is counted, and roll back if the rule says so. For any thread."""
        with self._working:
            self._flush()

    def _flush(self) -> None:
        self._written = self._clock()
        with self._lock:
            noted, self._noted = self._noted, Counter()
        self._put_beside(self._present.snapshot())
        counts, samples = self._counts + noted, self._samples
        self._counts, self._samples = Counter(), []
        self._measure(counts)
        if not counts:
            return
        try:
            # False: another worker or an author has ended it.
            if not self._store.add(self.record.id, self._beside, counts, samples, oldest(self._present.settings)):
                self.stopped = True
                return
            rule = self.record.rule
            found = None
            # A shadow harms nobody, and its author wants to see all of it.
            if rule is not None and self.record.mode == "canary":
                # The counts of all workers: each alone would need as many messages as all together.
                found = breach(rule, self._store.counts(self._beside))
        except IntentMatchError as error:
            _log.warning("the counts of the candidate %s are not kept: %s", self.record.source, error)
            return
        if found is not None:
            self.stopped = True
            self._broke(str(found))

    def _put_beside(self, present: Snapshot) -> None:
        """Count beside this registry from now on; counts beside the one before a reload are written apart."""
        registry = present.registry
        if self._fingerprints is None or self._fingerprints[0] is not registry:
            fingerprint = present.fingerprint
            self._fingerprints = registry, fingerprint
            if fingerprint != self._beside:
                if self._counts or self._samples:
                    self._write_apart()
                self._beside = fingerprint

    def _write_apart(self) -> None:
        counts, samples = self._counts, self._samples
        self._counts, self._samples = Counter(), []
        self._measure(counts)
        try:
            self._store.add(self.record.id, self._beside, counts, samples, oldest(self._present.settings))
        except IntentMatchError as error:
            _log.warning("the counts of the candidate %s are not kept: %s", self.record.source, error)

    def _compare(self, item: Heard, found: MatchResult | None, *, by_candidate: bool) -> None:
        if found is None and by_candidate:  # the present registry failed: nothing to compare with
            self.note("skipped")
            return
        present, candidate = (found, item.result) if by_candidate else (item.result, found)
        assert present is not None  # noqa: S101 - see above
        kind = kind_of(present, candidate)
        self._counts[kind] += 1
        self._counts[f"present/{present.verdict}"] += 1
        if candidate is not None:
            self._counts[f"candidate/{candidate.verdict}"] += 1
        # More could not be kept, and each costs memory until the next write.
        if kind != "same" and sum(sample.kind == kind for sample in self._samples) < SAMPLES_OF_A_KIND:
            sample = self._sample(kind, item, present, candidate)
            if sample is not None:
                self._samples.append(sample)

    def _sample(self, kind: Kind, item: Heard, present: MatchResult, candidate: MatchResult | None) -> Sample | None:
        """Return a sample under the rules of the inbox; None if that is off, or a message has no words to keep."""
        settings = self._present.settings
        if settings.inbox == "off":
            return None
        row = row_of(Entry(item.result.message, 0.0), settings.inbox_mode, b"")
        if row is None:
            return None
        return Sample(kind, row["text"], present.language, answer(present), answer(candidate), item.time)

    def _correct(self, item: UserCorrection, registry: Snapshot) -> None:
        try:
            found = registry.match(item.text, language=item.language)
        except InputError:
            return
        if found.intent != item.intent:
            self._counts[f"corrected/{'candidate' if item.by_candidate else 'present'}"] += 1

    def _measure(self, counts: Counter[str]) -> None:
        for kind in KINDS:
            if counts[kind]:
                self._metrics.compared(kind, counts[kind], self._bot)
        if counts["skipped"]:
            self._metrics.not_compared(counts["skipped"], self._bot)
        for registry in ("present", "candidate"):
            if counts[f"heard/{registry}"]:
                self._metrics.heard(registry, counts[f"heard/{registry}"], self._bot)


def oldest(settings: Settings) -> float:
    """Return the time before which samples are removed: the age limit of the inbox."""
    return time.time() - settings.inbox_keep["days"] * SECONDS_IN_A_DAY
