"""Work of candidates beside the answers of a server: in one thread, and for a small share of its time.

A message is put into a bounded queue in about a microsecond, so that no answer waits. The thread takes a few messages
at a time and then rests, long enough to be busy for `SHARE` of the time: Python runs one thread at a time, and what the
thread takes is lost to answers. When messages arrive faster than that, the queue is full, and further ones are skipped
and counted: then those that are compared are a sample.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

_log = logging.getLogger(__name__)

# With 2%, a server lost 4.5, 4.5 and 6.3% of its requests a second in three runs, with 1% 2.6, 3.9 and 4.0%.
SHARE = 0.01
"""Share of the time that the thread may be busy; `bench_candidate.py` measures what that costs."""
MOST_WAITING = 256
"""Messages that wait, all bots together."""

_AT_ONCE = 16
_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_TO_LINGER = 5.0
# As on Windows, whose ticks of 16 ms are longer than most matches.
_COARSE = time.get_clock_info("thread_time").resolution > 1e-4


class Worker(Protocol):
    """What the messages are for: a loaded candidate."""

    @property
    def outside(self) -> bool:
        """Whether it works outside of the thread, as on a GPU, so that the thread's time says too little."""

    def work(self, items: Sequence[Any]) -> None:
        """Work on some messages. For the thread of the queue."""

    def rest(self) -> bool:
        """Do what is due now and then; whether there will be more. For the thread of the queue."""


class _Waiting(NamedTuple):
    worker: Worker
    item: Any


class ShadowQueue:
    """The queue of one server. `put` is for any thread."""

    def __init__(
        self,
        share: float = SHARE,
        most: int = MOST_WAITING,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._share, self._most, self._sleep = share, most, sleep
        self._waiting: deque[_Waiting] = deque()
        self._workers: list[Worker] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, worker: Worker, item: Any, *, rare: bool = False) -> bool:
        """Have the thread give an item to a worker soon; False if the queue is full.

        There is room for as many `rare` items again, of which none should be lost while messages fill the queue.
        """
        if len(self._waiting) >= (2 * self._most if rare else self._most):
            return False
        self._waiting.append(_Waiting(worker, item))
        if self._thread is None:
            self._start()
        return True

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intentmatch-shadow", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            spent = _Spent()
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _AT_ONCE))]
            outside = self._work(batch)
            seconds = spent.seconds(outside=outside)
            if batch:
                idle_since = time.monotonic()
            elif time.monotonic() > idle_since + _SECONDS_TO_LINGER and self._may_end():
                return
            pause = seconds / self._share - seconds
            self._sleep(pause if self._waiting else max(pause, _SECONDS_BETWEEN_LOOKS))

    def _work(self, batch: Sequence[_Waiting]) -> bool:
        """Have the workers work; whether any of them works outside of this thread."""
        outside = False
        # In a row only, so that messages keep their order, as a conversation has one.
        for _, group in groupby(batch, key=lambda one: id(one.worker)):
            items = list(group)
            worker = items[0].worker
            outside = outside or worker.outside
            if worker not in self._workers:
                self._workers.append(worker)
            try:
                worker.work([one.item for one in items])
            except Exception:  # noqa: BLE001 - an answer must not fail because of a candidate
                _log.exception("messages cannot be given to a candidate")
        self._workers = [worker for worker in self._workers if _goes_on(worker)]
        return outside

    def _may_end(self) -> bool:
        """Whether the thread may end: nothing has come in the meantime."""
        with self._lock:
            self._thread = None  # first, so that whoever puts an item from now on starts another one
            if not self._waiting:
                self._workers.clear()
                return True
            self._thread = threading.current_thread()
            return False


class _Spent:
    """What some work of the thread takes from the process, in seconds."""

    def __init__(self) -> None:
        self._before = time.perf_counter(), time.thread_time(), time.process_time()

    def seconds(self, *, outside: bool) -> float:
        """Return the processor time of the thread, and more where others use the processor too.

        With half a processor for the process, a second of it takes two seconds from the answers. Where clocks are too
        coarse, and for work `outside` of the thread, it is all the time that has passed.
        """
        now = time.perf_counter(), time.thread_time(), time.process_time()
        passed, own, whole = (after - before for after, before in zip(now, self._before, strict=True))
        # Clocks that contradict each other, as over an interval of a few microseconds, say nothing about others.
        if outside or _COARSE or not 0.0 < own < whole < passed:
            return passed if outside or _COARSE else own
        return own * passed / whole


def _goes_on(worker: Worker) -> bool:
    try:
        return worker.rest()
    except Exception:  # noqa: BLE001 - an answer must not fail because of a candidate
        _log.exception("the counts of a candidate cannot be kept")
        return True
