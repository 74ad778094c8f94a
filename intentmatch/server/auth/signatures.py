"""Signed webhooks: callers without a key sign the body and the time with a shared secret.

As a dependency of a FastAPI route, a `Signature` returns the body. It raises `ProblemError` (401) unless the signature
is valid and at most `WINDOW` seconds old:

    @app.post("/chat/slack")
    async def chat(body: Annotated[bytes, Depends(slack(secret))]) -> ...
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import Request

from intentmatch.core.errors import InputError
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

WINDOW = 300
"""Seconds that a signature is valid, as at Slack, so that an intercepted request cannot be replayed later."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature scheme: HMAC-SHA256 in hexadecimal of the time and the body."""

    secret: str = field(repr=False)
    signature_header: str
    time_header: str
    prefix: str
    """Text before the signature in its header."""
    before_time: bytes
    """Bytes signed before the time."""
    before_body: bytes
    """Bytes signed between the time and the body."""
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        if not self.secret:
            raise InputError("a signed webhook needs a secret; this one is empty")

    async def __call__(self, request: Request) -> bytes:
        """Return the body of a signed request. Raises `ProblemError` (401) if the signature is invalid or too old."""
        seconds = request.headers.get(self.time_header, "")
        # Digits only: `int` reads more, and the text itself is signed.
        if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= len("99999999999")):
            raise _refused(f"The header {self.time_header} must hold the time of the signature, in seconds since 1970.")
        # Before the body is read. In both directions, because the clock of the sender may be ahead.
        if abs(self.clock() - int(seconds)) > WINDOW:
            raise _refused(f"The signature is older than {WINDOW} seconds, or from the future.")
        body = await request.body()
        given = request.headers.get(self.signature_header, "")
        # As bytes: compare_digest takes ASCII strings alone, and a header may hold anything.
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.sign(seconds, body).encode()):
            raise _refused(f"The header {self.signature_header} does not hold the signature of this body.")
        return body

    def sign(self, seconds: str, body: bytes) -> str:
        """Return the signature of a body at a time, in seconds since 1970."""
        message = self.before_time + seconds.encode() + self.before_body + body
        return self.prefix + hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()


def slack(secret: str, *, clock: Callable[[], float] = time.time) -> Signature:
    """Return Slack's scheme, version v0, for the signing secret of a Slack app."""
    return Signature(secret, "X-Slack-Signature", "X-Slack-Request-Timestamp", "v0=", b"v0:", b":", clock)


def hmac_sha256(secret: str, *, clock: Callable[[], float] = time.time) -> Signature:
    """Return a scheme for senders of your own.

    `X-Signature: sha256=...` signs the time in `X-Timestamp`, a full stop, and the body.
    """
    return Signature(secret, "X-Signature", "X-Timestamp", "sha256=", b"", b".", clock)


def _refused(detail: str) -> ProblemError:
    return ProblemError(ProblemDetails.for_status(401, detail))
