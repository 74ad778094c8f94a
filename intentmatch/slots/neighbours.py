"""Words next to a slot in the utterances: "from [Berlin]" tells two city slots apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from intentmatch.core.types import Utterance
from intentmatch.slots.message import Message
from intentmatch.text.normalize import bare
from intentmatch.text.scripts import tokens

_WORDS = 2


class Neighbours:
    """The neighbouring words of all slots of an intent."""

    def __init__(self, utterances: Iterable[Utterance]) -> None:
        self._before: dict[str, set[tuple[str, ...]]] = {}
        self._after: dict[str, set[tuple[str, ...]]] = {}
        self._next: set[tuple[str, str]] = set()
        self.fixed_pairs: set[tuple[str, str]] = set()
        """Each two words that stand next to each other in an utterance, outside of marks."""
        self.carriers: set[str] = set()
        """The words of all utterances outside of marks."""
        for utterance in utterances:
            marks = utterance.marks
            for number, (mark, before, after) in enumerate(sides(utterance)):
                # "{count} {size}": a number right before a size is a count.
                if number + 1 < len(marks) and not after.strip():
                    self._next.add((mark, marks[number + 1].slot))
                left, right = bare_words(before)[::-1], bare_words(after)
                for length in range(1, _WORDS + 1):
                    self._before.setdefault(mark, set()).add(left[:length])
                    self._after.setdefault(mark, set()).add(right[:length])
            for words in fixed_words(utterance):
                self.carriers.update(words)
                self.fixed_pairs.update(pairwise(words))

    def follows(self, slot: str, other: str) -> bool:
        """Return whether the value of `other` stands right behind that of `slot` in an utterance."""
        return (slot, other) in self._next

    def count_matching(self, slot: str, message: Message, start: int, end: int) -> int:
        """Count the words around a span of the message that also surround the slot in an utterance."""
        return self.count_before(slot, message, start) + self.count_after(slot, message, end)

    def count_before(self, slot: str, message: Message, start: int) -> int:
        """Count the words before a position of the message that also stand before the slot in an utterance."""
        before = [token.bare for token in message.tokens_before(start, _WORDS)]
        return _longest(before[::-1], self._before.get(slot, frozenset()))

    def count_after(self, slot: str, message: Message, end: int) -> int:
        """Count the words after a position of the message that also follow the slot in an utterance."""
        after = [token.bare for token in message.tokens_after(end, _WORDS)]
        return _longest(after, self._after.get(slot, frozenset()))


def sides(utterance: Utterance) -> Iterable[tuple[str, str, str]]:
    """Yield the slot of each mark with the text before and after it, up to the neighbouring marks."""
    marks = utterance.marks
    ends = [0, *(mark.end for mark in marks)]
    starts = [*(mark.start for mark in marks), len(utterance.text)]
    for number, mark in enumerate(marks):
        yield mark.slot, utterance.text[ends[number] : mark.start], utterance.text[mark.end : starts[number + 1]]


def fixed_words(utterance: Utterance) -> Iterable[tuple[str, ...]]:
    """Yield the words before, between and behind the marks of an utterance."""
    start = 0
    for mark in utterance.marks:
        yield bare_words(utterance.text[start : mark.start])
        start = mark.end
    yield bare_words(utterance.text[start:])


def bare_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in bare form; in scripts without spaces, each character is a word."""
    form = bare(text)
    return tuple(form[start:end] for start, end in tokens(form))


def _longest(words: Sequence[str], known: Collection[tuple[str, ...]]) -> int:
    return max((length for length in range(1, len(words) + 1) if tuple(words[:length]) in known), default=0)
