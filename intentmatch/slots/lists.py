"""Slots of kind "list": values and synonyms, as declared, with an inflectional ending, or mistyped.

Names are found anywhere as declared, ignoring accents. Endings ("Berlins", "İstanbuldan", "서울에서") may be as long as
is usual in the language. Typing mistakes are detected word by word by `text.typos`: the first letter must match, and
short words, numbers, words of the registry and common words are never corrected: "on" does not become "off", and
"speak" is no "steak". Such a word may be a name with another vowel at its end ("roja"), or in declining languages
another ending ("faktury").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from intentmatch.core.types import Slot
from intentmatch.languages.own import shipped_code
from intentmatch.languages.tables import Table
from intentmatch.slots.message import (
    AS_DECLARED,
    BUT_FOR_ACCENTS,
    MISTYPED,
    WITH_AN_ENDING,
    Message,
    Run,
    SlotHit,
    Start,
    initials,
)
from intentmatch.text.normalize import bare, base_language, fold
from intentmatch.text.scripts import kind, words
from intentmatch.text.typos import only_typos

# Their endings differ from the name by more letters than a typing mistake may.
_DECLINING_LANGUAGES = (
    "az ba be bs cs cv et eu fi hr hsb hu hy ka kk kn ko ky la lt lv ml mn mr myv pl ru sah sk sl sq sr ta te tk tr tt "
    "ug uk uz"
)
_DECLINING = frozenset(_DECLINING_LANGUAGES.split())
_LETTERS_FOR_AN_ENDING = 4
_LETTERS_FOR_A_CASE = 3
"""Letters of the shortest name that may have an ending of one letter in languages with cases ("Рим", "Риме")."""
_APOSTROPHES = ("'", "’")
_LONGEST_ENDING = 4
_LETTERS_OF_A_FORM = 5
"""Letters of the shortest name of which a common word may be a form: "faktury" of "faktura"."""
_VOWELS = frozenset("aeiou")
_ENDINGS = Table[Mapping[str, str]]("name_endings")
_LONGEST_STEM_CHANGE = 2
_MOST_MISTAKES_IN_A_WORD = 2


IsWord = Callable[[str], bool]
"""Tells whether a word, as it is typed, is a common word of any language."""


class Name(NamedTuple):
    """A value or synonym of a list slot."""

    value: str
    text: str
    language: str | None = None


def names_of(slot: Slot) -> Iterator[Name]:
    """Yield the values and synonyms of a slot."""
    for value in slot.values:
        yield Name(value.value, value.value)
        yield from (Name(value.value, synonym.text, synonym.language) for synonym in value.synonyms)


class ListFinder:
    """Finds names in messages, including mistyped ones if `known` is given.

    `known` holds words in bare form that are never read as mistyped names, and `is_word` tells of other words whether
    they are common ones, given as they are typed.
    """

    def __init__(
        self, names: Iterable[Name], known: Collection[str] | None = None, is_word: IsWord = lambda _: False
    ) -> None:
        self._is_word = is_word
        self._tolerant = known is not None
        self._names: dict[str, list[Name]] = {}
        self._inflected: dict[str, Mapping[str, str]] = {}
        """Names by their forms with endings of adjectives, by language."""
        self._adjectives: list[Name] = []
        for name in names:
            text = bare(name.text)
            self._names.setdefault(text, []).append(name._replace(text=fold(name.text)))
            if name.text.islower() and " " not in text:  # names of places and German nouns have a capital letter
                self._adjectives.append(name._replace(text=text))
        # The bare form of punctuation alone.
        self._names.pop("", None)
        self._lengths: dict[str, set[int]] = {}
        self._together: dict[str, str] = {}
        self._near: dict[str, list[str]] = {}
        for text in self._names:
            self._lengths.setdefault(text[0], set()).add(len(text))
            self._together.setdefault(text.replace(" ", ""), text)
            self._near.setdefault(initials(text), []).append(text)
        self._most_words = max((name.count(" ") + 1 for name in self._names), default=0)
        own = {name[start:end] for name in self._names for start, end in words(name)}
        self._own_words = frozenset(own)
        self._known = own.union(known or ())

    def find(self, message: Message) -> list[SlotHit]:
        """Return all occurrences of values, including overlapping ones."""
        written = [(start, end, message.bare[start:end]) for start, end in self._written(message)]
        hits = [self._hit(message, *place) for place in written]
        forms = self._forms(message)
        for start, end in message.words if forms else ():
            if name := forms.get(message.bare[start:end]):
                written.append((start, end, name))
                hits.append(self._hit(message, start, end, name, WITH_AN_ENDING))
        if self._tolerant:
            places = {place for start, end, _ in written for place in range(start, end)}
            hits += [self._hit(message, *place, MISTYPED) for place in self._mistyped(message, places)]
        return [hit for hit in hits if hit is not None]

    def _forms(self, message: Message) -> Mapping[str, str]:
        """Return the forms of adjectives in the language of a message, with their names.

        These are the synonyms of that language, or of a value without such ones its names of no language.
        """
        language = message.base_language
        if language not in self._inflected:
            endings = _ENDINGS.get(language, {})
            near = [name for name in self._adjectives if name.language is None or not _foreign(name.language, message)]
            own = {name.value for name in near if name.language}
            words = (name.text for name in near if name.language or name.value not in own)
            forms = {form: word for word in words for form in _inflected(word, endings)} if endings else {}
            self._inflected[language] = {form: word for form, word in forms.items() if form not in self._names}
        return self._inflected[language]

    def _written(self, message: Message) -> Iterator[tuple[int, int]]:
        text = message.bare
        for start in message.starts:
            for length in self._lengths.get(text[start.place], ()):
                end = start.place + length
                is_name = text[start.place : end] in self._names and _may_end(message, start, end)
                if is_name and not (length == 1 and _is_elided(message, start.place)):
                    yield start.place, end

    def _mistyped(self, message: Message, written: set[int]) -> Iterator[tuple[int, int, str]]:
        """Yield runs of words that differ from a name by a typing mistake, an ending or a space."""
        declining = declines(message.language)
        certain = self._own_words if declining else self._known
        # One word more than the longest name has: a space may be the mistake.
        for length in range(1, self._most_words + 2):
            for run in message.runs(length):
                if len(run.text) < _LETTERS_FOR_AN_ENDING or _named_already(run, message, written):
                    continue
                # Only the spaces differ, which no typing mistake of a letter explains.
                if (name := self._together.get(run.together, run.text)) != run.text:
                    yield run.start, run.end, name
                elif run.initials in self._near and run.text not in certain:
                    yield from ((run.start, run.end, name) for name in self._similar(run, message, declining))

    def _similar(self, run: Run, message: Message, declining: bool) -> Iterator[str]:
        """Yield names that differ from a run of words by typing mistakes or, in declining languages, by endings."""
        reach = len(run.initials) * (_LONGEST_ENDING if declining else _MOST_MISTAKES_IN_A_WORD)
        names = self._near[run.initials]
        for name, _, _ in process.extract(run.text, names, scorer=OSA.distance, score_cutoff=reach, limit=None):
            mistyped = only_typos(run.text, name, self._known) or (declining and self._declined(run.text, name))
            if mistyped and not self._is_another_word(run, name, message, declining):
                yield name

    def _declined(self, run: str, name: str) -> bool:
        pairs = zip(run.split(" "), name.split(" "), strict=True)
        return all(word == other or (word not in self._own_words and _same_stem(word, other)) for word, other in pairs)

    def _is_another_word(self, run: Run, name: str, message: Message, declining: bool) -> bool:
        """Return whether a word of a run is a known or common word that is no form of its word in the name."""
        start = run.start
        for word, other in zip(run.text.split(" "), name.split(" "), strict=False):
            end = start + len(word)
            if word != other and not _is_form(word, other, declining=declining):
                span = message.aligned.span(start, end)
                if word in self._known or (span is not None and self._is_word(message.text[slice(*span)])):
                    return True
            start = end + 1
        return False

    def _hit(self, message: Message, start: int, end: int, name: str, distance: int = AS_DECLARED) -> SlotHit | None:
        span = message.aligned.span(start, end)
        if span is None:
            return None
        folded = fold(message.text[slice(*span)])
        # Two values may have the same name in two languages, or but for an accent: that of the message's language
        # counts, then the exact one.
        best = min(self._names[name], key=lambda found: (_foreign(found.language, message), found.text != folded))
        exact = AS_DECLARED if best.text == folded else BUT_FOR_ACCENTS
        return SlotHit(*span, best.value, max(distance, exact if message.ends(end) else WITH_AN_ENDING))


def _is_elided(message: Message, place: int) -> bool:
    """Return whether a letter is a part of a contraction: "it's" has no size S, and "l'école" no size L."""
    span = message.aligned.span(place, place + 1)
    if span is None:
        return False
    before, behind = message.text[: span[0]][-2:], message.text[span[1] :][:2]
    is_behind = before[-1:] in _APOSTROPHES and before[:1].isalpha()
    return bool(is_behind or (behind[:1] in _APOSTROPHES and behind[1:].isalpha()))


def _inflected(name: str, endings: Mapping[str, str]) -> Iterator[str]:
    """Yield the forms of an adjective: of "groß" "großes", and of "rojo" "rojas"."""
    if len(name) >= _LETTERS_FOR_A_CASE:
        stem, last = (name[:-1], name[-1]) if name[-1] in endings else (name, "other")
        yield from (stem + ending for ending in endings.get(last, "").split())


def _named_already(run: Run, message: Message, written: set[int]) -> bool:
    """Return whether the first and the last word of a run both overlap names that are written as declared."""
    if not written:
        return False
    first_ends = message.bare.find(" ", run.start, run.end)
    first = range(run.start, run.end if first_ends < 0 else first_ends)
    last = range(message.bare.rfind(" ", run.start, run.end) + 1 or run.start, run.end)
    return not (written.isdisjoint(first) or written.isdisjoint(last))


def _foreign(language: str | None, message: Message) -> bool:
    return language is not None and (message.language is None or _first(language) != _first(message.language))


def declines(language: str | None) -> bool:
    """Return whether nouns of a language take endings that are longer than a typing mistake."""
    return language is not None and _first(language) in _DECLINING


def _first(language: str) -> str:
    return base_language(shipped_code(language))


def _may_end(message: Message, start: Start, end: int) -> bool:
    if message.ends(end):
        return True
    text = message.bare
    rest = end
    while rest < len(text) and kind(text[rest]) == kind(text[end]):
        rest += 1
    letters, ending = end - start.place, rest - end
    if kind(text[end - 1]) == "hangul":
        return letters > 1 and ending <= _LONGEST_ENDING
    if letters == _LETTERS_FOR_A_CASE and ending == 1 and declines(message.language) and not start.inside:
        return kind(text[end - 1]) == "letter"
    if letters < _LETTERS_FOR_AN_ENDING or kind(text[end - 1]) != "letter" or start.inside:
        return False
    return ending <= (min((letters + 1) // 2, _LONGEST_ENDING) if declines(message.language) else letters // 3)


def _is_form(word: str, name: str, *, declining: bool) -> bool:
    """Return whether a word is a name but for its last vowel or, in declining languages, for its ending."""
    if len(name) < _LETTERS_OF_A_FORM or word[: len(name) - 1] != name[:-1]:
        return False
    if declining:
        return len(name) <= len(word) <= len(name) - 1 + _LONGEST_ENDING
    return len(name) == len(word) and _VOWELS.issuperset((name[-1], word[-1]))


def _same_stem(word: str, name: str) -> bool:
    """Return whether two words share a stem and differ only by a possible ending."""
    stem = max(_LETTERS_FOR_AN_ENDING, len(name) - _LONGEST_STEM_CHANGE)
    return word[:stem] == name[:stem] and len(name) >= stem and len(word) - stem <= _LONGEST_ENDING
