"""Notice files that are newer than the registry in use: those of another server, or of an editor."""

from __future__ import annotations

import threading
import time

from intentmatch.matching.matcher import Matcher

SECONDS_BETWEEN_LOOKS = 1.0
"""However often somebody asks."""


class NewerFiles:
    """Compares the files with what is in use, when somebody asks for the state of a bot."""

    def __init__(self) -> None:
        self.since: float | None = None
        """When newer files were first seen, in seconds since the epoch; None if there are none."""
        self._next = -float("inf")
        self._lock = threading.Lock()

    def look(self, matcher: Matcher) -> None:
        """Look at the files, unless somebody has just done so. Takes a `stat` for each file that did not change."""
        # A probe must not wait for a look that hangs on a slow disk; what is known already answers it.
        if not self._lock.acquire(blocking=False):
            return
        try:
            if time.monotonic() >= self._next:
                self.since = None if matcher.is_current() else self.since or time.time()
                self._next = time.monotonic() + SECONDS_BETWEEN_LOOKS
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Forget what was seen, because the files were loaded."""
        self.since, self._next = None, -float("inf")
