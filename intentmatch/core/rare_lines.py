"""Lines of a log that would otherwise come with every call, such as those about a lost server."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable

SECONDS_BETWEEN = 60.0


class RareLines:
    """Tells when a line of a kind is due: the first, and then at most one a minute."""

    def __init__(self) -> None:
        self._written: dict[Hashable, float] = {}

    def due(self, kind: Hashable = None) -> bool:
        """Whether to write a line of this kind now. Asking counts as writing."""
        now = time.monotonic()
        if now <= self._written.get(kind, -math.inf) + SECONDS_BETWEEN:
            return False
        self._written[kind] = now
        return True
