"""Run parts of one computation on all cores, with one thread per part.

numpy's own threads split single matrix products and leave everything between them on one core. Here each thread
computes a whole part, and numpy uses one thread inside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TypeVar

import numpy as np

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_in_use = threading.Lock()


class Each(Protocol):
    """A function like `map`, which may use several threads. Results are in the order of the items."""

    def __call__(self, function: Callable[[_Item], _Result], items: Iterable[_Item], /) -> Iterable[_Result]:
        """Return the results of `function` for all items."""


def one_by_one(function: Callable[[_Item], _Result], items: Iterable[_Item], /) -> Iterable[_Result]:
    """Apply `function` to the items in the calling thread, like `map`."""
    return map(function, items)


@contextmanager
def all_cores() -> Iterator[Each]:
    """Yield a parallel `map` with as many threads as numpy would use, while numpy itself uses one thread in each.

    Variables that limit numpy's threads, such as `OMP_NUM_THREADS`, limit these threads too. While one block is active,
    any other yields `one_by_one`; numpy gets its threads back when the last block ends, so that results do not depend
    on which block ends first. Functions passed to the yielded map must not call it themselves: parts waiting for
    parts of the same pool would block each other.
    """
    with _numpy.one_thread():
        # Without waiting: blocks within blocks would otherwise wait for themselves, and more
        # threads than cores gain nothing.
        if not _in_use.acquire(blocking=False):
            yield one_by_one
            return
        try:
            if _numpy.threads == 1:
                yield one_by_one
            else:
                with ThreadPoolExecutor(
                    _numpy.threads,
                    "intentmatch",
                    # numpy keeps its error handling for each thread, and a part must raise as it would in the caller's.
                    initializer=lambda handling: np.seterr(**handling),
                    initargs=(np.geterr(),),
                ) as pool:
                    try:
                        yield pool.map
                    except BaseException:
                        pool.shutdown(wait=False, cancel_futures=True)  # nobody will read the other parts
                        raise
        finally:
            _in_use.release()


class _NumpyThreads:
    """Limits numpy to one thread for as long as anyone needs it: the limit is one of the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: AbstractContextManager[object] = nullcontext()
        self.threads = 1
        """How many numpy would use without the limit."""

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._start()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.__exit__(None, None, None)

    def _start(self) -> None:
        from threadpoolctl import ThreadpoolController

        blas = ThreadpoolController().select(user_api="blas")
        # Take the minimum: other packages load BLAS libraries of their own, which some of those variables do not limit.
        self.threads = min((library.num_threads for library in blas.lib_controllers), default=1)
        self._limit = blas.limit(limits=1)
        # By hand, because the last user of several ends it, in whatever thread.
        self._limit.__enter__()


_numpy = _NumpyThreads()
