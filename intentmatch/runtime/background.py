"""Threads for work that no request waits for, such as looks at a database, which may be away and let each of them wait.

The threads of `asyncio.to_thread` are few: a dozen bots that look at a lost database would hold all of them, and calls
that need one would wait as long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Result = TypeVar("_Result")

_threads = ThreadPoolExecutor(4, thread_name_prefix="intentmatch-background")


async def in_background(work: Callable[[], _Result]) -> _Result:
    """Return the result of a call in one of these threads. Raises what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work)
