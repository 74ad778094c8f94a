"""Built-in phrases of the bot, in 32 languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from intentmatch.text.normalize import language_range


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of the bot in one language."""

    did_you_mean: str
    """Heading of the choices."""
    none_of_these: str
    """Title of the last choice."""
    please_tell: str
    """Question for a slot that has no `ask`; `{slot}` is replaced by the name of the slot in words."""
    too_late: str
    """Reply to a button of a question that is no longer open."""


def phrases_for(language: str | None, own: Mapping[str, Phrases], bot: str | None = None) -> Phrases:
    """Return the phrases for a language or its fallbacks, else for the bot's language, at last for English.

    `own` phrases take precedence over the built-in ones.
    """
    known = {**shipped(), **own}
    wanted = [code for one in (language, bot) if one for code in language_range(one)]
    return next(known[code] for code in [*wanted, "en"] if code in known)


@cache
def shipped() -> Mapping[str, Phrases]:
    """Return the built-in phrases by language code."""
    values = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
    return {code: Phrases(**phrases) for code, phrases in values.items()}
