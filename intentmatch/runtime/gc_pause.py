"""Pause the cyclic garbage collector while many long-lived objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Turn the garbage collector off inside the block, and on again if it was on before.

    While many objects that stay are created, the collector scans them repeatedly and finds nothing; that takes a tenth
    to a third of the time. Several threads may be inside at once: the one that turned the collector off turns it on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
