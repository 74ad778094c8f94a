"""Match utterances with other values of their slots: "look up QXZ-4821" equals "look up ABC-1234" but for the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.core.types import Registry, Slot, SlotValue
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.spelling import SpellingHit
from intentmatch.slots.free import trimmed
from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message, Token
from intentmatch.slots.neighbours import bare_words, fixed_words

_MOST_TOKENS = 60
"""Tokens of a message that is compared; a longer one is no utterance with another value."""
_MORE_TOKENS = 1
"""How many words more than a name of a list a mistyped name may have: one that is typed as two."""
_MOST_READ = 20
"""Values of a message that are read for one frame."""

Fill = Callable[[str, str, Sequence[str], ResolvedOptions], tuple[Entity, ...]]
"""Returns the values of an intent's slots in an answer; see `SlotReader.fill`."""


class _Frame(NamedTuple):
    """An utterance without the values of its slots."""

    row: int
    intent: int
    words: tuple[tuple[str, ...], ...]
    """Bare words before, between and behind the values."""
    slots: tuple[str, ...]
    is_free: bool
    """Whether one of the slots takes any text."""

    @property
    def size(self) -> int:
        """Number of words."""
        return sum(map(len, self.words))

    def surrounds(self, words: Sequence[str]) -> bool:
        """Return whether a message begins and ends with the words of the frame."""
        first, last = self.words[0], self.words[-1]
        return words[: len(first)] == first and words[len(words) - len(last) :] == last

    @property
    def fixed(self) -> frozenset[str]:
        """All words."""
        return frozenset(word for part in self.words for word in part)


class OtherValues:
    """Finds the utterances that equal a message but for the values of their slots. Safe to use from many threads."""

    def __init__(self, registry: Registry, fill: Fill) -> None:
        self._intents, self._own_languages = registry.intents, registry.own_languages
        self._slots = [{slot.name: slot for slot in intent.slots} for intent in registry.intents]
        lists = {slot.values for own in self._slots for slot in own.values() if slot.kind == "list"}
        self._names = {values: _names(values) for values in lists}
        self._fill = fill
        frames = list(_frames(registry))
        counts = Counter(word for frame in frames for word in frame.fixed)
        self._by_word: dict[str, list[_Frame]] = {}
        """Frames by their rarest word; "" for those without words."""
        self._alone: dict[str, list[_Frame]] = {}
        """Frames that are the value of a list alone, by its names."""
        for frame in frames:
            slot = self._slots[frame.intent][frame.slots[0]]
            if slot.kind == "list" and not frame.size:
                for name in self._names[slot.values][0]:
                    self._alone.setdefault(name, []).append(frame)
            else:
                rarest = min(frame.fixed, key=lambda word: (counts[word], word), default="")
                self._by_word.setdefault(rarest, []).append(frame)

    def hits(self, text: str, options: ResolvedOptions, *, free: bool = False) -> Mapping[int, SpellingHit]:
        """Return the first utterance of each intent that equals a cleaned message but for the values of its slots.

        Only utterances with most words in common count. `free` chooses those where one of the slots takes any text.
        """
        words = bare_words(text)
        if len(words) > _MOST_TOKENS:
            return {}
        known = {*words, ""}
        near = [
            frame
            for word in known
            for frame in self._by_word.get(word, ())
            if frame.is_free is free and known.issuperset(frame.fixed) and frame.surrounds(words)
        ]
        if not free:
            near += self._alone.get(" ".join(words), ())
        if not near:
            return {}
        message = Message(text, self._own_languages.code(options.language), options.now)
        found: dict[int, SpellingHit] = {}
        most = 0
        for frame in sorted(near, key=lambda frame: (-frame.size, frame.row)):
            if frame.size < most:
                break
            if _may_answer(frame, options) and frame.intent not in found and self._fits(frame, message, options):
                found[frame.intent] = SpellingHit(frame.row, 1.0)
                most = frame.size
        return found

    def _fits(self, frame: _Frame, message: Message, options: ResolvedOptions) -> bool:
        """Return whether a message has the words of a frame and values of its slots between them, nothing else."""
        slots = [self._slots[frame.intent][slot] for slot in frame.slots]
        return any(
            all(self._is_value(message, gap, slot, frame, options) for gap, slot in zip(gaps, slots, strict=True))
            # Where a message repeats words of the frame, the number of ways grows as a power of its length.
            for gaps in islice(_gaps(frame.words, message.tokens), _MOST_READ)
        )

    def _is_value(self, message: Message, gap: slice, slot: Slot, frame: _Frame, options: ResolvedOptions) -> bool:
        """Return whether the tokens of a gap are a value of a slot, function words aside: "the 24th"."""
        ordinary = function_words(message.language)
        inside = message.tokens[gap]
        tokens = [token for token in inside if token.bare not in ordinary]
        if slot.kind == "any":
            return len(tokens) > 0
        if slot.kind == "list":
            names, longest = self._names[slot.values]
            if any(" ".join(token.bare for token in some) in names for some in (inside, tokens)):
                return True
            if len(tokens) > longest:
                return False
        start, end = _around(message, gap)
        # Frames of many intents ask about the same kind of slot at the same place, and reading it takes most of the
        # time.
        known: dict[object, bool] = message.memo.setdefault(OtherValues, [{}])[0]
        key = slot.kind, slot.values, slot.patterns, start, end
        if key not in known:
            found = self._fill(message.text[start:end], self._intents[frame.intent].name, [slot.name], options)
            known[key] = any(
                all(one.start <= token.start - start and token.end - start <= one.end for token in tokens)
                for one in found
            )
        return known[key]


def _around(message: Message, gap: slice) -> tuple[int, int]:
    """Return the span between the tokens beside a gap, without white space and sentence marks: "$20" with its sign."""
    tokens = message.tokens
    first = tokens[gap.start - 1].end if gap.start else 0
    last = tokens[gap.stop].start if gap.stop < len(tokens) else len(message.text)
    return trimmed(message.text, first, last)


def _names(values: tuple[SlotValue, ...]) -> tuple[frozenset[str], int]:
    """Return the names of a list in bare words, and the most words that one of them may have in a message."""
    names = [bare_words(text) for value in values for text in (value.value, *(one.text for one in value.synonyms))]
    return frozenset(map(" ".join, names)), _MORE_TOKENS + max(map(len, names))


def _may_answer(frame: _Frame, options: ResolvedOptions) -> bool:
    allowed = options.allowed is None or frame.intent in options.allowed
    return allowed and frame.row not in options.hidden


def _frames(registry: Registry) -> Iterator[_Frame]:
    seen: set[tuple[int, tuple[tuple[str, ...], ...], tuple[str, ...]]] = set()
    free = [{slot.name for slot in intent.slots if slot.kind == "any"} for intent in registry.intents]
    declared = [{slot.name for slot in intent.slots} for intent in registry.intents]
    for row, (utterance, intent) in enumerate(zip(registry.utterances, registry.owners, strict=True)):
        # A file that somebody made by hand may mark values of a slot that the intent lacks.
        if not utterance.marks or not declared[intent].issuperset(mark.slot for mark in utterance.marks):
            continue
        words = tuple(fixed_words(utterance))
        slots = tuple(mark.slot for mark in utterance.marks)
        # Sentences of a template differ in values alone, and make one frame.
        key = intent, words, slots
        language = registry.own_languages.code(utterance.language or registry.first_language)
        if key in seen or not _says_enough(words, slots, free[intent], language):
            continue
        seen.add(key)
        yield _Frame(row, intent, words, slots, not free[intent].isdisjoint(slots))


def _says_enough(words: Iterable[Sequence[str]], slots: Sequence[str], free: set[str], language: str | None) -> bool:
    """Return whether an utterance says without its values which request it is.

    "Call {who}" does, but "a {what}" does not if anything may be `what`, nor does "{what} {where}".
    """
    if not any(words) and len(slots) > 1:
        return False
    if free.isdisjoint(slots):
        return True
    common = function_words(language)
    return any(word not in common for part in words for word in part)


def _gaps(words: Sequence[Sequence[str]], tokens: Sequence[Token]) -> Iterator[list[slice]]:
    """Yield the places of the values if the words stand around them, in order, and nothing else is there."""
    first, *others = words
    if tuple(token.bare for token in tokens[: len(first)]) == tuple(first):
        yield from _behind(others, tokens, len(first))


def _behind(words: Sequence[Sequence[str]], tokens: Sequence[Token], start: int) -> Iterator[list[slice]]:
    """Yield the places of the values from a token on, before each of these groups of words."""
    if not words:
        if start == len(tokens):
            yield []
        return
    part, *others = words
    last = len(tokens) - len(part)
    for place in range(start + 1, last + 1) if others else range(max(last, start + 1), last + 1):
        if all(token.bare == word for token, word in zip(tokens[place:], part, strict=False)):
            for more in _behind(others, tokens, place + len(part)):
                yield [slice(start, place), *more]
