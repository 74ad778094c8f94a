"""Placeholders of slots in responses, such as `{size}`: find them, and replace them by values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def placeholders(text: str) -> Iterator[tuple[str, int]]:
    """Yield what stands between each pair of braces of a response, and the position of its first brace."""
    for found in _PLACEHOLDER.finditer(text):
        yield found[1], found.start()


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each `{slot}` by its value; braces without a value stay as they are."""
    # In one pass: a value with braces is the user's text, and is not filled again.
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
