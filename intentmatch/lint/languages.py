"""The languages of a registry: what is written in another than it says, and what is missing where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.core.types import Registry
from intentmatch.lint.catalogue import problem
from intentmatch.lint.subject import Subject
from intentmatch.text.language_id import SMOOTHING, pairs, script
from intentmatch.text.normalize import language_range

# Both must speak for the other language: its pairs of characters by odds of three thousand to one, and its words, two
# more of which are known from it than from the declared one. On the 2,992 shipped lines in 15 languages that gives no
# false alarm, and finds two in three of lines whose language was changed at random.
_ODDS = 8.0
_WORDS = 2
# A word is known from so many lines, lest one line under the wrong language make others look wrong.
_KNOWN_FROM = 2
# What a language is written in is known from so many other lines of it.
_FEWEST_LINES = 3
# Japanese mixes these in one word.
_ONE_SCRIPT = {"Hiragana": "Han", "Katakana": "Han"}


def coverage(registry: Registry) -> dict[str, dict[str, int]]:
    """Intent to language to how many lines it has in it; "" stands for those that declare none."""
    codes = [*registry.languages, *([""] if any(not line.language for line in registry.utterances) else [])]
    counts = Counter(
        (owner, registry.utterances[row].language or "")
        for row, (owner, line) in enumerate(zip(registry.owners, registry.lines, strict=True))
        if row == line
    )
    return {intent.name: {code: counts[number, code] for code in codes} for number, intent in enumerate(registry)}


def missing_language(subject: Subject) -> Iterator[Problem]:
    """What most intents have in a language, the rest should have too: its speakers cannot know which those are."""
    written = [{line.language for line in intent.utterances} for intent in subject.registry]
    common = {code for code in subject.registry.languages if sum(code in codes for codes in written) * 2 > len(written)}
    for intent, codes in zip(subject.registry, written, strict=True):
        # An intent that declares no language speaks for all of them.
        missing = sorted(common - {code or "" for code in codes})
        if missing and None not in codes and codes:
            message = f"{intent.name!r} has no utterances in {', '.join(missing)}; most intents have"
            hint = f"list some below `utterances:` with the key `{missing[0]}`"
            yield problem(intent.location or NOWHERE, "missing-language", message, hint)


def other_language(subject: Subject) -> Iterator[Problem]:
    """An utterance below the wrong language code teaches the wrong language."""
    if len(subject.registry.languages) < 2:
        return
    evidence = _Evidence(subject)
    for row, line in enumerate(subject.lines):
        if line.language and (other := evidence.other(row)) is not None:
            message = f"“{line.text}” reads like {other}, and stands under {line.language}"
            hint = f"move it to `{other}`, or write `# lint: ignore other-language` behind it"
            yield problem(subject.place(row), "other-language", message, hint)


class _Line(NamedTuple):
    """One line as its language shows in it."""

    language: str
    pairs: list[int]
    """Each pair of neighbouring characters, by number."""
    words: frozenset[str]
    scripts: frozenset[str]


class _Evidence:
    """How often each language of a registry uses each pair of characters, word and script."""

    def __init__(self, subject: Subject) -> None:
        self._codes = list(subject.registry.languages)
        numbers: dict[str, int] = {}
        self._lines = [
            _Line(
                line.language or "",
                [numbers.setdefault(pair, len(numbers)) for pair in pairs(text)] if text else [],
                frozenset(text.split()),
                _scripts(text),
            )
            for line, text in zip(subject.lines, subject.folded, strict=True)
        ]
        self._pairs = np.zeros((len(numbers), len(self._codes)))
        self._sizes = Counter(line.language for line in self._lines)
        self._words: Counter[tuple[str, str]] = Counter()
        self._scripts: Counter[tuple[str, str]] = Counter()
        for line in self._lines:
            if line.language:
                np.add.at(self._pairs[:, self._codes.index(line.language)], line.pairs, 1.0)
                self._words.update((line.language, word) for word in line.words)
                self._scripts.update((line.language, name) for name in line.scripts)
        self._totals = self._pairs.sum(axis=0)

    def other(self, row: int) -> str | None:
        """The language that a line with a language is in rather than its own; None where that is in doubt."""
        line = self._lines[row]
        odds = self._odds(line)
        if not odds:
            return None
        other = max(odds, key=lambda code: odds[code])
        if odds[other] <= 0.0:
            return None
        theirs = sum(self._words[other, word] >= _KNOWN_FROM for word in line.words)
        own = sum(self._words[line.language, word] > 1 for word in line.words)
        by_words = theirs - own >= _WORDS
        return other if (odds[other] > _ODDS and by_words) or self._foreign_script(line, other) else None

    def _odds(self, line: _Line) -> Mapping[str, float]:
        """The log of how much likelier than the declared language each other one is, that line being left out.

        A region is no other language: `pt-BR` is not held against `pt`.
        """
        own = self._codes.index(line.language)
        first = language_range(line.language)[-1]
        others = {number: code for number, code in enumerate(self._codes) if language_range(code)[-1] != first}
        if not line.pairs or not others:
            return {}
        repeated = Counter(line.pairs)
        counts, totals = self._pairs[line.pairs], self._totals.copy()
        counts[:, own] -= [repeated[pair] for pair in line.pairs]
        totals[own] -= len(line.pairs)
        chances = np.log((counts + SMOOTHING) / (totals + SMOOTHING * len(self._pairs))).sum(axis=0)
        return {code: float(chances[number] - chances[own]) for number, code in others.items()}

    def _foreign_script(self, line: _Line, other: str) -> bool:
        """Whether a line is in a script that no other line of its language has, and that the other language has."""
        return (
            self._sizes[line.language] > _FEWEST_LINES
            and bool(line.scripts)
            and all(self._scripts[line.language, name] == 1 for name in line.scripts)
            and any(self._scripts[other, name] for name in line.scripts)
        )


def _scripts(text: str) -> frozenset[str]:
    names = (script(letter) for letter in text if letter.isalpha())
    return frozenset(_ONE_SCRIPT.get(name, name) for name in names)
