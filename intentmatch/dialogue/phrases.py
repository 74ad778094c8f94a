"""What a bot says of its own accord, in many languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from intentmatch.text.normalize import language_range


@dataclass(frozen=True, slots=True)
class Phrases:
    """In one language."""

    did_you_mean: str
    """Above the choices."""
    none_of_these: str
    """The last of the choices."""
    please_tell: str
    """Asks for a slot that has no question of its own; `{slot}` stands for its name in words."""
    too_late: str
    """To a button of a question that is over."""


def phrases_for(language: str | None, own: Mapping[str, Phrases]) -> Phrases:
    """Those of a language or what it falls back to, the caller's own first; otherwise the English ones."""
    known = {**shipped(), **own}
    return next(known[code] for code in [*(language_range(language) if language else []), "en"] if code in known)


@cache
def shipped() -> Mapping[str, Phrases]:
    """What is said in each language that there is something for."""
    values = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
    return {code: Phrases(**said) for code, said in values.items()}
