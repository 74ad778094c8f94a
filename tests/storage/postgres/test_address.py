"""Addresses: what they name, and that they never show a password."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError
from intentmatch.storage.postgres.address import Address, address_of, is_address


@pytest.mark.parametrize(
    ("text", "url", "bot", "shown"),
    [
        ("postgres://host/db/shop", "postgresql://host/db", "shop", "postgres://host/db/shop"),
        ("postgresql://host/db?bot=shop", "postgresql://host/db", "shop", "postgres://host/db/shop"),
        ("postgres://host/db", "postgresql://host/db", "default", "postgres://host/db"),
        ("postgres://", "postgresql:", "default", "postgres://"),
        (
            "postgres://ann:pw@a:1,b:2/db/shop?sslmode=require&bot=",
            None,
            None,
            None,
        ),
        (
            "postgres://ann:pw@a:1,b:2/db/shop?sslmode=require",
            "postgresql://ann:pw@a:1,b:2/db?sslmode=require",
            "shop",
            "postgres://ann@a:1,b:2/db/shop",
        ),
        ("postgres://@/db/shop?host=/run/pg", "postgresql://@/db?host=%2Frun%2Fpg", "shop", "postgres://@/db/shop"),
    ],
)
def test_parts_of_an_address(text, url, bot, shown):
    if url is None:
        with pytest.raises(InputError, match="more than one bot"):
            Address.parse(text)
        return
    address = Address.parse(text)

    assert (address.url, address.bot, str(address)) == (url, bot, shown)


@pytest.mark.parametrize("text", ["mysql://host/db", "host/db", "postgres:/host/db"])
def test_other_texts_are_no_addresses(text):
    assert not is_address(text)
    with pytest.raises(InputError, match="begins with postgres://"):
        Address.parse(text)


def test_paths_are_no_addresses():
    assert not is_address(Path("postgres://host/db"))
    assert is_address(Address.parse("postgres://host/db"))


@pytest.mark.parametrize("bot", ["a b", "-x", "a" * 101, "ü"])
def test_invalid_name_of_a_bot(bot):
    with pytest.raises(InputError, match="not a valid name for a bot"):
        Address.parse(f"postgres://host/db/{bot}")
    with pytest.raises(InputError, match="not a valid name for a bot"):
        Address.parse("postgres://host/db").of(bot)


def test_no_text_shows_a_password():
    text = "postgres://ann:p%40ss@host/db/shop?password=other&sslpassword=third"
    address = address_of(text)

    for shown in (str(address), repr(address), f"{address}", repr([address])):
        assert not any(secret in shown for secret in ("p%40ss", "p@ss", "other", "third"))
    assert set(address.secrets) == {"p%40ss", "p@ss", "other", "third"}
    assert pickle.loads(pickle.dumps(address)) == address


def test_another_bot_of_the_same_database():
    other = address_of("postgres://ann:pw@host/db?sslmode=require").of("shop")

    assert (other.bot, str(other)) == ("shop", "postgres://ann@host/db/shop")
    assert other.url == "postgresql://ann:pw@host/db?sslmode=require"
    assert str(other.of("tax")) == "postgres://ann@host/db/tax"
