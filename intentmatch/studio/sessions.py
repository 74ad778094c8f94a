"""Sessions of signed-in browsers: a random token in a cookie stands for the visitor, so that no URL holds a key."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from intentmatch.studio.host import Visitor

COOKIE = "intentmatch_studio"
MOST_SESSIONS = 1000
"""Sessions that are kept; the least recently used are signed out."""
SECONDS = 12 * 3600.0
"""Seconds without a request after which a session ends."""

Theme = Literal["auto", "light", "dark"]


@dataclass(slots=True)
class Session:
    """One browser."""

    visitor: Visitor
    theme: Theme = "auto"
    used: float = 0.0
    ended: bool = field(default=False)
    """Whether it was signed out; pages that are still open may write no more."""


class Sessions:
    """The sessions of one process, kept in memory."""

    def __init__(
        self, most: int = MOST_SESSIONS, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        # By digest, so that a dump of the memory has no token that opens anything. The least recently used come first.
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, visitor: Visitor) -> tuple[str, Session]:
        """Start a session; return its token and the session."""
        self._forget_old()
        token = secrets.token_urlsafe(32)
        session = self._sessions[_digest(token)] = Session(visitor, used=self._clock())
        while len(self._sessions) > self._most:
            self._sessions.popitem(last=False)[1].ended = True
        return token, session

    def find(self, token: str | None) -> Session | None:
        """Return the session of a token; None if there is none, or none any more."""
        self._forget_old()
        if not token or (session := self._sessions.get(_digest(token))) is None:
            return None
        self._sessions.move_to_end(_digest(token))
        session.used = self._clock()
        return session

    def end(self, token: str | None) -> None:
        """Sign a session out."""
        if token and (session := self._sessions.pop(_digest(token), None)) is not None:
            session.ended = True

    def _forget_old(self) -> None:
        oldest = self._clock() - self._seconds
        while self._sessions and next(iter(self._sessions.values())).used < oldest:
            self._sessions.popitem(last=False)[1].ended = True


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
