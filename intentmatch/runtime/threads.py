"""Run parts of one computation on all cores, with one thread per part.

numpy's own threads split single matrix products and leave everything between them on one core. Here each thread
computes a whole part, and numpy uses one thread inside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol, TypeVar

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
    any other yields `one_by_one`. Functions passed to the yielded map must not call it themselves: parts waiting for
    parts of the same pool would block each other.
    """
    from threadpoolctl import ThreadpoolController

    if not _in_use.acquire(blocking=False):
        yield one_by_one
        return
    try:
        blas = ThreadpoolController().select(user_api="blas")
        # Take the minimum: other packages load BLAS libraries of their own, which some of those variables do not limit.
        threads = min((library.num_threads for library in blas.lib_controllers), default=1)
        with blas.limit(limits=1):
            if threads == 1:
                yield one_by_one
            else:
                with ThreadPoolExecutor(threads, thread_name_prefix="intentmatch") as pool:
                    try:
                        yield pool.map
                    except BaseException:
                        pool.shutdown(wait=False, cancel_futures=True)  # nobody will read the other parts
                        raise
    finally:
        _in_use.release()
