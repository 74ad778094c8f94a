"""Metrics for Prometheus.

If the environment variable PROMETHEUS_MULTIPROC_DIR names an empty folder at the start, the counts of several workers
are added up; metrics of the registry then come from the worker that answers.
"""

from __future__ import annotations

import os
from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from intentmatch.core.result import MatchResult
from intentmatch.evaluation.drift import KINDS as DRIFT_KINDS
from intentmatch.matching.matcher import Matcher
from intentmatch.server.candidates.differences import KINDS
from intentmatch.storage.vector_cache import LOOKUPS, VectorCache

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
SHARED = "PROMETHEUS_MULTIPROC_DIR"

# A static encoder answers within a millisecond, a transformer on a busy machine within a second.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STAGE_SECONDS = (0.00001, 0.00005, 0.0001, 0.0005, *_SECONDS[:11])
_MESSAGES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_CONFIDENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


State = Literal["warming", "ready", "stale", "broken"]


@dataclass(frozen=True)
class BotStatus:
    """The state of a bot, for gauges."""

    state: State
    matcher: Matcher | None
    """None until it is loaded."""
    loaded_at: float
    name: str | None = None
    """Name of the bot; None if there is only one."""
    candidate_bytes: int | None = None
    """Memory of its candidate, 0 without one; None where the server has no authors to begin one."""
    drift: Mapping[str, Any] | None = None
    """What the last daily check for drift found, as `DailyDrift.last`."""


class Metrics:
    """The metrics of one app, in a collector registry of its own, apart from other apps in the process."""

    def __init__(self, *, several: bool = False) -> None:
        """With `several` bots, verdicts, confidences, reloads and messages for the inbox are counted per bot."""
        own = self._own = CollectorRegistry()
        self._requests = Counter(
            "intentmatch_requests", "Requests by route and status.", ["path", "status"], registry=own
        )
        self._request_seconds = Histogram(
            "intentmatch_request_seconds",
            "Time until the response is complete.",
            ["path"],
            buckets=_SECONDS,
            registry=own,
        )
        self._stage_seconds = Histogram(
            "intentmatch_stage_seconds",
            "Time in one stage of a match.",
            ["stage"],
            buckets=_STAGE_SECONDS,
            registry=own,
        )
        self._verdicts = Counter(
            "intentmatch_verdicts",
            "Messages by verdict.",
            ["bot"] * several + ["verdict", "intent"],
            registry=own,
        )
        self._confidences = Histogram(
            "intentmatch_confidence",
            "Confidence of the first candidate, where there is one.",
            ["bot"] * several + ["verdict"],
            buckets=_CONFIDENCES,
            registry=own,
        )
        self._reloads = Counter(
            "intentmatch_reloads", "Reloads by result.", ["bot"] * several + ["result"], registry=own
        )
        self._inbox = Counter(
            "intentmatch_inbox_messages", "Messages given to the inbox.", ["bot"] * several, registry=own
        )
        self._queue = Gauge(
            "intentmatch_queue_messages", "Messages waiting to be matched.", registry=own, multiprocess_mode="livesum"
        )
        self._queue_seconds = Histogram(
            "intentmatch_queue_seconds", "Time that a message waits.", buckets=_SECONDS, registry=own
        )
        self._batch = Histogram("intentmatch_batch_messages", "Messages per batch.", buckets=_MESSAGES, registry=own)
        self._refused = Counter(
            "intentmatch_refused", "Messages refused: queue full, too late, client gone.", ["why"], registry=own
        )
        self._compared = Counter(
            "intentmatch_candidate_messages",
            "Messages that the registry in use and its candidate have both answered, by how the answers differ.",
            ["bot"] * several + ["kind"],
            registry=own,
        )
        self._not_compared = Counter(
            "intentmatch_candidate_skipped",
            "Messages that only one of the two answered, to save time.",
            ["bot"] * several,
            registry=own,
        )
        self._heard = Counter(
            "intentmatch_candidate_heard",
            "Messages of conversations during a canary, by the registry that answered.",
            ["bot"] * several + ["registry"],
            registry=own,
        )
        self._rollbacks = Counter(
            "intentmatch_candidate_rollbacks", "Candidates rolled back by rule.", ["bot"] * several, registry=own
        )
        # `labels` takes a lock and makes strings for each message: the children are looked up once.
        self._request = cache(self._requests.labels)
        self._request_time = cache(self._request_seconds.labels)
        self._stage = cache(self._stage_seconds.labels)
        self._verdict = cache(self._verdicts.labels)
        self._confidence = cache(self._confidences.labels)
        # Linux only; elsewhere this collects nothing.
        self._process = ProcessCollector(registry=None)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request. `path` is that of the route, so that callers cannot create new label values."""
        self._request(path, status).inc()
        self._request_time(path).observe(seconds)

    def matched(self, results: Sequence[MatchResult], bot: str | None = None) -> None:
        """Count verdicts, and the time of each stage; `bot` is None if there is only one."""
        owner = _owner(bot)
        for result in results:
            self._verdict(*owner, result.verdict, result.intent or "").inc()
            if result.confidence is not None:
                self._confidence(*owner, result.verdict).observe(result.confidence)
            for stage in result.trace.stages:
                self._stage(stage.name).observe(stage.microseconds / 1e6)

    def expect(self, bot: str | None = None) -> None:
        """Start the counters of a bot at 0, so that Prometheus sees the first increase."""
        for result in ("ok", "failed"):
            self._reloads.labels(*_owner(bot), result)
        if bot is not None:
            self._inbox.labels(bot)

    def reloaded(self, bot: str | None = None, *, ok: bool) -> None:
        """Count a reload: `ok`, or failed because the files are invalid or out of reach."""
        self._reloads.labels(*_owner(bot), "ok" if ok else "failed").inc()

    def kept(self, messages: int, bot: str | None = None) -> None:
        """Count messages given to the inbox."""
        (self._inbox if bot is None else self._inbox.labels(bot)).inc(messages)

    def expect_candidates(self, bot: str | None = None) -> None:
        """Start the counters of candidates at 0."""
        for registry in ("present", "candidate"):
            self._heard.labels(*_owner(bot), registry)
        for kind in KINDS:
            self._compared.labels(*_owner(bot), kind)
        if bot is not None:
            self._not_compared.labels(bot)
            self._rollbacks.labels(bot)

    def compared(self, kind: str, messages: int, bot: str | None = None) -> None:
        """Count messages that both registries have answered, by how the answers differ."""
        self._compared.labels(*_owner(bot), kind).inc(messages)

    def not_compared(self, messages: int, bot: str | None = None) -> None:
        """Count messages that only one of the two answered, to save time."""
        (self._not_compared if bot is None else self._not_compared.labels(bot)).inc(messages)

    def heard(self, registry: str, messages: int, bot: str | None = None) -> None:
        """Count messages of a canary's conversations, by the registry that answered: `present` or `candidate`."""
        self._heard.labels(*_owner(bot), registry).inc(messages)

    def rolled_back(self, bot: str | None = None) -> None:
        """Count a candidate that was rolled back by rule."""
        (self._rollbacks if bot is None else self._rollbacks.labels(bot)).inc()

    def queued(self, messages: int) -> None:
        """Set the number of waiting messages."""
        self._queue.set(messages)

    def batched(self, waited: Sequence[float]) -> None:
        """Count a batch, given the seconds that each of its messages has waited."""
        self._batch.observe(len(waited))
        for seconds in waited:
            self._queue_seconds.observe(seconds)

    def refused(self, why: str, messages: int = 1) -> None:
        """Count refused messages: the queue is `full`, the batch `late`, or the client `gone`."""
        self._refused.labels(why).inc(messages)

    def exposition(self, bots: Sequence[BotStatus], more: Iterable[Metric] = ()) -> bytes:
        """Return all metrics in Prometheus's text format."""
        gauges = CollectorRegistry()
        # Apart from the counts, since these come from the files of all workers if there are several.
        gauges.register(_Gauges([*_gauges(bots), *more]))
        gauges.register(self._process)
        counted = self._own
        if os.environ.get(SHARED):
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(gauges)


def _owner(bot: str | None) -> tuple[str, ...]:
    return () if bot is None else (bot,)


class _Gauges(Collector):
    """Metrics that are read at scrape time instead of counted."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """Return the metrics."""
        return self._metrics


def gauge(name: str, documentation: str, values: Iterable[tuple[str | None, float]], label: str = "bot") -> Metric:
    """Return a gauge with one value per label value; a single value without a name gets no label."""
    values = list(values)
    labels = [label] if any(owner is not None for owner, _ in values) else []
    family = GaugeMetricFamily(f"intentmatch_{name}", documentation, labels=labels)
    for owner, value in values:
        family.add_metric([] if owner is None else [owner], value)
    return family


def _gauges(bots: Sequence[BotStatus]) -> Iterator[Metric]:
    """The state, the registry in use and the vector cache."""
    yield gauge("ready", "Whether messages are answered.", [(b.name, b.state in ("ready", "stale")) for b in bots])
    stale = [(b.name, b.state == "stale") for b in bots]
    yield gauge("registry_stale", "Whether newer files are invalid.", stale)
    loaded = [(bot, bot.matcher) for bot in bots if bot.matcher is not None]
    if not loaded:
        return
    info = InfoMetricFamily(
        "intentmatch_registry", "The registry in use.", labels=["bot"] * (loaded[0][0].name is not None)
    )
    for bot, matcher in loaded:
        fingerprint = {"fingerprint": matcher.registry.fingerprint, "encoder": matcher.encoder.name}
        info.add_metric([] if bot.name is None else [bot.name], fingerprint)
    yield info
    intents = [(bot.name, len(matcher.registry)) for bot, matcher in loaded]
    yield gauge("registry_intents", "Intents of the registry in use.", intents)
    times = [(bot.name, bot.loaded_at) for bot, _ in loaded]
    yield gauge("registry_loaded_timestamp_seconds", "When the registry in use was loaded.", times)
    candidates = [(bot.name, bot.candidate_bytes) for bot, _ in loaded if bot.candidate_bytes is not None]
    if candidates:
        yield gauge("candidate", "Whether a candidate is loaded.", [(name, size > 0) for name, size in candidates])
        yield gauge("candidate_bytes", "Estimated memory of a candidate, without its models.", candidates)
    yield from _drift_gauges(loaded)
    # As a set: bots usually share a folder, which counts once.
    size = _size({VectorCache.at(matcher.settings.cache).folder for _, matcher in loaded})
    yield gauge("cache_bytes", "Vectors on disk, all encoders together.", [(None, size)])
    lookups = CounterMetricFamily(
        "intentmatch_cache_lookups", "Look-ups of vectors on disk while loading intents.", labels=["result"]
    )
    for result, texts in LOOKUPS.items():
        lookups.add_metric([result], texts)
    yield lookups


def _drift_gauges(loaded: Sequence[tuple[BotStatus, Matcher]]) -> Iterator[Metric]:
    """What the daily checks for drift have found, of the bots that have them."""
    checked = [(bot.name, bot.drift) for bot, _ in loaded if bot.drift is not None]
    if not checked:
        return
    times = [(name, drift["checked"]) for name, drift in checked]
    yield gauge("drift_checked_timestamp_seconds", "Until when the last day of the check for drift lasted.", times)
    messages = [(name, drift["messages"]) for name, drift in checked]
    yield gauge("drift_messages", "Messages of the last day that were compared.", messages)
    labels = ["bot"] * (checked[0][0] is not None) + ["kind"]
    findings = GaugeMetricFamily("intentmatch_drift_findings", "What changed in the last day, by kind.", labels=labels)
    for name, drift in checked:
        kinds = Counts(finding["kind"] for finding in drift["findings"])
        for kind in DRIFT_KINDS:
            findings.add_metric([*_owner(name), kind], kinds[kind])
    yield findings


def _size(folders: Iterable[Path | None]) -> int:
    sizes = 0
    for file in (file for folder in folders if folder for file in folder.glob("*.sqlite")):
        try:
            sizes += file.stat().st_size
        except OSError:  # deleted in the meantime
            continue
    return sizes
