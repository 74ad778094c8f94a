"""Sessions of signed-in browsers: a random token in a cookie stands for the visitor, so that no URL holds a key."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from intentmatch.studio.host import Visitor

COOKIE = "intentmatch_studio"
MOST_SESSIONS = 1000
"""Sessions that are kept. Beyond that the key with most sessions loses the least recently used one."""
MOST_OF_A_KEY = 50
"""Sessions of one key that are kept; the least recently used are signed out."""
SECONDS = 12 * 3600.0
"""Seconds without a request or an event of a page after which a session ends."""

Theme = Literal["auto", "light", "dark"]


class Opened(Protocol):
    """Something that a session has open: a page or a socket."""

    def check(self) -> None:
        """Close it if its visitor may not have it any more."""

    def close(self) -> None:
        """Close it. Doing it twice does no harm."""


@dataclass(slots=True, eq=False)
class Session:
    """One browser."""

    visitor: Visitor
    theme: Theme = "auto"
    used: float = 0.0
    ended: bool = field(default=False)
    """Whether it was signed out."""
    pages: set[Opened] = field(default_factory=set, repr=False)
    sockets: set[Opened] = field(default_factory=set, repr=False)
    _clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def touch(self) -> None:
        """Note that it is in use."""
        self.used = self._clock()

    def check(self) -> None:
        """Close the pages that the visitor may not see any more."""
        # A copy, since a page that is closed takes itself off.
        for page in tuple(self.pages):
            page.check()

    def end(self) -> None:
        """Sign it out: close its pages and sockets."""
        self.ended = True
        for opened in (*self.pages, *self.sockets):
            opened.close()
        self.pages.clear()
        self.sockets.clear()


class Sessions:
    """The sessions of one process, kept in memory."""

    def __init__(
        self,
        most: int = MOST_SESSIONS,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        *,
        most_of_a_key: int = MOST_OF_A_KEY,
    ) -> None:
        self._most, self._most_of_a_key, self._seconds, self._clock = most, most_of_a_key, seconds, clock
        # By digest, so that a dump of the memory has no token that opens anything.
        self._sessions: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, visitor: Visitor) -> tuple[str, Session]:
        """Start a session; return its token and the session."""
        self.end_old()
        self._make_room(visitor.key)
        token = secrets.token_urlsafe(32)
        session = self._sessions[_digest(token)] = Session(visitor, used=self._clock(), _clock=self._clock)
        return token, session

    def find(self, token: str | None) -> Session | None:
        """Return the session of a token; None if there is none, or none any more."""
        self.end_old()
        if not token or (session := self._sessions.get(_digest(token))) is None:
            return None
        session.touch()
        return session

    def end(self, token: str | None) -> None:
        """Sign a session out."""
        if token:
            self._end(_digest(token))

    def end_old(self) -> None:
        """Sign out the sessions that were not used for long."""
        oldest = self._clock() - self._seconds
        for digest in [digest for digest, session in self._sessions.items() if session.used < oldest]:
            self._end(digest)

    def pages_of(self, key: bytes | None) -> int:
        """Return how many pages are open in the sessions of a key."""
        return sum(len(session.pages) for session in self._sessions.values() if session.visitor.key == key)

    def _make_room(self, key: bytes | None) -> None:
        """Sign out the least recently used session of this key, or of the key with most sessions, if there are many."""
        counts = Counter(session.visitor.key for session in self._sessions.values())
        if key is None or counts[key] < self._most_of_a_key:
            if len(self._sessions) < self._most:
                return
            # Whoever signs in often pays for it, and not the others.
            key = counts.most_common(1)[0][0]
        found = (digest for digest, session in self._sessions.items() if session.visitor.key == key)
        self._end(min(found, key=lambda digest: self._sessions[digest].used))

    def _end(self, digest: bytes) -> None:
        if (session := self._sessions.pop(digest, None)) is not None:
            session.end()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
