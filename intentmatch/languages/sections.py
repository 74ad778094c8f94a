"""The sections of a language's file, with the shape of each."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.languages.shapes import (
    Shape,
    flag,
    list_of,
    map_of,
    number,
    one_of,
    pattern,
    phrases,
    record,
    text,
    words,
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
    "months",
    "weekday_moves",
    "day_parts",
    "weekday_parts",
    "moments",
    "clock",
)
"""Sections of patterns: each needs an example that it finds, and one that it leaves alone."""
STRUCTURE = {
    "unspaced": "words have no spaces between them",
    "month_first": "the month stands before the day in digits (11/22)",
    "number_behind_weekday": "the bare number of the day stands behind the weekday (domingo 29)",
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
    "ten_and_units": "ten and three is thirteen",
    "scales_first": "hundred two is two hundred",
}
"""Ways to join numbers, by name."""
_NUMBERS = map_of(number)
_WORDS_BY_NUMBER = map_of(words, keys=number)

SECTIONS: Mapping[str, Shape] = {
    # The language itself, for authors who write its name where its code belongs.
    "names": words,
    "structure": list_of(one_of(STRUCTURE)),
    # Words of a message.
    "stop_words": words,
    "function_words": words,
    "polite_phrases": phrases,
    "leading_words": words,
    "elisions": map_of(words),
    "joining_words": words,
    "or_words": words,
    "exclusions": phrases,
    "question_mark": text,
    "shorthand": map_of(text),
    # Numbers.
    "cardinals": record(
        {
            "words": _WORDS_BY_NUMBER,
            "and": words,
            "articles": words,
            "inside": _WORDS_BY_NUMBER,
            "times_ten": words,
            "plus_ten": words,
            "compounding": list_of(one_of(COMPOUNDING)),
        }
    ),
    "number_forms": record(
        {
            "minus": phrases,
            "point": phrases,
            "more": _NUMBERS,
            "parts": _NUMBERS,
            "fixed": _NUMBERS,
            "scales": _NUMBERS,
        }
    ),
    "ordinals": record(
        {
            "words": _WORDS_BY_NUMBER,
            "endings": phrases,
            "suffix": pattern,
            "instead": list_of(lambda node: str(node.value)),
            "figures": pattern,
            "counted": pattern,
            "fixed": _NUMBERS,
            "tens_first": flag,
        }
    ),
    # Units.
    "currencies": map_of(text),
    "cents": map_of(text),
    "currency_signs": map_of(text),
    "degrees": words,
    "durations": record(
        {
            "units": record(dict.fromkeys(("year", "month", "week", "day", "hour", "minute", "second"), phrases)),
            "articles": phrases,
            "halves": phrases,
            "more": _NUMBERS,
            "joints": phrases,
            "whole": map_of(text),
        }
    ),
    # Days and times.
    "days": _NUMBERS,
    "weekdays": list_of(words),
    "months": words,
    "weekday_moves": _NUMBERS,
    "day_parts": map_of(text),
    "weekday_parts": map_of(text),
    "anchors": record({"after": phrases, "before": phrases}),
    "moments": record(
        {
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
        }
    ),
    "clock": record(
        {
            **dict.fromkeys(("before", "after", "morning", "afternoon", "night"), phrases),
            **dict.fromkeys(
                (
                    *("minutes_before", "minutes_after", "hours", "halves"),
                    *("past", "past_words", "plus", "behind", "spoken"),
                ),
                _NUMBERS,
            ),
            "named": map_of(text),
            "elided": list_of(text),
            "endings": pattern,
            "parts_first": flag,
        }
    ),
    # Values that fill slots of templates.
    "samples": map_of(list_of(text)),
    # Messages for each of `WITH_EXAMPLES`: with the value that the section finds, and those that it leaves alone.
    "examples": record(dict.fromkeys(WITH_EXAMPLES, record({"finds": map_of(text), "leaves": list_of(text)}))),
}
"""Shape of a section by its name."""
