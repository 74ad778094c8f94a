"""Rewrite a text by the first of several patterns that it matches."""

from __future__ import annotations

import re
from collections.abc import Iterable

from intentmatch.text.normalize import clean

Rules = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns, each with the template that replaces what it finds."""


def compiled(rules: Iterable[tuple[str, str]]) -> Rules:
    """Compile rules that ignore case."""
    return tuple((re.compile(pattern, re.IGNORECASE), template) for pattern, template in rules)


def rewritten(text: str, rules: Rules) -> str | None:
    """Replace what the first matching pattern finds, and clean the text; None if none matches."""
    for pattern, template in rules:
        match = pattern.search(text)
        if match is not None:
            # What a negation leaves may be two spaces, or one at an end.
            return clean(text[: match.start()] + match.expand(template) + text[match.end() :])
    return None
