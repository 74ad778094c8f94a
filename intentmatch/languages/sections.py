"""The sections of a language's file, with the shape of each."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from intentmatch.languages.rules import alternatives, named_rules, rules
from intentmatch.languages.shapes import (
    MOST,
    Shape,
    ShapeError,
    flag,
    list_of,
    map_of,
    number,
    one_of,
    pattern,
    phrases,
    record,
    text,
    whole,
    words,
    words_in,
    written_as,
)

WITH_EXAMPLES = (
    "cardinals",
    "number_forms",
    "ordinals",
    "currencies",
    "cents",
    "degrees",
    "durations",
    "days",
    "weekdays",
    "last_weekdays",
    "months",
    "weekday_moves",
    "day_parts",
    "weekday_parts",
    "moments",
    "clock",
)
"""Sections of patterns: each needs an example that it finds, and one that it leaves alone."""
OF_REFUSALS = (
    *("refusal_words", "refusal_sign", "refusals", "declined"),
    *("negated", "dependent_clauses"),
)
"""Sections of refusals: `tests/text` and `tests/matching` have their examples."""
STRUCTURE = {
    "unspaced": "words have no spaces between them",
    "month_first": "the month stands before the day in digits (11/22)",
    "number_behind_weekday": "the bare number of the day stands behind the weekday (domingo 29)",
    "weekdays_in_full": "all forms of the weekdays are listed, and another ending makes another word",
    "next_means_next_week": '"next" before a weekday is that of the next week',
    "part_of_day_before_hour": "the part of the day stands before the hour alone",
    "tenths_behind_amount": "a bare digit behind an amount of money is tenths",
    "last_unit_unsaid": "the last unit of a number in numerals may be left out",
}
"""Structure that languages share, by name."""
COMPOUNDING = {
    "one_word": "compound numbers are written as one word (einundzwanzig)",
    "units_first": "the units come before the tens (one and twenty)",
    "vigesimal": "four twenties are eighty, and sixty ten is seventy",
    "ten_behind_units": "three ten is thirteen",
    "ten_before_units": "ten three is thirteen",
    "ten_and_units": "ten and three is thirteen",
    "scales_first": "hundred two is two hundred",
}
"""Ways to join numbers, by name."""
_NUMBERS = map_of(number)
_WORDS_BY_NUMBER = map_of(words, keys=whole(-999, MOST))
_DAYS, _HOUR, _MINUTES = whole(-999, 999), whole(1, 24), whole(-59, 59)
_CURRENCY = written_as("[A-Z]{3}", "EUR")
_PART = one_of(("morning", "afternoon", "evening", "night"))
_DAY_PART = written_as("-?[0-9]{1,3} (?:morning|afternoon|evening|night)", "1 morning")
_TIME = written_as("(?:[01][0-9]|2[0-3]):[0-5][0-9]", "12:00")
_LENGTH = written_as("P(?:[0-9]{1,4}[YMWD]|T(?:[0-9]{1,4}[HMS]){1,3})", "PT1H30M")


_SHAPES: Mapping[str, Shape | Mapping[str, Shape]] = {
    # The language itself, for authors who write its name where its code belongs.
    "names": words,
    "structure": list_of(one_of(STRUCTURE)),
    # Words of a message.
    "stop_words": words,
    "function_words": words,
    "polite_phrases": phrases,
    "leading_words": words,
    "elisions": map_of(words),
    # Endings of adjectives by the last letter of their plain form, or behind any other letter.
    "name_endings": map_of(words),
    "joining_words": words,
    "or_words": words,
    "exclusions": phrases,
    "question_mark": text,
    # What a message begins with that does not stand alone ("and"), what stands for something said before ("the other
    # one"), and what says nothing beside these.
    "follow_ups": dict.fromkeys(("openings", "stand_ins", "fillers"), phrases),
    "shorthand": map_of(text),
    # Numbers.
    "cardinals": {
        "words": _WORDS_BY_NUMBER,
        "and": words,
        "articles": words,
        "inside": _WORDS_BY_NUMBER,
        "times_ten": words,
        "plus_ten": words,
        "compounding": list_of(one_of(COMPOUNDING)),
    },
    "number_forms": {
        "minus": phrases,
        "point": phrases,
        "more": _NUMBERS,
        "parts": _NUMBERS,
        "fixed": _NUMBERS,
        "scales": _NUMBERS,
        "vague": phrases,
        "of": phrases,
        "compared": phrases,
    },
    "ordinals": {
        "words": _WORDS_BY_NUMBER,
        "endings": phrases,
        "suffix": pattern,
        # Not `text`: empty letters mean that the word without its suffix is the cardinal ("hundertste" is "hundert").
        "instead": list_of(lambda node: str(node.value)),
        "figures": pattern,
        "counted": pattern,
        "fixed": _NUMBERS,
        "part_articles": words,
        "tens_first": flag,
    },
    # Units.
    "currencies": map_of(_CURRENCY),
    "cents": map_of(_CURRENCY),
    "currency_signs": map_of(_CURRENCY),
    "degrees": words,
    "durations": {
        "units": record(dict.fromkeys(("year", "month", "week", "day", "hour", "minute", "second"), phrases)),
        "articles": phrases,
        "halves": phrases,
        "more": _NUMBERS,
        "joints": phrases,
        "whole": map_of(_LENGTH),
    },
    # Days and times.
    "days": map_of(_DAYS),
    "weekdays": list_of(words_in(7)),
    "last_weekdays": list_of(words_in(7)),
    "months": words_in(12),
    "weekday_moves": map_of(_DAYS),
    "day_parts": map_of(_DAY_PART),
    "weekday_parts": map_of(_PART),
    "anchors": dict.fromkeys(("after", "before", "not_on", "other_than", "since"), phrases),
    "moments": {
        **dict.fromkeys(
            (
                *("next", "this", "last", "after_next", "week", "month", "year", "weekend"),
                *("morning", "afternoon", "evening", "night"),
                *("at", "around", "to", "between", "both", "later", "ago", "in_month"),
            ),
            phrases,
        ),
        "day_of_month": pattern,
        "ending_from": pattern,
    },
    "clock": {
        **dict.fromkeys(("before", "after", "counted", "morning", "afternoon", "night"), phrases),
        **dict.fromkeys(
            ("minutes_before", "minutes_after", "past", "past_words", "plus", "behind", "spoken"),
            map_of(_MINUTES),
        ),
        **dict.fromkeys(("hours", "halves"), map_of(_HOUR)),
        "named": map_of(_TIME),
        "elided": list_of(text),
        "endings": pattern,
        "parts_first": flag,
    },
    # Requests that are refused or taken back. Patterns take time to compile: a message reads the sections it needs.
    "refusal_words": dict.fromkeys(
        (
            # Words of a folded text, one of which stands in every refusal; they tell the language too, if they are not
            # short Latin words. `telling` are short ones that tell it all the same.
            *("marks", "telling"),
            # Words of answers in any language: "no", "not", "certainly not", and courtesy before a request.
            *("no", "not", "surely", "please"),
        ),
        words,
    ),
    # A pattern that finds a part of every text which the rules of `refusals` match, in less time. In a language with
    # affixes or without spaces, it stands in place of `marks`.
    "refusal_sign": pattern,
    "refusals": named_rules(
        {
            # Parts of verbs whose prohibition asks for what they name: "don't forget to".
            "forgetting": pattern,
            # A phrase at the head of a clause that takes a request back: "forget the cancellation".
            "taken_back": alternatives,
            # What begins and what ends a clause that leaves everything as it is: "leave my account alone".
            "left_alone": record({"begins": alternatives, "ends": alternatives}, needed=("begins", "ends")),
        }
    ),
    # What declines something politely before it ("no refund please") or `behind` it ("a refund? nope, thanks").
    "declined": record(dict.fromkeys(("no", "please", "behind"), alternatives), needed=("no", "please")),
    # A request, and what stands there in the negative.
    "negated": rules,
    # What makes a clause depend on the one before: "that", "to".
    "dependent_clauses": alternatives,
    # Values that fill slots of templates.
    "samples": map_of(list_of(text)),
    # Messages for each of `WITH_EXAMPLES`: with the value that the section finds, and those that it leaves alone.
    "examples": dict.fromkeys(WITH_EXAMPLES, record({"finds": map_of(text), "leaves": list_of(text)})),
}
"""Shape of each section by its name, or the shapes of its fields."""


def _section(shape: Shape | Mapping[str, Shape], expression: Shape) -> Shape:
    """Return the shape of a section, with another one for the fields that are regular expressions."""
    if callable(shape):
        return expression if shape is pattern else shape
    return record({name: _section(field, expression) for name, field in shape.items()})


SECTIONS = {name: _section(shape, pattern) for name, shape in _SHAPES.items()}
"""Shape of a section by its name."""


def _no_pattern(node: yaml.Node) -> str:
    raise ShapeError("a bot cannot set regular expressions: write words, or a slot with a `pattern`", node)


OWN_SECTIONS = {
    name: _section(shape, _no_pattern)
    for name, shape in _SHAPES.items()
    if name not in (*("names", "shorthand", "exclusions", "samples", "examples"), *OF_REFUSALS)
}
"""Shapes of the sections that a bot may extend or replace.

Its shorthand is in the setting `spelling`, its exclusions are `not:`, and its samples are the `examples` of slots. An
author's regular expression could take so long that the other bots of a server had to wait.
"""
WORD_LISTS = ("stop_words", "function_words", "leading_words", "joining_words", "or_words", "degrees")
"""Sections of words to which a bot's own words are added."""
