"""API keys of the operator, each bound to the servers that the operator names for it."""

from __future__ import annotations

import os
from pathlib import Path

from intentmatch.core.allowed import origin, servers
from intentmatch.core.errors import SettingsError

FILE, HOSTS = "_FILE", "_HOSTS"
"""Appended to the variable of a key: the name of a file that holds it; the servers that it is for."""


def key_for(url: str, variable: str, *, by_operator: bool) -> str | None:
    """Return the key in an environment variable for the server at a URL; None if there is no key for it.

    `VARIABLE_FILE` names a file with the key. `VARIABLE_HOSTS` lists the servers that get it. Without that list, only a
    server that the operator named gets it: in an argument or in the environment, and not in YAML or an artefact.

    Raises `SettingsError` if the file or the list cannot be read, and if it is open for which server the key is.
    """
    key, wanted = _key(variable), origin(url)
    if key is None or wanted is None:
        return None
    if not (key and key.isascii() and key.isprintable()):
        raise SettingsError(f"the key in {variable} must be printable ASCII and not empty")
    listed = os.environ.get(f"{variable}{HOSTS}")
    if listed is not None:
        try:
            return key if wanted in servers(listed) else None
        except ValueError as error:
            raise SettingsError(f"{variable}{HOSTS} cannot be {listed!r}: {error}") from None
    # An author of YAML could otherwise have the key sent to a server of their own.
    if not by_operator:
        raise SettingsError(
            f"the key in {variable} is not sent to {wanted}, which a file names: set {variable}{HOSTS}={wanted} "
            "if the key is for this server"
        )
    return key


def _key(variable: str) -> str | None:
    if variable in os.environ:
        return os.environ[variable].strip()
    if (file := os.environ.get(f"{variable}{FILE}")) is None:
        return None
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"the key in {file!r} cannot be read: {reason}") from None
