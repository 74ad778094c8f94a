"""Read files with a JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from intentmatch.core.errors import InputError

Made = TypeVar("Made")


def read_jsonl(path: Path, fields: str, make: Callable[[Any], Made]) -> Iterator[Made]:
    """Yield what `make` returns for each line that is not blank; `fields` names the required fields for the error.

    Raises `InputError` with file and line if a line is not JSON or lacks a field.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            made = make(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}:{number}: a line must be an object with {fields} ({error!r})") from None
        yield made
