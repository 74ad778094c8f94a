"""Write around a request what people write around it: courtesy, codes, punctuation, markup, emoji.

The phrases are in `surroundings.yaml`. Training draws from two thirds of the phrases and measuring from the last third,
so that a measurement shows phrases and languages that no training saw.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from intentmatch.text.normalize import language_range

FILE = Path(__file__).with_name("surroundings.yaml")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Part = Literal["train", "measure"]
Kind = Literal["greeting", "signature", "both", "number", "punctuation", "markup", "emoji", "tale"]
WITH_PHRASES: frozenset[Kind] = frozenset({"greeting", "signature", "both", "tale"})
"""Kinds that need phrases in the language of the request."""
_KEPT_ASIDE = 3
"""Every third phrase is kept aside for measuring."""
_WITHOUT_SPACES = frozenset({"zh", "ja", "th"})
_MIXED = (1, 1, 1, 2, 2, 3)
"""How many kinds of additions a mixed message gets; one of these at random."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """What stands before and after a request in one language, and sentences that tell something else."""

    before: Sequence[str]
    after: Sequence[str]
    tale: Sequence[str]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Adds text around requests. Immutable; every method draws only from the generator that it is given."""

    languages: Mapping[str, Phrases]
    names: Sequence[str]
    emoji: Sequence[str]
    emoticons: Sequence[str]
    punctuation: Sequence[str]
    markup: Sequence[str]
    labels: Sequence[str]
    """What stands around a code; `{}` becomes the code."""

    def add(self, kind: Kind, text: str, language: str, draw: random.Random) -> str:
        """Return the text with an addition of one of `KINDS`; a language without phrases gets English ones."""
        return KINDS[kind](self, text, language, draw)

    def mixed(self, text: str, language: str, draw: random.Random) -> str:
        """Return the text with one to three additions, as in training. A tale is never among them."""
        for _ in range(draw.choice(_MIXED)):
            text = self.add(draw.choice(_TRAINED), text, language, draw)
        return text

    def has(self, language: str) -> bool:
        """Return whether there are phrases in a language or its fallbacks."""
        return any(code in self.languages for code in language_range(language))

    def phrases(self, language: str) -> Phrases:
        """Return the phrases of a language, of its fallbacks (`pt` for `pt-BR`), or of English."""
        return next(self.languages[code] for code in (*language_range(language), "en") if code in self.languages)


@lru_cache(2)
def read_surroundings(part: Part) -> Surroundings:
    """Return the phrases for training, or those that are kept aside for measuring."""
    content = yaml.load(FILE.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe loader
    held_out = content["held_out"]

    def chosen(phrases: Sequence[str]) -> list[str]:
        kept_aside = part == "measure"
        return [phrase for n, phrase in enumerate(phrases, 1) if (n % _KEPT_ASIDE == 0) is kept_aside]

    languages = {}
    for language, lists in content["languages"].items():
        if language in held_out and part == "train":
            continue
        # Training saw no phrase of these languages, so all of them may measure.
        choose = list if language in held_out else chosen
        languages[language] = Phrases(choose(lists["before"]), choose(lists["after"]), lists["tale"])
    shared = {name: chosen(content[name]) for name in ("names", "emoji", "emoticons", "punctuation", "markup")}
    return Surroundings(languages=languages, labels=content["labels"], **shared)


def _joined(first: str, last: str, language: str, draw: random.Random) -> str:
    space = "" if language in _WITHOUT_SPACES and draw.random() < 0.6 else " "
    return f"{first}{space}{last}"


def _filled(phrase: str, words: Surroundings, draw: random.Random) -> str:
    return phrase.replace("{name}", draw.choice(words.names))


def _greeting(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    before = words.phrases(language).before
    for _ in range(draw.choice((1, 1, 1, 2))):
        # Behind a greeting, most people go on with a small letter.
        if draw.random() < 0.6 and not text.startswith(("I ", "I'")):
            text = text[:1].lower() + text[1:]
        text = _joined(_filled(draw.choice(before), words, draw), text, language, draw)
    return text


def _signature(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    after = words.phrases(language).after
    for _ in range(draw.choice((1, 1, 1, 2))):
        if draw.random() < 0.7:
            text = text.rstrip(" .!?。！？؟")
        between = draw.choice(("", ",", ".", "!", "?", "\n", " -", "."))
        text = _joined(text + between, _filled(draw.choice(after), words, draw), language, draw)
    return text


def _both(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    return _signature(words, _greeting(words, text, language, draw), language, draw)


def _number(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    code = draw.choice(_CODES)(draw)
    if draw.random() < 0.3:
        code = draw.choice(words.labels).format(code)
    parts = text.split(" ")
    # Most people write a code at one end.
    place = draw.choice((0, len(parts), len(parts), draw.randint(0, len(parts))))
    return " ".join([*parts[:place], code, *parts[place:]])


def _punctuation(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    mark = draw.choice(words.punctuation)
    where = draw.random()
    if where < 0.7:
        return text.rstrip(" .!?。！？؟") + mark
    if where < 0.85:
        return f"{mark}{draw.choice(('', ' '))}{text}"
    return draw.choice((", ", "... ", " - ", "; ", " / ", ". ", "! ")).join(text.split(" ", draw.randint(1, 3)))


def _markup(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    return draw.choice(words.markup).replace("{}", text)


def _emoji(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    if draw.random() < 0.25:
        sign = draw.choice(words.emoticons)
    else:
        sign = "".join(draw.choice(words.emoji) for _ in range(draw.choice((1, 1, 2, 3))))
        sign *= draw.choice((1, 1, 1, 3))
    space = draw.choice(("", " ", " "))
    return f"{sign}{space}{text}" if draw.random() < 0.25 else f"{text}{space}{sign}"


def _tale(words: Surroundings, text: str, language: str, draw: random.Random) -> str:
    more = draw.choice(words.phrases(language).tale)
    return f"{more} {text}" if draw.random() < 0.5 else f"{text.rstrip('.')}. {more}"


def _digits(draw: random.Random, count: int) -> str:
    return "".join(draw.choices("0123456789", k=count))


def _letters(draw: random.Random, count: int) -> str:
    # Without I and O, which codes leave out because they read like 1 and 0.
    return "".join(draw.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=count))


_CODES: Sequence[Callable[[random.Random], str]] = (
    lambda draw: str(draw.randint(1, 99)),
    lambda draw: str(draw.randint(100, 9999)),
    lambda draw: _digits(draw, draw.randint(5, 16)),
    lambda draw: f"#{draw.randint(100, 9999999)}",
    lambda draw: f"{_letters(draw, draw.randint(1, 4))}-{_digits(draw, draw.randint(2, 7))}",
    lambda draw: f"{_letters(draw, draw.randint(1, 3))}{_digits(draw, draw.randint(3, 9))}",
    lambda draw: f"{_letters(draw, 2)}{_digits(draw, 2)} {_digits(draw, 4)} {_digits(draw, 4)} {_digits(draw, 4)}",
    lambda draw: f"{_digits(draw, 4)}-{_digits(draw, 4)}-{_digits(draw, 4)}",
    lambda draw: f"{draw.randint(1, 28)}.{draw.randint(1, 12)}.{draw.randint(1990, 2030)}",
    lambda draw: f"{draw.randint(1, 12)}/{draw.randint(1, 28)}/{draw.randint(90, 99)}",
    lambda draw: f"{draw.randint(1990, 2030)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
    lambda draw: f"{draw.randint(0, 23)}:{draw.randint(0, 59):02}",
    lambda draw: f"+{draw.randint(1, 99)} {_digits(draw, 3)} {_digits(draw, draw.randint(5, 8))}",
    lambda draw: f"0{_digits(draw, 3)}/{_digits(draw, 6)}",
    lambda draw: f"({_digits(draw, 3)}) {_digits(draw, 3)}-{_digits(draw, 4)}",
    lambda draw: f"{draw.choice('abcdefgh')}{_digits(draw, 2)}@example.{draw.choice(('com', 'org', 'de'))}",
    lambda draw: f"www.example.com/{_letters(draw, 4).lower()}/{_digits(draw, 5)}",
    lambda draw: f"{draw.choice('$€£')}{draw.randint(1, 999)}.{_digits(draw, 2)}",
)

KINDS: Mapping[Kind, Callable[[Surroundings, str, str, random.Random], str]] = {
    "greeting": _greeting,
    "signature": _signature,
    "both": _both,
    "number": _number,
    "punctuation": _punctuation,
    "markup": _markup,
    "emoji": _emoji,
    "tale": _tale,
}
"""The kinds of additions, by name."""
_TWICE: Sequence[Kind] = ("greeting", "signature", "both", "number")
_TRAINED: Sequence[Kind] = (*(kind for kind in _TWICE for _ in range(2)), "punctuation", "markup", "emoji")
