"""API keys: how they are written, where they are read from, and what is kept of them.

An author key is written with the name of its owner, `anna=KEY`; other keys are written as they are. If an app has
several bots, each key is written with its bot, `shop:KEY`, or `*:KEY` for all bots; a key for some bots is written once
for each. A key without a bot is refused at the start, so that no key opens more than its owner meant.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal, NamedTuple

from intentmatch.core.errors import InputError

KEYS, ADMIN_KEYS, AUTHOR_KEYS = "INTENTMATCH_KEYS", "INTENTMATCH_ADMIN_KEYS", "INTENTMATCH_AUTHOR_KEYS"

Role = Literal["match", "author", "admin"]

ANY_BOT = "*"
"""In place of a bot's name: all bots."""


class Key(NamedTuple):
    """A key, kept as its digest, so that the memory of the server holds none."""

    digest: bytes
    role: Role
    bot: str
    """Name of the bot that the key is valid for, or `ANY_BOT`."""
    owner: str = ""
    """Name of the author whose key it is."""


def digest_of_key(key: str | None) -> bytes:
    """Return what stands for a key in memory, in place of the key."""
    # No slow hash: unlike passwords, keys are long and random (the guide makes them with 256 bits),
    # and this runs for every request.
    return hashlib.sha256((key or "").encode("utf-8", "surrogatepass")).digest()


def parse_keys(written: Collection[str], role: Role, *, several: bool) -> tuple[Key, ...]:
    """Return the keys that an operator wrote, of one role. With `several` bots, each is written with its bot.

    Raises `InputError` for a key that no header could carry, and for one without its bot or its owner.
    """
    keys = checked(written)
    if role == "author":
        return tuple(_author_key(key, several=several) for key in keys)
    if not several:
        return tuple(Key(digest_of_key(key), role, ANY_BOT) for key in keys)
    parts = [key.partition(":") for key in keys]
    if not all(bot and key for bot, _, key in parts):
        raise InputError("with several bots, write each key with its bot: shop:KEY, or *:KEY for all bots")
    return tuple(Key(digest_of_key(key), role, bot) for bot, _, key in parts)


def _author_key(written: str, *, several: bool) -> Key:
    # The bot stands first: neither a bot nor a name can hold the separator after it, but a key may hold both.
    bot, separator, rest = written.partition(":") if several else (ANY_BOT, ":", written)
    name, equals, key = rest.partition("=")
    if not (bot and separator and name.strip() and equals and key):
        form = "shop:anna=KEY, or *:anna=KEY for all bots" if several else "anna=KEY"
        raise InputError(f"write each author key with the name of its owner: {form}")
    return Key(digest_of_key(key), "author", bot, name.strip())


def checked(keys: Collection[str]) -> tuple[str, ...]:
    """Return the keys as a tuple. Raises `InputError` for one that no header could carry."""
    # A string is a collection too: each of its letters would be a key.
    if isinstance(keys, str):
        raise InputError("keys must be a list of keys, not one string")
    if not all(key and key.isascii() and key.isprintable() for key in keys):
        raise InputError("a key must be printable ASCII, and not empty")
    return tuple(keys)


def environment_keys(name: str) -> tuple[str, ...]:
    """Return the keys in the variable `name`, separated by commas or spaces, and in the file that `name`_FILE names.

    Raises `InputError` if a variable is set but holds no key: the server would be open although it seems protected.
    """
    keys: list[str] = []
    if name in os.environ:
        keys += os.environ[name].replace(",", " ").split()
        if not keys:
            raise InputError(f"{name} is set but holds no key; unset it to need no key")
    if f"{name}_FILE" in os.environ:
        keys += file_keys(os.environ[f"{name}_FILE"])
    return tuple(keys)


def file_keys(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the keys of a file, one per line; lines with a leading `#` are comments. Raises `InputError` for none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"the keys in {os.fspath(path)!r} cannot be read: {reason}") from None
    keys = tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
    if not keys:
        raise InputError(f"{os.fspath(path)!r} holds no key; leave the file out to need no key")
    return keys
