"""Where several processes keep the conversations of `/chat`."""

from __future__ import annotations

from intentmatch.core.errors import InputError
from intentmatch.dialogue import Store
from intentmatch.storage.postgres.address import is_address


def store_at(url: str) -> Store:
    """Return the store at a URL of Redis or PostgreSQL.

    Raises `InputError` for another URL, and `MissingExtraError`.
    """
    if is_address(url):
        from intentmatch.storage.postgres.questions import QuestionStore

        return QuestionStore(url)
    # Each with its own extra: whoever has the one need not install the other.
    from intentmatch.integrations.redis import RedisStore

    try:
        return RedisStore.at(url)
    except ValueError as error:
        raise InputError(f"--store takes a URL such as redis://localhost:6379/0: {error}") from None
