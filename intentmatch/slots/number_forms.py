"""Words that change a number beside them: signs, decimal marks, halves and scales, by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from intentmatch.languages.tables import Table


class NumberForms(NamedTuple):
    """Words of a language; bars separate alternatives."""

    minus: str = ""
    """Words before a negative number; those with `~` stand behind it."""
    point: str = ""
    """Words between a number and its decimals."""
    more: Mapping[str, float] = {}
    """Words behind a number that add to it: "two [and a half]". Behind a scale, they add parts of the scale."""
    parts: Mapping[str, float] = {}
    """Words before a scale that multiply it: "[half a] million"."""
    fixed: Mapping[str, float] = {}
    """Other numbers."""
    scales: Mapping[str, float] = {}
    """Scales behind a number, beside those of the number words, and the parts of "three [fifths]"."""
    vague: str = ""
    """Words before a scale that make no number of it: "[several] thousand"."""
    of: str = ""
    """Words between a number and what there are so many of: "2 millions [d']euros"."""
    compared: str = ""
    """Words beside degrees that make a difference of them: "two degrees [warmer]"."""


NO_PEOPLE = "(?!..?(?:[个個]?人|[位名张張]))"
"""What does not follow a point: "七点四个人" is four people at seven."""
NOT_MINUS = "".join(f"(?<!{word} )" for word in ("au", "du", "al", "lo", "pelo", "ao", "les", "mas o"))
"""Pattern of what does not stand before "minus": "au moins 5" is "at least 5"."""
SCALES = {"k": 1e3, "bn": 1e9, "mn": 1e6}
"""Scales of every language."""

NUMBER_FORMS: Mapping[str, NumberForms] = Table("number_forms", lambda forms: NumberForms(**forms))
"""Words by language."""
