"""What the webhook tells Prometheus.

Counts of several workers are added up where the environment variable PROMETHEUS_MULTIPROC_DIR names an empty folder
when they start; what is said of the registry is then that of the worker that happens to answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from intentmatch.cache import VectorCache
from intentmatch.matcher import Matcher
from intentmatch.result import MatchResult

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
SHARED = "PROMETHEUS_MULTIPROC_DIR"

# A static encoder answers within a millisecond, a transformer on a busy machine within a second.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STAGE_SECONDS = (0.00001, 0.00005, 0.0001, 0.0005, *_SECONDS[:11])
_MESSAGES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The counts of one app, in a registry of their own: another app in the process may have its own."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        self._requests = Counter(
            "intentmatch_requests", "Requests, by the route and the status they got.", ["path", "status"], registry=own
        )
        self._request_seconds = Histogram(
            "intentmatch_request_seconds", "Time to the end of the answer.", ["path"], buckets=_SECONDS, registry=own
        )
        self._stage_seconds = Histogram(
            "intentmatch_stage_seconds", "Time in a stage of a match.", ["stage"], buckets=_STAGE_SECONDS, registry=own
        )
        self._verdicts = Counter(
            "intentmatch_verdicts", "Messages, by what was made of them.", ["verdict", "intent"], registry=own
        )
        self._queue = Gauge(
            "intentmatch_queue_messages", "Messages that wait to be matched.", registry=own, multiprocess_mode="livesum"
        )
        self._queue_seconds = Histogram(
            "intentmatch_queue_seconds", "Time until a message begins to be matched.", buckets=_SECONDS, registry=own
        )
        self._batch = Histogram(
            "intentmatch_batch_messages", "Messages that are matched together.", buckets=_MESSAGES, registry=own
        )
        self._refused = Counter(
            "intentmatch_refused", "Messages not matched: the queue full, too late, client gone.", ["why"], registry=own
        )
        self._stage = cache(self._stage_seconds.labels)
        self._verdict = cache(self._verdicts.labels)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request. `path` is that of the route, of which there are few, whatever callers ask for."""
        self._requests.labels(path, str(status)).inc()
        self._request_seconds.labels(path).observe(seconds)

    def matched(self, results: Sequence[MatchResult]) -> None:
        """Count what was made of messages, and the time of each stage."""
        for result in results:
            self._verdict(result.verdict, result.intent or "").inc()
            for stage in result.trace.stages:
                self._stage(stage.name).observe(stage.microseconds / 1e6)

    def queued(self, messages: int) -> None:
        """Note how many wait."""
        self._queue.set(messages)

    def batched(self, waited: Sequence[float]) -> None:
        """Count a batch, and the seconds that each message of it has waited."""
        self._batch.observe(len(waited))
        for seconds in waited:
            self._queue_seconds.observe(seconds)

    def refused(self, why: str) -> None:
        """Count a message that is not matched: `full`, `late`, `gone`."""
        self._refused.labels(why).inc()

    def exposition(self, matcher: Matcher | None, loaded_at: float, state: str) -> bytes:
        """Everything as text, as Prometheus reads it. `matcher` is None until there is one."""
        now = CollectorRegistry()
        now.register(_Now(matcher, loaded_at, state))
        counted = self._own
        if os.environ.get(SHARED):
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(now)


class _Now(Collector):
    """What is not counted but looked up when asked for."""

    def __init__(self, matcher: Matcher | None, loaded_at: float, state: str) -> None:
        self._matcher, self._loaded_at, self._state = matcher, loaded_at, state

    def collect(self) -> Iterable[Metric]:
        """The state, the registry in use and the cache."""
        ready = self._state in {"ready", "stale"}
        yield GaugeMetricFamily("intentmatch_ready", "Whether messages are answered.", float(ready))
        stale = self._state == "stale"
        yield GaugeMetricFamily("intentmatch_registry_stale", "Whether newer files could not be loaded.", float(stale))
        if self._matcher is None:
            return
        registry = self._matcher.registry
        labels = {"fingerprint": registry.fingerprint, "encoder": self._matcher.encoder.name}
        yield InfoMetricFamily("intentmatch_registry", "The registry in use.", labels)
        yield GaugeMetricFamily("intentmatch_registry_intents", "Intents of the registry in use.", len(registry))
        yield GaugeMetricFamily(
            "intentmatch_registry_loaded_timestamp_seconds", "When the registry in use was loaded.", self._loaded_at
        )
        yield GaugeMetricFamily("intentmatch_cache_bytes", "Vectors on disk, of all encoders.", _size(self._matcher))


def _size(matcher: Matcher) -> int:
    folder = VectorCache.at(matcher.settings.cache).folder
    sizes = 0
    for file in folder.glob("*.sqlite") if folder else ():
        try:
            sizes += file.stat().st_size
        except OSError:  # begun anew at this moment
            continue
    return sizes
