"""The words that stand next to a slot in the utterances: "from [Berlin]" tells one city from another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intentmatch.core.types import Utterance
from intentmatch.slots.message import Message
from intentmatch.slots.scripts import tokens
from intentmatch.text.normalize import bare

_WORDS = 2


class Neighbours:
    """Of all slots of an intent."""

    def __init__(self, utterances: Iterable[Utterance]) -> None:
        self._before: dict[str, set[tuple[str, ...]]] = {}
        self._behind: dict[str, set[tuple[str, ...]]] = {}
        for utterance in utterances:
            for mark, before, behind in sides(utterance):
                left, right = spoken_words(before)[::-1], spoken_words(behind)
                for length in range(1, _WORDS + 1):
                    self._before.setdefault(mark, set()).add(left[:length])
                    self._behind.setdefault(mark, set()).add(right[:length])

    def agree(self, slot: str, message: Message, start: int, end: int) -> int:
        """How many of the words around a span of the message are those that stand around the slot."""
        before = [token.bare for token in message.tokens if token.end <= start][: -_WORDS - 1 : -1]
        behind = [token.bare for token in message.tokens if token.start >= end][:_WORDS]
        return _longest(before, self._before.get(slot, ())) + _longest(behind, self._behind.get(slot, ()))


def sides(utterance: Utterance) -> Iterable[tuple[str, str, str]]:
    """For each mark its slot, the text before it and the text behind it, as far as the next marks."""
    marks = utterance.marks
    ends = [0, *(mark.end for mark in marks)]
    starts = [*(mark.start for mark in marks), len(utterance.text)]
    for number, mark in enumerate(marks):
        yield mark.slot, utterance.text[ends[number] : mark.start], utterance.text[mark.end : starts[number + 1]]


def spoken_words(text: str) -> tuple[str, ...]:
    """The words of a text in bare form; a character of a script without spaces is one by itself."""
    form = bare(text)
    return tuple(form[start:end] for start, end in tokens(form))


def _longest(words: Sequence[str], known: Iterable[tuple[str, ...]]) -> int:
    known = set(known)
    return max((length for length in range(1, len(words) + 1) if tuple(words[:length]) in known), default=0)
