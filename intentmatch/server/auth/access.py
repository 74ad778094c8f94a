"""Who may call an app: the keys that it knows, and how often each caller may call."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from fastapi import Request

from intentmatch.core.errors import InputError
from intentmatch.server.addresses import source_of
from intentmatch.server.auth.api_keys import (
    ADMIN_KEYS,
    ANY_BOT,
    AUTHOR_KEYS,
    KEYS,
    Key,
    Role,
    digest_of_key,
    environment_keys,
    parse_keys,
)
from intentmatch.server.auth.rate_limit import RateLimiter
from intentmatch.server.auth.wrong_keys import WrongKeys
from intentmatch.server.config import Auth
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.storage.postgres.keys import StoredKey

ADMIN_NAME = "admin"
"""Who writes with an admin key."""

Presented = str | bytes | None
"""A key that somebody presents, or its digest where a key is kept; None without one."""


class Access:
    """Which keys an app knows, and how often each caller may call."""

    def __init__(
        self,
        keys: Collection[str] = (),
        admin_keys: Collection[str] = (),
        rate_limit: str | None = None,
        *,
        author_keys: Collection[str] = (),
        several: bool = False,
    ) -> None:
        """With `several` bots, each key is written with its bot.

        Raises `InputError` for a key that no header could carry, for an author key without a name, for one key with
        two roles, and for an invalid rate limit.
        """
        plain = parse_keys(keys, "match", several=several)
        admins = parse_keys(admin_keys, "admin", several=several)
        authors = parse_keys(author_keys, "author", several=several)
        # A key that many clients have must not open the admin calls by an oversight of the operator.
        if _share_a_key(plain, admins):
            raise InputError("an admin key must differ from all other keys")
        # With two roles, the audit log could not say who has written.
        if _share_a_key(authors, plain + admins):
            raise InputError("an author key must differ from all other keys")
        self._own = plain + authors + admins
        # Replaced as a whole by the thread that follows the keys of a database.
        self._keys = self._own
        self._several = several
        self._stored = False
        self._rates = None if rate_limit is None else RateLimiter(rate_limit)
        self._guesses = WrongKeys()

    @classmethod
    def from_config(cls, config: Auth, *, several: bool = False) -> Access:
        """Take the keys of a config, and those of the environment where it has None."""
        return cls(
            environment_keys(KEYS) if config.keys is None else config.keys,
            environment_keys(ADMIN_KEYS) if config.admin_keys is None else config.admin_keys,
            config.rate_limit,
            author_keys=environment_keys(AUTHOR_KEYS) if config.author_keys is None else config.author_keys,
            several=several,
        )

    def use_stored(self, keys: Sequence[StoredKey]) -> None:
        """Accept these keys of a database, and no others of it. From now on calls need a key, even if there is none."""
        stored = (Key(key.digest, key.role, key.bot if self._several else ANY_BOT, key.name) for key in keys)
        self._stored = True
        self._keys = (*self._own, *stored)

    @property
    def has_keys(self) -> bool:
        """Whether calls need a key."""
        return self._has("match")

    @property
    def has_admin_keys(self) -> bool:
        """Whether admin calls are on."""
        return self._has("admin")

    @property
    def has_author_keys(self) -> bool:
        """Whether there are keys for authors, or may be."""
        return self._has("author")

    @property
    def open_to_all(self) -> bool:
        """Whether anyone may call, without limit."""
        return not self.has_keys and self._rates is None

    @property
    def bots(self) -> set[str]:
        """Names of the bots that single keys are valid for."""
        return {key.bot for key in self._keys} - {ANY_BOT}

    def is_admin(self, presented: Presented, bot: str | None = None) -> bool:
        """Whether this is an admin key, and for this bot if one is named."""
        return any(key.role == "admin" for key in self._found(presented, bot))

    def is_known(self, presented: Presented, bot: str | None = None) -> bool:
        """Whether this is a key of any kind, and for this bot if one is named; `ANY_BOT` means all bots."""
        return bool(self._found(presented, bot))

    def author(self, presented: Presented, bot: str | None = None) -> str | None:
        """Return the name of the author that a key belongs to, for this bot if one is named; None for other keys."""
        # Before the keys of authors: an admin key does all that theirs do, but has no owner to name.
        if self.is_admin(presented, bot):
            return ADMIN_NAME
        return next((key.owner for key in self._found(presented, bot) if key.role == "author"), None)

    def knows(self, request: Request, presented: str | None) -> bool:
        """Whether a request presents a key of any kind. Raises `ProblemError` (429) after too many wrong keys.

        A wrong key counts for the address that presents it. Once that has presented too many, it learns nothing about
        any key that it has not used before.
        """
        return self.knows_from(_address(request), presented)

    def knows_from(self, address: str | None, presented: str | None) -> bool:
        """Whether an address presents a key of any kind, as `knows`."""
        known = self.is_known(presented)
        # A call without a key guesses nothing: it gets 401 at once, however often.
        if presented:
            seconds = self._guesses.note(source_of(address or "").encode(), _digest(presented), right=known)
            if seconds:
                detail = f"This address has presented too many wrong keys. Try again in {seconds} s."
                raise _too_many(detail, seconds)
        return known

    def count(self, request: Request, presented: str | None) -> None:
        """Count a request for its key, or for its address without one. Raises `ProblemError` (429) for too many."""
        if self._rates is None:
            return
        # Only a known key has a bucket of its own: with one for each invented key, nobody would be limited.
        caller = _digest(presented) if self.is_known(presented) else _address(request).encode()
        seconds = self._rates.take(caller)
        if seconds:
            raise _too_many(f"More than {self._rates.limit} requests. Try again in {seconds} s.", seconds)

    def _has(self, role: Role) -> bool:
        # A database may get its first key of a role at any time.
        return self._stored or any(key.role == role for key in self._keys)

    def _found(self, presented: Presented, bot: str | None) -> list[Key]:
        """Return the keys that are equal to a presented one, and valid for this bot if one is named."""
        given = _digest(presented)
        # Every digest is compared, so that the time tells nothing.
        equal = [key for key in self._keys if secrets.compare_digest(given, key.digest)]
        return [key for key in equal if bot is None or key.bot in (bot, ANY_BOT)]


def _share_a_key(some: Sequence[Key], others: Sequence[Key]) -> bool:
    return not {key.digest for key in some}.isdisjoint(key.digest for key in others)


def _digest(key: Presented) -> bytes:
    return key if isinstance(key, bytes) else digest_of_key(key)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _too_many(detail: str, seconds: int) -> ProblemError:
    return ProblemError(ProblemDetails.for_status(429, detail), {"Retry-After": str(seconds)})
