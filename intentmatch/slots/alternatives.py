"""Alternatives in a message: "small or medium" offers two values of one slot, of which the user has to choose one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from intentmatch.core.result import Entity
from intentmatch.languages.tables import Table
from intentmatch.slots.function_words import function_words, words_of
from intentmatch.slots.neighbours import bare_words
from intentmatch.text.normalize import base_language

_OR = Table[str]("or_words")
"""Words for "or" by language."""
LONGEST_LINK = 24
"""Characters between two alternatives: the word for "or", and a few function words."""
_LONGEST_QUESTION = 200
"""Characters of a question that repeats the user's words."""
_QUESTION_MARKS = Table[str]("question_mark")


def joined_by_or(text: str, start: int, end: int, language: str | None) -> bool:
    """Return whether `text[start:end]`, between two values, says that one of them is meant."""
    if not start < end <= start + LONGEST_LINK:
        return False
    between = text[start:end].strip()
    if not between:
        return False
    if between == "/":
        return True
    found = bare_words(between)
    together = "".join(found)
    ors = words_of(_OR, language)
    if together in ors:
        return True
    rest = [word for word in found if word not in ors]
    return len(rest) < len(found) and function_words(language).issuperset(rest)


def alternatives(
    text: str, entities: Sequence[Entity], language: str | None, single: Collection[str] = ()
) -> dict[str, str]:
    """Return the question for each slot that has alternatives in a message, in the message's own words.

    Slots in `single` take one value: several ones are alternatives whatever joins them, such as "20 to 30".
    `entities` are those of the message, in its order. "A small, medium or large pizza" gives "small, medium or large?".
    """
    mark = _QUESTION_MARKS.get(base_language(language), "?") if language else "?"
    questions: dict[str, str] = {}
    number = 0
    while number < len(entities):
        first = number
        linked = False
        while number + 1 < len(entities) and (link := _link(text, entities[number], entities[number + 1], language)):
            linked |= link == "or"
            number += 1
        group = entities[first : number + 1]
        if linked and any(entity.value != group[0].value for entity in group):
            asked = text[group[0].start : group[-1].end]
            # A quotation of half the message is no question that anybody can answer.
            if len(asked) <= _LONGEST_QUESTION:
                questions.setdefault(group[0].slot, f"{asked}{mark}")
        number += 1
    for slot in single:
        several = [entity for entity in entities if entity.slot == slot]
        if slot not in questions and any(entity.value != several[0].value for entity in several):
            asked = text[several[0].start : several[-1].end]
            # Values far apart would quote half of the message: then they are listed alone.
            short = asked if len(asked) <= LONGEST_LINK + sum(len(one.text) for one in several) else ""
            questions[slot] = f"{short or ', '.join(one.text for one in several)[:_LONGEST_QUESTION]}{mark}"
    return questions


def takes_one_value(kind: str) -> bool:
    """Return whether a slot of a kind means one value: names of a list may be several."""
    return kind not in ("list", "pattern", "any")


def _link(text: str, first: Entity, second: Entity, language: str | None) -> str:
    """Return "or" or "comma" for what joins two values of a slot, "" for anything else."""
    if first.slot != second.slot:
        return ""
    if joined_by_or(text, first.end, second.start, language):
        return "or"
    return "comma" if text[first.end : second.start].strip() in (",", "،", "、", "，") else ""
