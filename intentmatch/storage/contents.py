"""Contents of a registry's files by name, and their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from intentmatch.core.errors import InputError

Files = Mapping[str, bytes]
"""Content of each file by its path from the folder of the registry, with `/` between folders."""

_DIGITS = 16


def checked_name(name: str) -> str:
    """Return the name of a file. Raises `InputError` if it could lie outside of its folder, or could not be written."""
    parts = name.split("/")
    # The signs are those that Windows forbids: a registry must be readable on every system.
    if any(part in ("", ".", "..") for part in parts) or not name.isprintable() or set(name) & set('\\:*?"<>|'):
        raise InputError(f"{name!r} is not a valid name of a file in a registry")
    return name


def digest_of(files: Files) -> str:
    """Return the digest of the content of all files: 16 hexadecimal digits that change with every byte."""
    whole = hashlib.sha256()
    for name in sorted(files):
        # With its length, so that no other division into names and contents has the same digest.
        whole.update(f"{len(name.encode())}:{name}:".encode())
        whole.update(hashlib.sha256(files[name]).digest())
    return whole.hexdigest()[:_DIGITS]
