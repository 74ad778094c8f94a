"""Keep proposed lines that are new, and that the registry without them already takes for their own intent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intentmatch.authoring.growing.form import flaw_of
from intentmatch.authoring.growing.tasks import Task
from intentmatch.authoring.growing.word_support import WordSupport
from intentmatch.core.result import MatchResult
from intentmatch.encoders.encode import encode_all
from intentmatch.lint.subject import Subject, ordered
from intentmatch.matching.matcher import Matcher
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean, fold
from intentmatch.text.typos import only_typos

# Confidence in its own intent that a line needs, and support of its words; less where the intent has no line in this
# language, as words in two languages are less near than their meanings. Chosen on the lines planted for a library in
# tests/authoring/growing. A description has few of the words that users say: with 0.4, registries of 6 and 20
# descriptions (clinc150, massive) keep 63% of the training rows of their own intent and 0.6% of those of others; with
# 0.6, 24% and none.
_LEAST, _LEAST_SUPPORT, _LEAST_ACROSS_LANGUAGES, _LEAST_OF_A_DESCRIPTION = 0.7, 0.72, 0.6, 0.4


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line that a chat model wrote for a task."""

    task: Task
    text: str
    confidence: float | None = None
    """Confidence of the registry without the line that it belongs to its intent; None if that is not calibrated."""
    refused: str | None = None
    """Why the line is left out, in words; None if it is kept."""


class LineFilter:
    """Filters lines for one registry. A kept line counts as a line of the registry when the next ones are compared."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        registry = ordered(matcher.registry)
        texts = [clean(line.text) for line in registry.utterances]
        self._encoder, self._cache = matcher.encoder, VectorCache.at(matcher.settings.cache)
        vectors = encode_all(self._encoder, texts, "utterance", self._cache)
        subject = Subject(registry, vectors, matcher.settings.aggregation)
        self._support = WordSupport(matcher.registry)
        # Measured on the lines of the author, before any proposed line is added.
        self._nearly = subject.near_distance if texts else float("nan")
        self._vectors: list[NDArray[np.float32]] = list(vectors)
        self._lines = [
            (line.text, line.language, registry.intents[owner].name)
            for line, owner in zip(registry.utterances, registry.owners, strict=True)
        ]
        self._registry_lines = len(self._lines)
        self._taken = {fold(text): f"“{text}” of {name}" for text, _, name in self._lines}
        self._taken |= {
            fold(negative.text): f"“{negative.text}”, which is no line of {intent.name}"
            for intent in matcher.registry
            for negative in intent.all_negatives
        }
        self._taken |= {fold(case.text): f"the test “{case.text}”" for case in matcher.registry.tests}

    def filtered(self, task: Task, lines: Sequence[str]) -> list[Proposal]:
        """Return a proposal for each line, kept or refused, in the same order.

        A line is kept if it could be a message by its form and language, if it is not a line, a negative or a test of
        the registry or nearly one, and if the registry takes it for `task.intent` before any other: with a confidence
        of at least 0.7, or without calibration if it is in scope. Its words must be near those of the intent too.
        """
        flaws = [flaw_of(line, task.language) for line in lines]
        sound = [line for line, flaw in zip(lines, flaws, strict=True) if flaw is None]
        when = self._matcher.registry[task.intent].when
        results = iter(self._matcher.match_many(sound, language=None, top_k=2, context=when))
        vectors = iter(encode_all(self._encoder, [clean(line) for line in sound], "utterance", self._cache))
        found = []
        for line, flaw in zip(lines, flaws, strict=True):
            if flaw is not None:
                found.append(Proposal(task, line, refused=flaw))
                continue
            result, vector = next(results), next(vectors)
            reason = self._known(line, vector, task) or _unclaimed(result, task.intent) or self._unsupported(line, task)
            confidence = result.candidates[0].confidence if result.candidates and reason is None else None
            found.append(Proposal(task, line, confidence, reason))
            if reason is None:
                self._lines.append((line, task.language, task.intent))
                self._vectors.append(vector)
                self._taken[fold(line)] = f"“{line}”, proposed before"
        return found

    def forget(self, kept: Iterable[Proposal]) -> None:
        """Compare the next lines no more with lines that this filter kept and something else refused."""
        for one in kept:
            # Behind the lines of the registry: one of these may have the same text.
            place = self._lines.index((one.text, one.task.language, one.task.intent), self._registry_lines)
            del self._lines[place], self._vectors[place], self._taken[fold(one.text)]

    def _unsupported(self, line: str, task: Task) -> str | None:
        """Return that the words of a line are foreign to its intent, in words; None if they are not."""
        support = self._support.of(line, task.intent)
        known = {line.language for line in self._matcher.registry[task.intent].utterances}
        if not known:
            least = _LEAST_OF_A_DESCRIPTION
        else:
            least = _LEAST_SUPPORT if task.language in known else _LEAST_ACROSS_LANGUAGES
        return None if support >= least else f"no line of {task.intent} has words like its own ({support:.0%})"

    def _known(self, line: str, vector: NDArray[np.float32], task: Task) -> str | None:
        """Return which line is the same or nearly so, in words."""
        key = fold(line)
        if key in self._taken:
            return f"it is the same as {self._taken[key]}"
        # In one language: a line may be the same in two that are related.
        for text, language, name in self._lines:
            if language == task.language and only_typos(key, fold(text)):
                return f"it differs only by spelling from “{text}” of {name}"
        # The encoder knows no word of the line, or every line of the registry is alone.
        if not vector.any() or not np.isfinite(self._nearly):
            return None
        cosines = np.asarray(self._vectors) @ vector
        near = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0)) < self._nearly
        for row in np.argsort(-cosines):
            text, language, name = self._lines[row]
            if not near[row]:
                break
            if language == task.language:
                return f"it is nearly the same as “{text}” of {name}"
        return None


def _unclaimed(result: MatchResult, intent: str) -> str | None:
    """Return why an intent does not claim a line, in words; None if it does."""
    if not result.candidates:
        return "no intent claims it"
    first = result.candidates[0]
    if first.intent != intent:
        return f"{first.intent} claims it ({first.measured})"
    # Without calibration there is no confidence, and the verdict decides.
    if first.confidence is None:
        return f"{intent} does not claim it ({first.measured})" if result.verdict == "out_of_scope" else None
    return None if first.confidence >= _LEAST else f"{intent} does not claim it ({first.measured})"
