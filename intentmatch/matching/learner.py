"""Train after edits, in one thread however quickly the edits follow each other."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Learner:
    """Calls `train` in a thread of its own after each request; requests that arrive meanwhile make one more call.

    At most one thread exists, and only while there is something to train. It does not keep the process alive.
    """

    def __init__(self, train: Callable[[], None]) -> None:
        """`train` must not raise."""
        self._train = train
        self._lock = threading.Lock()
        self._outdated = False
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Have what was loaded last trained, now or after the training that is running."""
        with self._lock:
            self._outdated = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intentmatch-train", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                # Within the lock: a request that comes now must start a thread, and not rely on one that is about to
                # end.
                if not self._outdated:
                    self._thread = None
                    return
                self._outdated = False
            self._train()
