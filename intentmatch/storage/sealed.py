"""Sealed safetensors files: a digest of every byte stands in the header, and perhaps a signature of the digest.

The header's metadata has the entries `sha256` and `ed25519` in hexadecimal. The digest is that of the file with zeros
in place of both, so that one flipped bit anywhere, in the header too, is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from intentmatch.storage.safetensors import tensors_within

Sign = Callable[[bytes], bytes]
"""Returns the ed25519 signature (64 bytes) of a message."""

# Files below this size (64 MiB) are read and closed, so that they can be overwritten while in use on every system.
_MAPPED_FROM = 1 << 26
_DIGEST, _SIGNATURE = "sha256", "ed25519"
_DIGITS = {_DIGEST: 64, _SIGNATURE: 128}


class DamagedError(ValueError):
    """The content of a file differs from what was written."""


class Sealed(NamedTuple):
    """Content of a sealed file."""

    tensors: Mapping[str, NDArray[Any]]
    metadata: Mapping[str, str]
    digest: bytes
    """SHA-256 of the file, 32 bytes: the message that `signature` signs."""
    signature: bytes | None
    """64 bytes; None without a signature."""


def seal(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str], sign: Sign | None = None) -> bytes:
    """Return the bytes of a safetensors file with a digest, and with a signature if there is a `sign`."""
    zeros = {name: "0" * digits for name, digits in _DIGITS.items()}
    content = save(dict(tensors))
    end = _header_end(content)
    # safetensors writes metadata in any order; equal content shall give equal bytes.
    entries = {"__metadata__": {**metadata, **zeros}, **json.loads(content[8:end])}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    header = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(header + content[end:])
    header = _filled(header, _DIGEST, digest.hexdigest())
    if sign is not None:
        header = _filled(header, _SIGNATURE, sign(digest.digest()).hex())
    return header + content[end:]


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the metadata of a safetensors file, sealed or not. Raises `SafetensorError` and `OSError`."""
    with safe_open(path, framework="numpy") as file:
        return dict(file.metadata() or {})


def read_sealed(path: str | os.PathLike[str]) -> Sealed:
    """Read a sealed file; large ones are mapped instead of copied into memory.

    Raises `DamagedError` if the file is not sealed or not as it was written, `SafetensorError` and `OSError`.
    """
    metadata = read_metadata(path)
    large = Path(path).stat().st_size >= _MAPPED_FROM
    content = np.asarray(np.memmap(path, np.uint8, "r")) if large else np.fromfile(path, np.uint8)
    end = _header_end(content[:8].tobytes())
    header = content[:end].tobytes()
    digest = hashlib.sha256(_filled(_filled(header, _DIGEST), _SIGNATURE))
    digest.update(content[end:].data)
    if metadata.get(_DIGEST) != digest.hexdigest():
        raise DamagedError("its content differs from what was written")
    signature = bytes.fromhex(metadata[_SIGNATURE])
    return Sealed(tensors_within(content), metadata, digest.digest(), signature if any(signature) else None)


def _header_end(content: bytes) -> int:
    return 8 + int.from_bytes(content[:8], "little")


def _filled(header: bytes, name: str, value: str = "") -> bytes:
    """Return the header with the value of one entry replaced, by default by zeros."""
    digits = _DIGITS[name]
    # Quotes inside other values are escaped, so this can only be the entry itself.
    entry = rf'(?<!\\)"{name}":"[0-9a-f]{{{digits}}}"'.encode()
    new = f'"{name}":"{value or "0" * digits}"'.encode()
    filled, found = re.subn(entry, new, header)
    if found != 1:
        raise DamagedError("it has no digest of its content")
    return filled
