"""Words next to a slot in the utterances: "from [Berlin]" tells two city slots apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intentmatch.core.types import Utterance
from intentmatch.slots.message import Message
from intentmatch.slots.scripts import tokens
from intentmatch.text.normalize import bare

_WORDS = 2


class Neighbours:
    """The neighbouring words of all slots of an intent."""

    def __init__(self, utterances: Iterable[Utterance]) -> None:
        self._before: dict[str, set[tuple[str, ...]]] = {}
        self._after: dict[str, set[tuple[str, ...]]] = {}
        for utterance in utterances:
            for mark, before, after in sides(utterance):
                left, right = bare_words(before)[::-1], bare_words(after)
                for length in range(1, _WORDS + 1):
                    self._before.setdefault(mark, set()).add(left[:length])
                    self._after.setdefault(mark, set()).add(right[:length])

    def count_matching(self, slot: str, message: Message, start: int, end: int) -> int:
        """Count the words around a span of the message that also surround the slot in an utterance."""
        before = [token.bare for token in message.tokens if token.end <= start][: -_WORDS - 1 : -1]
        after = [token.bare for token in message.tokens if token.start >= end][:_WORDS]
        return _longest(before, self._before.get(slot, ())) + _longest(after, self._after.get(slot, ()))


def sides(utterance: Utterance) -> Iterable[tuple[str, str, str]]:
    """Yield the slot of each mark with the text before and after it, up to the neighbouring marks."""
    marks = utterance.marks
    ends = [0, *(mark.end for mark in marks)]
    starts = [*(mark.start for mark in marks), len(utterance.text)]
    for number, mark in enumerate(marks):
        yield mark.slot, utterance.text[ends[number] : mark.start], utterance.text[mark.end : starts[number + 1]]


def bare_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in bare form; in scripts without spaces, each character is a word."""
    form = bare(text)
    return tuple(form[start:end] for start, end in tokens(form))


def _longest(words: Sequence[str], known: Iterable[tuple[str, ...]]) -> int:
    known = set(known)
    return max((length for length in range(1, len(words) + 1) if tuple(words[:length]) in known), default=0)
