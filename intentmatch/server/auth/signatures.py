"""Signed webhooks: who calls without a key says who they are by a signature of the body and the time.

As a dependency of a route it hands over the body, and raises `ProblemError` (401) unless the signature is right and
not older than `WINDOW` seconds:

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
from intentmatch.server.routes.schemas import ProblemDetails

WINDOW = 300
"""Seconds that a signature is good for, as with Slack: what is caught on its way cannot be sent again later."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A way to sign: HMAC-SHA256, in hexadecimal, of the time and the body."""

    secret: str = field(repr=False)
    signature_header: str
    time_header: str
    prefix: str
    """What stands before the signature in its header."""
    before_time: bytes
    """What is signed before the time."""
    before_body: bytes
    """What is signed between the time and the body."""
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        if not self.secret:
            raise InputError("a webhook needs a secret to check signatures with; this one is empty")

    async def __call__(self, request: Request) -> bytes:
        """The body of a request that is signed."""
        said = request.headers.get(self.time_header, "")
        # As it stands there, it is part of what is signed; `int` reads more than digits.
        if not (said.isascii() and said.isdecimal() and len(said) <= len("99999999999")):
            raise _refused(f"The header {self.time_header} must hold the time of the signature, in seconds since 1970.")
        if abs(self.clock() - int(said)) > WINDOW:
            raise _refused(f"The signature is not of the last {WINDOW} seconds.")
        body = await request.body()
        given = request.headers.get(self.signature_header, "")
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.of(said, body).encode()):
            raise _refused(f"The header {self.signature_header} does not hold the signature of this body.")
        return body

    def of(self, seconds: str, body: bytes) -> str:
        """The signature of a body at a time."""
        message = self.before_time + seconds.encode() + self.before_body + body
        return self.prefix + hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()


def slack(secret: str, *, clock: Callable[[], float] = time.time) -> Signature:
    """Slack's, of version v0, with the signing secret of the Slack app."""
    return Signature(secret, "X-Slack-Signature", "X-Slack-Request-Timestamp", "v0=", b"v0:", b":", clock)


def hmac_sha256(secret: str, *, clock: Callable[[], float] = time.time) -> Signature:
    """For senders of your own: `X-Signature: sha256=...` of the time in `X-Timestamp`, a full stop, and the body."""
    return Signature(secret, "X-Signature", "X-Timestamp", "sha256=", b"", b".", clock)


def _refused(detail: str) -> ProblemError:
    return ProblemError(ProblemDetails.of(401, detail))
