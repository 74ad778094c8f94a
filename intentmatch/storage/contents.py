"""Contents of a registry's files by name, and their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

Files = Mapping[str, bytes]
"""Content of each file by its path from the folder of the registry, with `/` between folders."""

_DIGITS = 16


def digest_of(files: Files) -> str:
    """Return the digest of the content of all files: 16 hexadecimal digits that change with every byte."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{len(name.encode())}:{name}:".encode())
        whole.update(hashlib.sha256(files[name]).digest())
    return whole.hexdigest()[:_DIGITS]
