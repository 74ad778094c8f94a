"""All cores for one piece of work, and no more threads than cores.

Numpy's own threads share out single products of matrices, and leave all between them to one core. Here parts of the
work are shared out instead, each computed by one thread from its beginning to its end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_taken = threading.Lock()


class Each(Protocol):
    """As `map`: what a function makes of each item, in the order of the items."""

    def __call__(self, function: Callable[[_Item], _Result], items: Iterable[_Item], /) -> Iterable[_Result]:
        """What it makes of them."""


def one_by_one(function: Callable[[_Item], _Result], items: Iterable[_Item], /) -> Iterable[_Result]:
    """By the thread that asks."""
    return map(function, items)


@contextmanager
def all_cores() -> Iterator[Each]:
    """As many threads as numpy would use, while numpy itself uses one in each.

    So the environment variables that limit numpy's threads (`OMP_NUM_THREADS` and its like) limit these. Whoever comes
    while the cores are taken has one thread. Parts that share themselves out would wait for each other without end:
    only the outermost work is to be shared.
    """
    from threadpoolctl import ThreadpoolController

    if not _taken.acquire(blocking=False):
        yield one_by_one
        return
    try:
        blas = ThreadpoolController().select(user_api="blas")
        # Other packages bring libraries of their own, which some of those variables do not limit.
        threads = min((library.num_threads for library in blas.lib_controllers), default=1)
        with blas.limit(limits=1):
            if threads == 1:
                yield one_by_one
            else:
                with ThreadPoolExecutor(threads, thread_name_prefix="intentmatch") as pool:
                    yield pool.map
    finally:
        _taken.release()
