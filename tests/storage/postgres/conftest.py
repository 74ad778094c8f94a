"""Databases of their own for tests that change the schema."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from pgbouncer import PgBouncer
from postgres_server import CannotRunError, Server

_numbers = itertools.count(1)


@pytest.fixture
def new_database(postgres: Server) -> Iterator[Callable[[], str]]:
    """Makes empty databases; returns the address of each."""
    import psycopg

    made: list[str] = []

    def make() -> str:
        made.append(f"made_{next(_numbers)}")
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {made[-1]}")
        return postgres.url(made[-1], more="/shop")

    yield make
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        for name in made:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


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
