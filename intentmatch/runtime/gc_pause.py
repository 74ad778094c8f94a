"""Garbage: what Python looks for among new objects, and where there is none to be found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """While many new objects come that are to stay: to look for garbage among them, again and again, finds none.

    It takes a tenth to a third of the time in which they are made. Threads may be inside at once: whoever found the
    search on turns it on again.
    """
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looking:
            gc.enable()
