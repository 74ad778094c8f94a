"""Keys: kept as digests, made once, revoked."""

from __future__ import annotations

import hashlib

import pytest
from postgres_server import make_tenant

from intentmatch.core.errors import DatabaseError, InputError, UnknownNameError


@pytest.fixture
def keys(postgres_address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore

    return KeyStore(Database(postgres_address))


def mine(keys):
    return [one for one in keys.all() if one.bot == keys._database.bot]


def test_key_is_kept_as_its_digest(keys):
    made = keys.add("ann", "author")
    (kept,) = mine(keys)

    assert len(made) >= 43
    assert kept.digest == hashlib.sha256(made.encode()).digest()
    assert (kept.role, kept.name, kept.revoked) == ("author", "ann", None)
    with keys._database.rows() as connection:
        rows = connection.execute("SELECT k::text FROM intentmatch.keys k").fetchall()
    assert not any(made in row for (row,) in rows)


def test_name_is_free_again_after_the_key_is_revoked(keys):
    first = keys.add("ann", "match")
    with pytest.raises(InputError, match="there is a key 'ann' already"):
        keys.add("ann", "admin")
    assert keys.revoke("ann") == 1
    assert keys.add("ann", "match") != first
    assert [one.revoked is None for one in mine(keys)] == [False, True]


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_invalid_name(keys, name):
    with pytest.raises(InputError, match="not a name"):
        keys.add(name, "match")


def test_unknown_key_is_not_revoked(keys):
    keys.add("ann", "match")
    with pytest.raises(UnknownNameError, match="ann"):
        keys.revoke("bob")


def test_role_of_a_bot_reads_its_keys_and_writes_none(keys, postgres):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore

    keys.add("ann", "match")
    bot = keys._database.bot
    with keys._database.transaction() as connection:
        make_tenant(connection, "reader", bot)
    reader = KeyStore(Database(postgres.url(user="reader", more=f"/{bot}")))
    other = KeyStore(Database(postgres.url(user="reader", more="/other")))

    assert [one.name for one in mine(reader)] == ["ann"]
    # Keys for all bots may be there, of other tests.
    assert [one for one in other.all(every_bot=True) if one.bot != "*"] == []
    with pytest.raises(DatabaseError, match="permission denied"):
        reader.add("bob", "admin")
