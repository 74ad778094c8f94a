"""What YAML may name outside of its own folder, as whoever runs the bot allows it: servers, models and folders.

One list holds all three, each entry in the form that YAML would use: `https://embeddings.example` (a server, for models
and webhooks), `sentence_transformer:intfloat/multilingual-e5-small` or `sentence_transformer` (one model, or all models
of a kind), `/srv/models` (a folder and all that is in it).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

FOLDER_STARTS = ("/", "~", "./", "../")
_MODEL = re.compile(r"[A-Za-z0-9_-]+(:\S+)?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def http_url(url: str) -> SplitResult | None:
    """Return the parts of an http(s) URL without user and fragment; None for anything else."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    # Browsers and some libraries read a backslash as the slash that ends the host.
    if not valid or not url.isascii() or not url.isprintable() or {*url} & {*"@# \\"}:
        return None
    return parts


def origin(url: str) -> str | None:
    """Return scheme, host and port of a URL, such as `https://api.example`; None if it is none."""
    parts = http_url(url)
    if parts is None or parts.hostname is None:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    # "api.example." is the same host; one spelling must not pass where the other is refused.
    return f"{parts.scheme}://{host.rstrip('.')}{port}"


def entries(value: Any) -> tuple[str, ...]:
    """Parse a list of entries, or text with commas between them. Raises `ValueError` for one that is none."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not all(isinstance(entry, str) for entry in listed):
        raise ValueError("it must be a list of servers, models and folders")
    return tuple(dict.fromkeys(_entry(entry.strip()) for entry in listed if entry.strip()))


def servers(value: str) -> tuple[str, ...]:
    """Parse servers, with commas between them. Raises `ValueError` for anything else."""
    found = entries(value)
    if wrong := [entry for entry in found if "://" not in entry]:
        raise ValueError(f"{wrong[0]!r} is no server: write https://HOST or http://HOST:PORT")
    return found


def permits(allowed: Sequence[str], entry: str) -> bool:
    """Whether a list of entries holds a server or a model, or all models of its kind."""
    # A server has a colon too, and "https" in the list must not allow all servers.
    return entry in allowed or ("://" not in entry and entry.partition(":")[0] in allowed)


def folders(allowed: Sequence[str]) -> list[str]:
    """Return the folders among the entries."""
    return [entry for entry in allowed if os.path.isabs(entry)]  # noqa: PTH117 - a text


def _entry(text: str) -> str:
    if "://" in text:
        parts, found = http_url(text), origin(text)
        if parts is None or found is None or parts.path not in ("", "/") or parts.query:
            raise ValueError(f"{text!r} is no server: write https://HOST or http://HOST:PORT, without a path")
        return found
    if text.startswith(FOLDER_STARTS) or os.path.isabs(text):  # noqa: PTH117
        return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 - the others raise for unknown users
    if not _MODEL.fullmatch(text):
        raise ValueError(f"{text!r} is no server (https://HOST), no model (KIND:MODEL) and no folder (/FOLDER)")
    return text
