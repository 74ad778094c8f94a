"""Built-in phrases of the bot, in 32 languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

import yaml

from intentmatch.text.normalize import language_range


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of the bot in one language.

    Added in 0.3.0: `confirm`, `yes`, `no`, `dropped`, `yes_words`, `no_words`, `courtesy`, `numbers`, `several`,
    `neither`, `choice_words`, `choose_one`, `stop_words`. Added in 0.4.0: `fillers`.
    """

    did_you_mean: str
    """Heading of the choices."""
    none_of_these: str
    """Title of the last choice."""
    please_tell: str
    """Question for a slot that has no `ask`; `{slot}` is replaced by the name of the slot in words."""
    too_late: str
    """Reply to a button of a question that is no longer open."""
    confirm: str = ""
    """Question before an intent with `confirm`; `{title}` is replaced by the title of the intent."""
    yes: str = ""
    """Title of the choice that confirms."""
    no: str = ""
    """Title of the choice that does not."""
    dropped: str = ""
    """Reply to a user who does not confirm."""
    yes_words: str = ""
    """What else confirms, separated by commas."""
    no_words: str = ""
    """What else does not confirm, separated by commas."""
    courtesy: str = ""
    """Words that may stand beside a yes, a no or a choice and add nothing, separated by commas."""
    numbers: str = ""
    """Words for the choices 1, 2, 3 and so on, separated by commas; `/` separates words for the same number."""
    several: str = ""
    """Words that choose more than one choice, separated by commas."""
    neither: str = ""
    """Words that choose none of the choices, separated by commas."""
    choice_words: str = ""
    """Other words in the answer to a choice, separated by commas."""
    choose_one: str = ""
    """Heading of the choices when the answer to them was not understood."""
    stop_words: str = ""
    """What ends a request while the bot asks for a value, separated by commas."""
    fillers: str = ""
    """What may stand beside a value and adds nothing, as courtesy and words for yes do, separated by commas."""


def phrases_for(language: str | None, own: Mapping[str, Phrases], bot: str | None = None) -> Phrases:
    """Return the phrases for a language or its fallbacks, else for the bot's language, at last for English.

    `own` phrases take precedence over the built-in ones. Phrases that `own` leaves empty are the built-in ones.
    """
    codes = [*(code for one in (language, bot) if one for code in language_range(one)), "en"]
    code = next(code for code in codes if code in own or code in shipped())
    return _completed(own[code], code) if code in own else shipped()[code]


def _completed(own: Phrases, code: str) -> Phrases:
    built_in = next(shipped()[other] for other in [*language_range(code), "en"] if other in shipped())
    # Phrases that a release adds are empty in those that a program made before.
    empty = [field.name for field in fields(own) if not getattr(own, field.name)]
    return replace(own, **{name: getattr(built_in, name) for name in empty})


def listed(words: str) -> list[str]:
    """Return the parts of a phrase that are separated by commas."""
    return [word for part in words.split(",") if (word := part.strip())]


@cache
def shipped() -> Mapping[str, Phrases]:
    """Return the built-in phrases by language code."""
    values = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
    return {code: Phrases(**phrases) for code, phrases in values.items()}
