"""A pooler in front of the database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pgbouncer import PgBouncer
from postgres_server import CannotRunError, Server


@pytest.fixture(scope="session")
def pooler(postgres: Server) -> Iterator[PgBouncer]:
    """A PgBouncer before the server, with transaction pooling. Tests are skipped, with the reason, without one."""
    try:
        running = PgBouncer(postgres)
    except CannotRunError as error:
        pytest.skip(str(error))
    yield running
    running.remove()


@pytest.fixture
def pooled(pooler: PgBouncer, postgres_address: str) -> str:
    """The address of `postgres_address` through the pooler."""
    bot = postgres_address.partition("?")[0].rpartition("/")[2]
    return pooler.url(f"/{bot}")
