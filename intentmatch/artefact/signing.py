"""Ed25519 signatures (RFC 8032) of artefacts, with keys in PEM files as `openssl genpkey -algorithm ed25519` writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from intentmatch.core import plugins
from intentmatch.core.errors import ArtefactError, InputError
from intentmatch.storage.sealed import Sign

Verify = Callable[[bytes, bytes | None, str], None]

_EXTRA = "signing"


def signer(key: str | os.PathLike[str]) -> Sign:
    """Return the function that signs with a private key.

    Raises `InputError` if the file holds no ed25519 private key without a password, and `MissingExtraError` without
    `cryptography`.
    """
    private: Any = _load(key, "load_pem_private_key", "private", password=None)

    def sign(message: bytes) -> bytes:
        signature: bytes = private.sign(message)
        return signature

    return sign


def verifier(public_key: str | os.PathLike[str]) -> Verify:
    """Return the function that raises `ArtefactError` unless a signature is the key's signature of a digest.

    Its arguments are the digest, the signature or None, and a name of what was signed.

    Raises `InputError` if the file holds no ed25519 public key, and `MissingExtraError` without `cryptography`.
    """
    public: Any = _load(public_key, "load_pem_public_key", "public")
    exceptions = plugins.require("cryptography.exceptions", what="A signature", extra=_EXTRA)

    def verify(digest: bytes, signature: bytes | None, what: str) -> None:
        if signature is None:
            raise ArtefactError(f"{what} is not signed, and a signature is required: build it with `--sign`")
        try:
            public.verify(signature, digest)
        except exceptions.InvalidSignature:
            message = f"{what} was signed with another key than {public_key}, or changed after it was signed"
            raise ArtefactError(message) from None

    return verify


def _load(file: str | os.PathLike[str], loader: str, kind: str, **options: Any) -> Any:
    """Return the ed25519 key of a PEM file."""
    serialization = plugins.require("cryptography.hazmat.primitives.serialization", what="A signature", extra=_EXTRA)
    keys = plugins.require("cryptography.hazmat.primitives.asymmetric.ed25519", what="A signature", extra=_EXTRA)
    try:
        key = getattr(serialization, loader)(Path(file).read_bytes(), **options)
    except OSError as error:
        raise InputError(f"the key {file} cannot be read: {error.strerror or error}") from error
    # `cryptography` raises several: ValueError for no PEM, TypeError for a password, UnsupportedAlgorithm for another
    # kind.
    except Exception as error:
        raise InputError(f"{file} is no {kind} key in PEM format: {error}") from error
    if not isinstance(key, getattr(keys, f"Ed25519{kind.capitalize()}Key")):
        raise InputError(f"{file} is no ed25519 {kind} key: make one with `openssl genpkey -algorithm ed25519`")
    return key
