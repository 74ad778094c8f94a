"""Slots of kind "any": free text, located by the words around it in the utterances.

Each marked utterance ("remind me to [call mum] tomorrow") gives a frame: the words before and after the mark. The
frame that matches most letters of the message sets the span of the free text. Typing mistakes and extra words are
allowed. The message must contain the word next to the free text and two thirds of the letters on that side: the left
side, or the right side if the left one is empty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.core.types import Utterance
from intentmatch.slots.function_words import PARTICLES, elisions, function_words, leading_words, polite_phrases
from intentmatch.slots.message import Message, Token
from intentmatch.slots.neighbours import bare_words, sides
from intentmatch.text.normalize import bare, base_language
from intentmatch.text.typos import only_typos

_MOST_FRAMES = 100
"""Frames per slot; authors write a handful, and templates produce many similar ones."""
_MOST_WORDS = 6
"""Words per side of a frame."""
_REACH = 3 * _MOST_WORDS
"""Largest distance between neighbouring words of one side, in tokens."""
_MOST_TOKENS = 2000
"""Tokens of a message that frames are matched against; free text may extend beyond them."""
# The time for a frame grows with this: a message may repeat one word hundreds of times.
_MOST_PLACES = 20
"""Positions of a word in a message that are tried."""
_LONGEST_PREPOSITION, _MOST_PREPOSITIONS = 16, 4
"""Characters, and one more than the words, between the start of free text and an entity that is no part of it."""
_MOST_ORDINARY = 12
"""Words of free text that are compared with carriers and function words; longer text is always free."""
_SLOT_BONUS = 5
"""Bonus, in letters, if the neighbouring slot of the frame is next to the free text."""
_SENTENCE_MARKS = frozenset(" \t\r\n.,;:!?…。、，！？；：؟،؛۔।¿¡")
_QUOTES = ("“”", "„“", "«»", "»«", "‘’", "''", '""', "「」", "『』", "《》")


class Frame(NamedTuple):
    """Words and slots around the mark of a slot in an utterance."""

    left_slot: str | None = None
    """Slot of the previous mark, if any."""
    left: tuple[str, ...] = ()
    """Words between the previous mark, or the start, and the mark."""
    right: tuple[str, ...] = ()
    right_slot: str | None = None
    trims_manners: bool = True
    """Whether "please" and the like at the end of the message are no part of the free text."""

    @property
    def letters(self) -> int:
        """Number of letters of all its words."""
        return sum(map(len, (*self.left, *self.right)))


EVERYTHING = Frame(trims_manners=False)
"""Takes a whole message: an answer."""
EVERYTHING_BUT_MANNERS = Frame()
"""Takes an answer without "please", and without "to" and the like before it."""


def frames(slot: str, utterances: Iterable[Utterance]) -> list[Frame]:
    """Return the distinct frames of a slot in utterance order."""
    found: dict[Frame, None] = {}
    for utterance in utterances:
        slots = [None, *(mark.slot for mark in utterance.marks), None]
        for number, (name, before, after) in enumerate(sides(utterance)):
            if name == slot and len(found) < _MOST_FRAMES:
                left, right = bare_words(before)[-_MOST_WORDS:], bare_words(after)[:_MOST_WORDS]
                found.setdefault(Frame(slots[number], left, right, slots[number + 2]))
    return list(found)


def frames_by_language(slot: str, utterances: Collection[Utterance]) -> Mapping[str | None, list[Frame]]:
    """Return the frames of a slot for each language that marks it, with those of lines without a language.

    The key None has the frames of all lines: for a language of which no line marks the slot. Words of two languages
    may look alike: French "à" is no English "a".
    """
    marking = [line for line in utterances if any(mark.slot == slot for mark in line.marks)]
    languages = {base_language(line.language) for line in marking if line.language}
    by_language: dict[str | None, list[Frame]] = {None: frames(slot, marking)}
    for language in languages:
        own = [line for line in marking if not line.language or base_language(line.language) == language]
        by_language[language] = frames(slot, own)
    return by_language


class _Fit(NamedTuple):
    """A frame matched against a message."""

    matched: int
    """Letters found in the message, plus bonuses for slots."""
    missing: int
    """Letters not found."""
    start: int
    end: int
    frame: Frame

    @property
    def opens(self) -> bool:
        """Whether the frame has neither words nor a slot before the free text."""
        return not self.frame.left and self.frame.left_slot is None

    @property
    def closes(self) -> bool:
        """Whether the frame has neither words nor a slot behind the free text."""
        return not self.frame.right and self.frame.right_slot is None

    @property
    def is_answer(self) -> bool:
        """Whether the frame takes any message."""
        return self.opens and self.closes


def free_text(
    slot: str, among: Sequence[Frame], message: Message, others: Sequence[Entity], carriers: Collection[str] = ()
) -> Entity | None:
    """Return the free text of a slot, None if no frame matches; `others` are the entities found so far.

    `carriers` are the words of the intent's utterances outside of marks. Free text has a word that is neither one of
    these nor a function word; an answer to a question has one that is no function word.
    """
    places = _Places(message)
    functional = function_words(message.language)
    fits = [fit for frame in among if (fit := _fit(frame, message, places, others)) is not None]
    if any(fit.is_answer for fit in fits):
        fits = [fit for fit in fits if fit.is_answer or _begins_answer(fit, message, functional.union(carriers))]
    last_words = {frame.left[-1] for frame in among if frame.left}
    # Of frames with as many letters found, the one that lacks the fewest is nearer to what was said.
    for fit in sorted(fits, key=lambda fit: (-fit.matched, fit.missing)):
        ordinary = functional if fit.is_answer else functional.union(carriers)
        start, end = _cut(message, *_without_manners(message, fit, last_words), others)
        if not (fit.frame.left or fit.is_answer):
            anchor, first = _after_request(message, (start, end), ordinary, last_words)
            start, end = _cut(message, anchor or (first if fit.opens else start), end, others)
        # Behind words that call for free text, a value of another slot may be the free text: "remind me of [Friday]".
        covering = () if fit.frame.left else others
        if start < end and _says_something(message, start, end, covering, ordinary):
            text = message.text[start:end]
            return Entity(slot, text, text, start, end)
    return None


def _begins_answer(fit: _Fit, message: Message, ordinary: Collection[str]) -> bool:
    """Return whether nothing but words of the utterances stands before free text in an answer.

    "Deliver it to 21 Hill Road" is 21 Hill Road, but "12 Hill Road, to the left" is no address on the left.
    """
    return all(
        token.bare in ordinary or token.bare in fit.frame.left for token in message.tokens if token.end <= fit.start
    )


def _says_something(
    message: Message, start: int, end: int, others: Sequence[Entity], ordinary: Collection[str]
) -> bool:
    """Return whether a span has a word that is not ordinary and that no other entity covers."""
    tokens = [token for token in message.tokens_after(start, _MOST_ORDINARY) if token.start < end]
    inside = [entity for entity in others if entity.start < end and start < entity.end]
    free = [one for one in tokens if not any(it.start <= one.start and one.end <= it.end for it in inside)]
    return len(tokens) in (0, _MOST_ORDINARY) or any(token.bare not in ordinary for token in free)


def _after_request(
    message: Message, span: tuple[int, int], ordinary: Collection[str], last_words: Collection[str]
) -> tuple[int | None, int]:
    """Return two places where free text may begin after a request like "I want a pizza to".

    The first one is behind the last ordinary word of the request that stands before the free text in a frame, None
    without such a word. The second one is behind all ordinary words of the request.
    """
    anchor, place = None, span[0]
    for token in message.tokens_after(span[0], _MOST_ORDINARY):
        if token.start >= span[1] or token.bare not in ordinary:
            break
        place = token.end
        if token.bare in last_words:
            anchor = place
    return anchor, place


def _without_manners(message: Message, fit: _Fit, last_words: Collection[str]) -> tuple[int, int]:
    """Trim "please" and the like at the end of the message, and "to" and the like at the start of an answer."""
    start, end = trimmed(message.text, fit.start, fit.end)
    if fit.end == len(message.text) and fit.frame.trims_manners:
        length = len(message.bare)
        phrase = next(filter(message.bare.endswith, polite_phrases(message.language)), "")
        found = message.aligned.span(length - len(phrase), length)
        if found and start < found[0] < end and message.begins(length - len(phrase)):
            start, end = trimmed(message.text, start, found[0])
    if fit.is_answer and fit.frame.trims_manners:
        tokens = message.tokens_after(start, 2)
        leading = leading_words(message.language)
        if len(tokens) == 2 and tokens[0].bare in leading and tokens[0].bare in last_words:
            start, end = trimmed(message.text, tokens[0].end, end)
    return start, end


class _Places:
    """Positions of words in a message, tolerating typing mistakes."""

    def __init__(self, message: Message) -> None:
        longer = elisions(message.language)
        self.tokens = _without_elisions(message, longer) if longer else message.tokens[:_MOST_TOKENS]
        self._alike: dict[str, list[str]] = {}
        self._where: dict[str, list[int]] = {}
        self._known: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            for word in (token.bare, *(longer.get(token.bare, ()) if message.text[token.end - 1] in "'’" else ())):
                if word not in self._where:
                    self._alike.setdefault(word[0], []).append(word)
                self._where.setdefault(word, []).append(place)

    def positions(self, word: str) -> list[int]:
        """Return the token positions of a word, sorted."""
        if word not in self._known:
            alike = [token for token in self._alike.get(word[0], ()) if token == word or only_typos(token, word)]
            self._known[word] = sorted(place for token in alike for place in self._where[token])
        return self._known[word]


def _without_elisions(message: Message, longer: Collection[str]) -> list[Token]:
    """Return the words of a message with "d'acheter" as two words."""
    tokens: list[Token] = []
    for token in message.tokens[:_MOST_TOKENS]:
        first, apostrophe, rest = message.text[token.start : token.end].replace("’", "'").partition("'")
        short = bare(first)
        if apostrophe and short in longer and bare(rest):
            middle = token.start + len(first) + 1
            tokens += [Token(short, token.start, middle), Token(bare(rest), middle, token.end)]
        else:
            tokens.append(token)
    return tokens


class _Anchor(NamedTuple):
    """Match of one side of a frame."""

    letters: int
    """Letters of the words found."""
    place: int
    """Position of the word next to the free text."""


def _fit(frame: Frame, message: Message, places: _Places, others: Sequence[Entity]) -> _Fit | None:
    """Match a frame against a message; return None if too few of its words are there."""
    start, first, slots = 0, 0, 0
    left = right = None
    if frame.left:
        left = _anchor(frame.left[::-1], places, 0, -1)
        if left is None:
            return None
        start, first = places.tokens[left.place].end, left.place + 1
    elif frame.left_slot:
        start = next((entity.end for entity in others if entity.slot == frame.left_slot), -1)
        first, slots = sum(token.start < start for token in places.tokens), 1
    end = len(message.text)
    if frame.right:
        right = _anchor(frame.right, places, first, 1, last=frame.right_slot is None)
        end = places.tokens[right.place].start if right else end
    elif frame.right_slot:
        after = [entity.start for entity in others if entity.slot == frame.right_slot and entity.start >= start]
        end, slots = (after[0], slots + 1) if after else (end, slots)
    first_side, anchor = (frame.left, left) if frame.left else (frame.right, right)
    # The slot before has no value, or less than two thirds of the letters that stand beside the free text are there.
    if start < 0 or 3 * (anchor.letters if anchor else 0) < 2 * sum(map(len, first_side)):
        return None
    letters = sum(side.letters for side in (left, right) if side)
    return _Fit(letters + slots * _SLOT_BONUS, frame.letters - letters, start, end, frame)


def _anchor(words: Sequence[str], places: _Places, first: int, step: int, *, last: bool = False) -> _Anchor | None:
    """Find the position of `words[0]`, from `first` on, with the most letters of the other words around it.

    `words[0]` is next to the free text; the other words follow in the direction of `step`. Among equal positions the
    first one is returned, or the last one with `last`.
    """
    best: _Anchor | None = None
    possible = [place for place in places.positions(words[0]) if place >= first]
    for place in (possible[::-1] if last else possible)[:_MOST_PLACES]:
        letters = len(words[0]) + _following(words[1:], places, place, step)
        if best is None or letters > best.letters:
            best = _Anchor(letters, place)
    return best


def _following(words: Iterable[str], places: _Places, place: int, step: int) -> int:
    """Count the letters of the words that follow a position in order, each within `_REACH` of the previous one."""
    letters = 0
    for word in words:
        possible = places.positions(word)
        number = bisect_right(possible, place) if step > 0 else bisect_left(possible, place) - 1
        if 0 <= number < len(possible) and abs(possible[number] - place) <= _REACH:
            place = possible[number]
            letters += len(word)
    return letters


def _cut(message: Message, start: int, end: int, others: Sequence[Entity]) -> tuple[int, int]:
    """Trim punctuation and quotes, and entities at the edges that are the only ones of their slots."""
    elsewhere = {entity.slot for entity in others if entity.end <= start or entity.start >= end}
    own = [entity for entity in others if entity.slot not in elsewhere]
    start, end = trimmed(message.text, start, end)
    for entity in (*own, *reversed(own)):
        if entity.start <= start and end <= entity.end:
            return start, start
        if _begins(message, start, entity):
            start, end = trimmed(message.text, entity.end, end)
        elif start < entity.start < end <= entity.end:
            start, end = _before(message, start, entity)
    behind, _ = trimmed(message.text, end, len(message.text))
    end = next((_before(message, start, one)[1] for one in others if one.start == behind), end)
    if text_between := message.text[start:end]:
        quoted = len(text_between) > 2 and text_between[0] + text_between[-1] in _QUOTES
        return message.aligned.widened(start + quoted, end - quoted)
    return start, end


def _begins(message: Message, start: int, entity: Entity) -> bool:
    """Return whether an entity stands at a position, apart from its prepositions ("at [8]")."""
    if entity.start <= start < entity.end:
        return True
    if entity.start < start or entity.start - start > _LONGEST_PREPOSITION:
        return False
    between = [token.bare for token in message.tokens_after(start, _MOST_PREPOSITIONS) if token.start < entity.start]
    return 0 < len(between) < _MOST_PREPOSITIONS and function_words(message.language).issuperset(between)


def _before(message: Message, start: int, entity: Entity) -> tuple[int, int]:
    """Return the span from `start` to an entity, without the prepositions of the entity ("at [8]")."""
    functional = function_words(message.language) - (PARTICLES if entity.text[:1].islower() else frozenset())
    end = entity.start
    # "At the" before a value; more words than two belong to the free text.
    for token in reversed(message.tokens_before(end, 2)):
        if token.start < start or token.bare not in functional:
            break
        end = token.start
    return trimmed(message.text, start, end)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span of a text without white space and sentence marks at its ends."""
    while start < end and text[start] in _SENTENCE_MARKS:
        start += 1
    while start < end and text[end - 1] in _SENTENCE_MARKS:
        end -= 1
    return start, end
