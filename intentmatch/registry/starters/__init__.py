"""Small registries to begin with, as `intentmatch init` writes them.

Each file beside this one is a valid registry in the standard layout, with comments and `tests:`, in every language of
`LANGUAGES`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from intentmatch.core.errors import UnknownNameError

STARTERS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "two small intents to replace",
        "shop": "orders, returns, opening hours",
        "bank": "balance, cards, transfers",
        "helpdesk": "passwords, devices, tickets",
        "voice": "light, music, weather, timers",
    }
)
"""Name of each starting set -> what it is about."""

LANGUAGES = ("en", "de", "fr", "es")
"""Languages that every starting set is written in."""

_OF_A_LANGUAGE = re.compile(r"( {6,})([a-z]{2}):")
_TEST_LANGUAGE = re.compile(r"  - \{.*, language: ([a-z]{2})\}")


def starter(name: str, languages: Collection[str] = LANGUAGES) -> str:
    """Return the YAML of a starting set, with only the lines of the given `languages`.

    Languages that the set is not written in are ignored; if it has none of them, English is used. Raises
    `UnknownNameError` for a name that is not in `STARTERS`.
    """
    if name not in STARTERS:
        raise UnknownNameError("starting set", name, list(STARTERS))
    kept = {*languages} & {*LANGUAGES} or {"en"}
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    return "".join(f"{line}\n" for line in _in_languages(text.splitlines(), kept))


@cache
def starter_lines(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the utterances of all starting sets in some languages, or in English if they have none of these."""
    found: list[str] = []
    for name in STARTERS:
        for intent in yaml.safe_load(starter(name, languages))["intents"].values():
            found += (line for lines in intent.get("utterances", {}).values() for line in lines)
    return tuple(dict.fromkeys(found))


def _in_languages(lines: Sequence[str], kept: Collection[str]) -> list[str]:
    """Return the lines of a file in the standard layout without those of other languages."""
    chosen: list[str] = []
    depth = 0
    """Spaces before the name of the unwanted language whose block is left out; 0 outside of such a block."""
    for line in lines:
        # By lines and not by a parser, so that the comments and the layout of the file stay.
        if depth and line.startswith(" " * (depth + 1)):
            continue
        depth = 0
        test, block = _TEST_LANGUAGE.fullmatch(line), _OF_A_LANGUAGE.match(line)
        if block and block[2] not in kept:
            depth = len(block[1])
        elif not test or test[1] in kept:
            chosen.append(line)
    return chosen
