"""Sentences of a template: counted without expansion, generated one at a time, or sampled.

The algorithms are iterative, so nested groups and chains of rules of any depth work.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from intentmatch.registry.templates.syntax import (
    Blank,
    Choice,
    Fill,
    Sentence,
    Series,
    Template,
    Use,
    Words,
    escape,
    join,
    parse,
)
from intentmatch.text.normalize import in_words

LONGEST = 10_000
"""Longest sentence in characters, the same as for a message; a longer one comes from exploding rules."""


class TooLongError(Exception):
    """A template has a sentence of more than `LONGEST` characters."""


@dataclass(frozen=True, eq=False, repr=False)
class Wordings:
    """The sentences of a template, numbered by rank from 0 to `count - 1`. Slot values do not multiply them."""

    template: Template
    rules: Mapping[str, Wordings]
    counts: tuple[int, ...]
    """Number of wordings of each node."""
    breadths: tuple[int, ...]
    """For each node, the smallest number of wordings that show all its alternatives."""
    length: int
    """Characters of the longest sentence, plus one for each rule and group in it."""

    @classmethod
    def from_template(cls, template: Template, rules: Mapping[str, Wordings]) -> Wordings:
        """Count the wordings of a template. Raises `TooLongError`."""
        counts: list[int] = []
        breadths: list[int] = []
        lengths: list[int] = []
        for node in template.nodes:
            count = breadth = length = 1
            if isinstance(node, Use):
                rule = rules[node.rule]
                count, breadth, length = rule.count, rule.breadths[-1], rule.length + 1
            elif isinstance(node, Words):
                length = len(node.text)
            elif isinstance(node, Series):
                count = math.prod(counts[item] for item in node.items)
                breadth = max((breadths[item] for item in node.items), default=1)
                length += sum(lengths[item] for item in node.items)
            elif isinstance(node, Choice):
                count = sum(counts[item] for item in node.items)
                breadth = sum(breadths[item] for item in node.items)
                length += max(lengths[item] for item in node.items)
            if length > LONGEST:
                raise TooLongError
            counts.append(count)
            breadths.append(breadth)
            lengths.append(length)
        return cls(template, rules, tuple(counts), tuple(breadths), lengths[-1])

    @property
    def count(self) -> int:
        """Number of wordings; two wordings may read the same."""
        return self.counts[-1]

    def sentences(self, fill: Fill | None = None, limit: int | None = None) -> Iterator[Sentence]:
        """Return the sentences in template order, or a sample if there are more than `limit`."""
        return (self.sentence(rank, fill) for rank in self.ranks(limit))

    def ranks(self, limit: int | None = None) -> Iterable[int]:
        """Return all ranks, or a sample of `limit` ranks that is always the same for one template.

        The sample first covers every alternative of every group, as far as `limit` allows; the rest is random.
        """
        if limit is None or self.count <= limit:
            return range(self.count)
        chance = random.Random(self.template.text.encode("utf-8", "surrogatepass"))  # noqa: S311 - no secret
        rotation = _Rotation(chance)
        chosen = {self._covering_rank(rotation) for _ in range(min(limit, self.breadths[-1]))}
        while len(chosen) < limit:
            chosen.add(chance.randrange(self.count))
        return sorted(chosen)

    def sentence(self, rank: int, fill: Fill | None = None) -> Sentence:
        """Return the sentence of a rank. Without `fill`, a slot is replaced by its name."""
        return join(self._leaves(rank), fill, single_spaced=self.template.varied)

    def _leaves(self, rank: int) -> Iterator[Words | Blank]:
        """Yield the words and slots of a rank in order."""
        waiting = [(self, len(self.counts) - 1, rank)]
        while waiting:
            inside, number, rank = waiting.pop()
            node = inside.template.nodes[number]
            if isinstance(node, Use):
                rule = inside.rules[node.rule]
                waiting.append((rule, len(rule.counts) - 1, rank))
            elif isinstance(node, Series):
                for item in reversed(node.items):
                    rank, digit = divmod(rank, inside.counts[item])
                    waiting.append((inside, item, digit))
            elif isinstance(node, Choice):
                for item in node.items:
                    if rank < inside.counts[item]:
                        waiting.append((inside, item, rank))
                        break
                    rank -= inside.counts[item]
            else:
                yield node

    def _covering_rank(self, rotation: _Rotation) -> int:
        """Return the rank of a wording that shows the next alternative of every group."""
        rank = 0
        waiting = [(self, len(self.counts) - 1, 1)]
        while waiting:
            inside, number, weight = waiting.pop()
            node = inside.template.nodes[number]
            if isinstance(node, Use):
                rule = inside.rules[node.rule]
                waiting.append((rule, len(rule.counts) - 1, weight))
            elif isinstance(node, Series):
                for item in reversed(node.items):
                    waiting.append((inside, item, weight))
                    weight *= inside.counts[item]
            elif isinstance(node, Choice):
                turn = rotation.turn((id(inside), number), inside.breadths[number])
                for item in node.items:
                    if turn < inside.breadths[item]:
                        waiting.append((inside, item, weight))
                        break
                    turn -= inside.breadths[item]
                    rank += weight * inside.counts[item]
        return rank


class Rules(dict[str, Wordings]):
    """Wordings of the rules of one language, by name.

    An unknown, recursive or oversized rule is replaced by its name.
    """

    def __init__(self, templates: Mapping[str, Template]) -> None:
        super().__init__()
        self.circles: list[tuple[str, ...]] = []
        """Cycles of rules: each rule uses the next one, and the last uses the first."""
        self.too_long: list[str] = []
        """Rules with a sentence of more than `LONGEST` characters."""
        for name in templates:
            if name not in self:
                self._add(name, templates)

    def __missing__(self, name: str) -> Wordings:
        return Wordings.from_template(parse(escape(in_words(name))), {})

    def _add(self, first: str, templates: Mapping[str, Template]) -> None:
        # Depth-first search: the open rules, each with its remaining uses.
        open_ = {first: iter(templates[first].uses)}
        while open_:
            name, uses = next(reversed(open_.items()))
            below = next((u.rule for u in uses if u.rule in templates and u.rule not in self), None)
            if below is None:
                del open_[name]
                try:
                    self.setdefault(name, Wordings.from_template(templates[name], self))
                except TooLongError:
                    self.too_long.append(name)
                    self[name] = self[name]
            elif below in open_:
                names = list(open_)
                self.circles.append(tuple(names[names.index(below) :]))
                self[below] = self[below]
            else:
                open_[below] = iter(templates[below].uses)


class _Rotation:
    """Rotates through the alternatives of each group; random steps keep groups of one size out of phase."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._next: dict[tuple[int, int], tuple[int, int]] = {}

    def turn(self, group: tuple[int, int], turns: int) -> int:
        """Return the next number below `turns` for a group; each number comes once per round."""
        now, step = self._next.get(group) or (self._chance.randrange(turns), self._step(turns))
        self._next[group] = (now + step) % turns, step
        return now

    def _step(self, turns: int) -> int:
        while math.gcd(step := self._chance.randrange(turns) + 1, turns) > 1:
            pass
        return step
