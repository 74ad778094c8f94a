"""Draw the batches of contrastive training: two utterances from each of several intents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.adaptation.recipe import EncoderRecipe
from intentmatch.core.types import Registry, Vectors
from intentmatch.text.normalize import clean, fold

_OTHER_LANGUAGE = 0.5
"""Chance that the second utterance of an intent is drawn from another language than the first."""


class Batch(NamedTuple):
    """Texts of one training step."""

    messages: list[str]
    """One utterance per intent."""
    utterances: list[str]
    """Another utterance of the same intents, in the same order."""
    owners: list[int]
    """Positions of these intents in the registry."""
    negatives: list[tuple[int, str]]
    """Positions of intents in this batch, each with one of its `not:` lines."""
    anchors: list[int]
    """Positions of texts whose vectors shall stay where they are."""


class _Line(NamedTuple):
    """The sentences that one line of an author expands to."""

    texts: list[str]
    language: str | None


class Batches:
    """All batches of a training. Each step has its own random numbers, so a training can continue anywhere.

    `centres` are the mean vectors of the intents, shape `(intents, dim)`, which tell the near ones. With `titles`, the
    title or name of an intent is one more utterance. Intents that share an utterance never meet in a batch, because
    they would pull it both ways: `apart` are for each intent the others of that kind.
    """

    def __init__(
        self, registry: Registry, centres: Vectors, recipe: EncoderRecipe, *, titles: bool = False, anchors: int = 0
    ) -> None:
        self._recipe, self._anchors = recipe, anchors
        self._lines = _lines_by_intent(registry, titles)
        self._negatives = [[clean(line.text) for line in intent.all_negatives] for intent in registry]
        self.apart = _sharing(self._lines)
        # A pair needs two different lines; two sentences of one template teach nothing.
        self._usable = np.array([owner for owner, lines in enumerate(self._lines) if len(lines) > 1], dtype=np.int64)
        similar = centres[self._usable] @ centres[self._usable].T
        np.fill_diagonal(similar, -np.inf)
        self._nearest: NDArray[np.int64] = self._usable[np.argsort(-similar, axis=1, kind="stable")]
        self._row = {int(owner): row for row, owner in enumerate(self._usable)}

    @property
    def intents(self) -> int:
        """Number of intents with two utterances or more; training needs two of them."""
        return len(self._usable)

    @property
    def texts(self) -> int:
        """Number of different lines that are drawn from."""
        return sum(len(self._lines[owner]) for owner in self._usable)

    def draw(self, step: int) -> Batch:
        """Return the batch of a step; the same one whenever it is asked for."""
        recipe = self._recipe
        # By step, and not one generator for all: a training that is continued draws as if it had never stopped.
        random = np.random.default_rng((recipe.seed, step))
        owners = self._owners(random)
        pairs = [self._pair(owner, random) for owner in owners]
        against = [position for position, owner in enumerate(owners) if self._negatives[owner]]
        chosen = random.permutation(len(against))[: recipe.negatives]
        return Batch(
            [first for first, _ in pairs],
            [second for _, second in pairs],
            owners,
            [(against[one], _any(self._negatives[owners[against[one]]], random)) for one in sorted(chosen.tolist())],
            random.integers(self._anchors, size=recipe.anchors).tolist() if self._anchors else [],
        )

    def _owners(self, random: np.random.Generator) -> list[int]:
        """Draw intents: some anywhere, and some that are near to those."""
        wanted = min(self._recipe.intents, self.intents)
        anywhere = wanted - int(wanted * self._recipe.near)
        found: list[int] = []
        for owner in random.permutation(self._usable).tolist():
            if len(found) < anywhere:
                self._add(found, owner)
        # Each intent gets a near one in turn, as often as it takes to fill the batch.
        for owner in list(found) * (wanted // max(1, len(found))):
            if len(found) < wanted:
                for other in self._nearest[self._row[owner]].tolist():
                    if self._add(found, other):
                        break
        return found

    def _add(self, found: list[int], owner: int) -> bool:
        if owner in found or not self.apart[owner].isdisjoint(found):
            return False
        found.append(owner)
        return True

    def _pair(self, owner: int, random: np.random.Generator) -> tuple[str, str]:
        """Draw two lines of an intent, often in different languages if it has several."""
        lines = self._lines[owner]
        first = int(random.integers(len(lines)))
        others = [number for number in range(len(lines)) if number != first]
        foreign = [number for number in others if lines[number].language != lines[first].language]
        drawn = foreign if foreign and random.random() < _OTHER_LANGUAGE else others
        second = drawn[int(random.integers(len(drawn)))]
        return _any(lines[first].texts, random), _any(lines[second].texts, random)


def _lines_by_intent(registry: Registry, titles: bool) -> list[list[_Line]]:
    """Return the lines of each intent without repetitions; the sentences of a template are one line."""
    sentences: dict[int, list[int]] = defaultdict(list)
    for row, line in enumerate(registry.lines):
        sentences[line].append(row)
    found: list[dict[str, _Line]] = [{} for _ in registry]
    for line, rows in sentences.items():
        texts = [clean(registry.utterances[row].text) for row in rows]
        utterance = registry.utterances[line]
        found[registry.owners[line]].setdefault(fold(utterance.text), _Line(texts, utterance.language))
    for intent, lines in zip(registry, found, strict=True):
        if titles and intent.all_utterances:
            lines.setdefault(fold(intent.label), _Line([clean(intent.label)], intent.all_utterances[0].language))
    return [list(lines.values()) for lines in found]


def _sharing(lines: Sequence[Sequence[_Line]]) -> list[set[int]]:
    """Return for each intent the others that have one of its utterances."""
    owners: dict[str, set[int]] = defaultdict(set)
    for owner, own in enumerate(lines):
        for text in (text for line in own for text in line.texts):
            owners[fold(text)].add(owner)
    found: list[set[int]] = [set() for _ in lines]
    for sharing in owners.values():
        for owner in sharing if len(sharing) > 1 else ():
            found[owner] |= sharing - {owner}
    return found


def _any(items: Sequence[str], random: np.random.Generator) -> str:
    return items[int(random.integers(len(items)))]
