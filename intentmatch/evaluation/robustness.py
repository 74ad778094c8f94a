"""Robustness: messages as people really type them, made from an author's own lines, and messages to refuse.

Eleven parts vary the in-scope messages of an evaluation: one and two typing mistakes, no accents, shorthand, negation,
and what people write around a request. Two parts are lists of messages that no intent should answer: noise, and
everyday talk.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.evaluation.metrics import share
from intentmatch.evaluation.noise import ALPHABETS, NOISE, noise_messages
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.variations import in_shorthand, with_typos, without_accents
from intentmatch.learning.near_duplicates import SAME_MEANING
from intentmatch.text.language_id import script
from intentmatch.text.normalize import clean, fold
from intentmatch.text.refusals import negated
from intentmatch.text.surroundings import WITH_PHRASES, Kind, read_surroundings

Name = Literal[
    "typos1",
    "typos2",
    "accents",
    "shorthand",
    "greeting",
    "signature",
    "both",
    "number",
    "marks",
    "tale",
    "negated",
    "noise",
    "everyday",
]

TITLES: Mapping[Name, str] = {
    "typos1": "one typing mistake",
    "typos2": "two typing mistakes",
    "accents": "without accents",
    "shorthand": "in shorthand",
    "greeting": "after a greeting",
    "signature": "before a signature",
    "both": "greeting and signature",
    "number": "with a number or code",
    "marks": "with punctuation or emoji",
    "tale": "beside another sentence",
    "negated": "negated",
    "noise": "noise",
    "everyday": "everyday talk",
}
"""The parts, in the order in which they are shown."""

MEANINGS: Mapping[Name, str] = {
    "typos1": "right intents",
    "typos2": "right intents",
    "accents": "right intents",
    "shorthand": "right intents",
    "greeting": "right intents",
    "signature": "right intents",
    "both": "right intents",
    "number": "right intents",
    "marks": "right intents",
    "tale": "right intents",
    "negated": "not matched, but asked about or refused",
    "noise": "refused",
    "everyday": "refused",
}
"""What the share of each part counts."""

SAMPLE = 300
"""Most messages of a part; a share of so many has a standard error of at most 2.9 points."""

_NOISE_OF_A_KIND = 30
# Scripts for which noise of made-up syllables exists.
_SYLLABIC = ("Latin", "Cyrillic", "Greek")
_LINES_READ = 2000
# A shorter line may be a greeting itself. Languages without spaces have long words.
_FEWEST_WORDS, _LETTERS_OF_A_WORD = 3, 5


class TriedVariation(NamedTuple):
    """The outcome of a message of one part."""

    outcome: Outcome
    """Its case has the message as it was tried. A negated message expects the intent of the original."""
    written: str = ""
    """The original message; empty for a message of a list."""
    right_before: bool | None = None
    """Whether the original message was answered right; None for a message of a list."""


class Variant(NamedTuple):
    """A message to try."""

    name: Name
    case: Case
    position: int | None = None
    """Position of the original message among those that were varied; None for a message of a list."""

    def trial(self, outcome: Outcome, original: Outcome | None = None) -> TriedVariation:
        """Return the outcome of this variant beside the outcome of the original message."""
        return (
            TriedVariation(outcome) if original is None else TriedVariation(outcome, original.case.text, original.right)
        )


Tried = tuple[Variant, TriedVariation]


@dataclass(frozen=True)
class RobustnessPart:
    """The trials of one kind of message."""

    name: Name
    trials: tuple[TriedVariation, ...]

    @cached_property
    def share(self) -> float | None:
        """Share of the messages that were answered right, see `MEANINGS`; None without messages."""
        return share([self.is_right(trial) for trial in self.trials])

    @cached_property
    def share_before(self) -> float | None:
        """Share of the same messages that were answered right before they were varied; None for lists."""
        return share([trial.right_before for trial in self.trials if trial.right_before is not None])

    def is_right(self, trial: TriedVariation) -> bool:
        """Whether the outcome of a trial is a right one in this part."""
        return trial.outcome.verdict != "matched" if self.name == "negated" else trial.outcome.right

    def worst(self) -> list[TriedVariation]:
        """Return the wrong trials: those first that were right before, and the surest mistake first."""
        wrong = [trial for trial in self.trials if not self.is_right(trial)]
        return sorted(wrong, key=_badness)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "share": self.share,
            "share_before": self.share_before,
            "messages": len(self.trials),
            "cases": [
                {**t.outcome.to_dict(), "written": t.written, "right_before": t.right_before} for t in self.trials
            ],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RobustnessPart:
        """Read the values that `to_dict` returned. Raises `ValueError` for an unknown name."""
        if values["name"] not in TITLES:
            raise ValueError(f"unknown part of robustness {values['name']!r}")
        trials = (TriedVariation(Outcome.from_dict(c), c["written"], c["right_before"]) for c in values["cases"])
        return cls(values["name"], tuple(trials))


LISTS: tuple[Name, ...] = ("everyday", "noise")
"""The parts whose messages no intent should answer."""


def accepted(part: RobustnessPart) -> list[TriedVariation]:
    """Return the trials of a list that were answered with an intent all the same, the surest first."""
    return [trial for trial in part.worst() if trial.outcome.verdict == "matched"]


def overall(parts: Iterable[RobustnessPart]) -> float | None:
    """Return the robustness: the plain mean of the shares of all parts that have messages; None without any."""
    shares = [part.share for part in parts if part.share is not None]
    return sum(shares) / len(shares) if shares else None


def variants(cases: Sequence[Case], registry: Registry, seed: int = 0) -> list[Variant]:
    """Vary messages that expect a single intent: for each part, a random sample of those that it changes.

    A variant that reads like a line of the registry is left out, because that line answers it. Shorthand, negation,
    greetings and other phrases depend on the language, so messages without one are not varied in these ways. Nothing is
    written around lines of one or two words.
    """
    lines = {fold(utterance.text) for utterance in registry.utterances}
    inside = [position for position, case in enumerate(cases) if isinstance(case.expected, str)]
    # One order for all parts: what is drawn for one is likely to be drawn for the others, so that shares compare.
    order = np.random.default_rng(seed).permutation(inside).tolist()
    found: list[Variant] = []
    for name, vary in _variations(seed).items():
        varied = ((position, vary(cases[position])) for position in order)
        changed = (pair for pair in varied if pair[1] and _is_new(pair[1], cases[pair[0]], lines))
        found += (
            Variant(name, replace(cases[position], text=text), position) for position, text in islice(changed, SAMPLE)
        )
    return found


def _is_new(text: str, case: Case, lines: Collection[str]) -> bool:
    """Whether a varied text reads unlike the message that it was made from, and unlike all lines of the registry."""
    key = fold(text)
    return key not in lines and key != fold(case.text)


def _variations(seed: int) -> Mapping[Name, Callable[[Case], str | None]]:
    def mistyped(case: Case, count: int) -> str:
        return with_typos(case.text, count, seed, keyboard=True)

    words = read_surroundings("measure")

    def surrounded(case: Case, kinds: Sequence[Kind]) -> str | None:
        if len(case.text.split()) < _FEWEST_WORDS and len(case.text) < _FEWEST_WORDS * _LETTERS_OF_A_WORD:
            return None
        # Seeded by the text: the same message gets the same phrase in each run, whatever else is evaluated.
        draw = random.Random(f"{seed} {case.text}".encode("utf-8", "surrogatepass"))  # noqa: S311 - no secret
        kind = draw.choice(kinds)
        if kind in WITH_PHRASES and (case.language is None or not words.has(case.language)):
            return None
        return words.add(kind, case.text, case.language or "", draw)

    return {
        "typos1": partial(mistyped, count=1),
        "typos2": partial(mistyped, count=2),
        "accents": lambda case: without_accents(case.text),
        "shorthand": lambda case: in_shorthand(case.text, case.language) if case.language else None,
        "greeting": partial(surrounded, kinds=("greeting",)),
        "signature": partial(surrounded, kinds=("signature",)),
        "both": partial(surrounded, kinds=("both",)),
        "number": partial(surrounded, kinds=("number",)),
        "marks": partial(surrounded, kinds=("punctuation", "markup", "emoji")),
        "tale": partial(surrounded, kinds=("tale",)),
        "negated": lambda case: negated(clean(case.text), case.language) if case.language else None,
    }


def unanswerable(registry: Registry, seed: int = 0) -> list[Variant]:
    """Return messages that no intent should answer: noise in the registry's scripts, and everyday talk.

    Everyday talk is in the registry's languages, or in all of the list if no line states its language. Left out is what
    reads like a line of the registry, or like a message that its `tests:` expect to be answered.
    """
    answered = {fold(utterance.text) for utterance in registry.utterances}
    answered |= {fold(case.text) for case in registry.tests if case.expected is not None}
    noise = [Case(text, None) for text in _noise(registry, seed)]
    lists: Mapping[Name, Iterable[Case]] = {
        "noise": noise,
        "everyday": everyday_messages(registry.languages or None),
    }
    return [Variant(name, case) for name, cases in lists.items() for case in cases if fold(case.text) not in answered]


def _noise(registry: Registry, seed: int) -> list[str]:
    """Return noise of every kind; random letters and syllables are in the scripts of the registry's lines."""
    scripts = _scripts(registry.utterances[i].text for i in _spread(len(registry.utterances)))
    found: list[str] = []
    for kind in NOISE:
        own = {"letters": scripts, "syllables": [name for name in scripts if name in _SYLLABIC]}.get(kind, ["Latin"])
        # Rounded up.
        each = -(-_NOISE_OF_A_KIND // max(len(own), 1))
        found += [text for name in own for text in noise_messages(kind, each, seed=seed, script=name)]
    return found


def _spread(count: int) -> range:
    return range(0, count, max(1, count // _LINES_READ))


def _scripts(texts: Iterable[str]) -> list[str]:
    """Return the scripts of texts for which random letters exist, in the order of the table."""
    used = {script(letter) for letter in set().union(*texts) if letter.isalpha()}
    return [name for name in ALPHABETS if name in used]


def collect(tried: Iterable[Tried]) -> tuple[RobustnessPart, ...]:
    """Sort trials into parts, in the order of `TITLES`.

    An everyday message that means the same as a line of the registry is in scope for this bot, and is left out.
    """
    trials: dict[Name, list[TriedVariation]] = {name: [] for name in TITLES}
    for variant, trial in tried:
        if variant.name != "everyday" or trial.outcome.score < SAME_MEANING:
            trials[variant.name].append(trial)
    return tuple(RobustnessPart(name, tuple(own)) for name, own in trials.items())


def _badness(trial: TriedVariation) -> tuple[bool, bool, float, str]:
    outcome = trial.outcome
    sure = outcome.score if outcome.confidence is None else outcome.confidence
    matched = outcome.verdict == "matched"
    return trial.right_before is False, not matched, -sure if matched else sure, outcome.case.text
