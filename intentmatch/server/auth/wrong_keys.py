"""Limit how many wrong keys an address may present.

Refusing only further wrong keys would still tell a right guess from a wrong one. So an address that has presented too
many learns nothing: every key that it has not used before is refused. Callers behind the same address, such as a proxy
that the server does not know, are not locked out, because their keys have been used there.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from intentmatch.server.auth.rate_limit import RateLimiter

LIMIT = "20/minute"
"""Wrong keys of an address: enough for a person who mistypes one, and for a program that still has the old one."""

_MAX_USES = 10_000
"""Pairs of address and key that are remembered; the least recent one is dropped."""


class WrongKeys:
    """Counts wrong keys by address, and remembers which right keys each address has used."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limiter = RateLimiter(LIMIT, clock=clock)
        self._used: OrderedDict[tuple[bytes, bytes], None] = OrderedDict()

    def note(self, address: bytes, key: bytes, *, right: bool) -> int:
        """Note a presented key by its digest. Returns 0, or the seconds for which the key must not be considered."""
        if right:
            use = address, key
            # A key that was in use here before goes on, whoever guesses from the same address.
            if use not in self._used and (seconds := self._limiter.seconds_to_wait(address)):
                return seconds
            self._used[use] = None
            self._used.move_to_end(use)
            if len(self._used) > _MAX_USES:
                self._used.popitem(last=False)
            return 0
        return self._limiter.take(address)
