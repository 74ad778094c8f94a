"""The work folder of an adaptation: results of finished folds, so that a later run does not repeat them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from intentmatch.storage import atomic


def digest_of(parts: Sequence[Any]) -> str:
    """Digest of JSON values; other objects count as their text."""
    text = json.dumps(list(parts), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def remembered(file: Path, identity: str, make: Callable[[], Any]) -> Any:
    """Return the JSON value that a file holds under this identity; make it and write the file if there is none."""
    try:
        content = json.loads(file.read_bytes())
        if content["identity"] == identity:
            return content["value"]
    # Whatever is wrong with the file, it is measured again.
    except (OSError, ValueError, KeyError, TypeError):
        pass
    value = make()
    atomic.write_file(file, json.dumps({"identity": identity, "value": value}).encode())
    # As a later run reads it: tuples are lists.
    return json.loads(json.dumps(value))
