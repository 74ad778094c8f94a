"""Recognise a message that does not stand alone, such as "and tomorrow?", and what in it says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.text.follow_up_words import follow_up_words
from intentmatch.text.normalize import fold

# Words, or letters of a language without spaces, that may stand beside an opening or a stand-in: "no, the old one".
# Chosen with the development half of `tests/matching/follow_ups/messages.yaml`.
_MOST_CONTENT, _MOST_CONTENT_UNSPACED = 2, 4


class FollowUp(NamedTuple):
    """A message that does not stand alone."""

    says: str
    """The words that show it."""
    is_bare: bool
    """Whether nothing is left beside these words and values of slots: no other intent can be meant."""


def follow_up(message: str, entities: Sequence[Entity], language: str | None) -> FollowUp | None:
    """Return why a message does not stand alone after an intent, or None.

    `entities` are values of the slots of that intent, found in the message. The message is no request of its own if

    - it is nothing but such values, words that stand for something said before ("the other one"), openings ("and") and
      stop words, with at least one of the first two; or
    - it has an opening or such a word, and at most two other words. Whether they are a request of their own is for the
      caller to decide.
    """
    words = follow_up_words(language)
    rest, end = "", 0
    for entity in sorted(entities, key=lambda each: each.start):
        rest += message[end : entity.start] + " "
        end = max(end, entity.end)
    rest = fold(rest + message[end:])
    found = " ".join(fold(entity.text) for entity in entities)
    # Without lists for the language, nothing tells an opening or a stop word from content.
    if words is None:
        return FollowUp(f"“{found}” is all it says", True) if entities and not rest else None
    opening = words.opening_of(rest)
    after = rest[len(opening or "") :].strip()
    stand_in = words.stand_in_of(after)
    content = words.content_of(after)
    if not content and (entities or stand_in):
        return FollowUp(f"“{stand_in or found}” stands for nothing alone", True)
    length = len(content.split()) if words.spaced else len(content.replace(" ", ""))
    most = _MOST_CONTENT if words.spaced else _MOST_CONTENT_UNSPACED
    if content and (opening or stand_in) and length <= most:
        return FollowUp(f"“{opening or stand_in}” refers to what was said before", False)
    return None
