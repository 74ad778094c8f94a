"""Sentences of a template: counted without expansion, generated one at a time, or sampled.

The algorithms are iterative, so nested groups and chains of rules of any depth work.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from intentmatch.registry.templates.syntax import (
    Blank,
    Choice,
    Fill,
    Node,
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


class Size(NamedTuple):
    """How much a node of a template can say."""

    number: int
    """Number of wordings; two wordings may read the same."""
    breadth: int
    """Smallest number of wordings that show all its alternatives."""
    length: int
    """Characters of the longest wording, plus one for each rule and group in it."""


@dataclass(frozen=True, eq=False, repr=False)
class Wordings:
    """The sentences of a template, numbered by rank from 0 to `count - 1`. Slot values do not multiply them."""

    template: Template
    rules: Mapping[str, Wordings]
    sizes: tuple[Size, ...]
    """Size of each node."""

    @classmethod
    def from_template(cls, template: Template, rules: Mapping[str, Wordings]) -> Wordings:
        """Count the wordings of a template. Raises `TooLongError`."""
        sizes: list[Size] = []
        for node in template.nodes:
            size = _size(node, sizes, rules)
            if size.length > LONGEST:
                raise TooLongError
            sizes.append(size)
        return cls(template, rules, tuple(sizes))

    @property
    def size(self) -> Size:
        """Size of the template."""
        return self.sizes[-1]

    @property
    def count(self) -> int:
        """Number of wordings."""
        return self.size.number

    def sentences(self, fill: Fill | None = None, limit: int | None = None) -> Iterator[Sentence]:
        """Return the sentences in template order, or a sample if there are more than `limit`."""
        return (self.sentence(rank, fill) for rank in self.ranks(limit))

    def ranks(self, limit: int | None = None) -> Iterable[int]:
        """Return all ranks, or a sample of `limit` ranks that is always the same for one template.

        The sample first covers every alternative of every group, as far as `limit` allows; the rest is random.
        """
        if limit is None or self.count <= limit:
            return range(self.count)
        # Seeded by the text, so that each build has the same sentences and finds their vectors in the cache.
        chance = random.Random(self.template.text.encode("utf-8", "surrogatepass"))  # noqa: S311 - no secret
        rotation = _Rotation(chance)
        chosen = {self._covering_rank(rotation) for _ in range(min(limit, self.size.breadth))}
        while len(chosen) < limit:
            chosen.add(chance.randrange(self.count))
        return sorted(chosen)

    def sentence(self, rank: int, fill: Fill | None = None) -> Sentence:
        """Return the sentence of a rank. Without `fill`, a slot is replaced by its name."""
        return join(self._leaves(rank), fill, single_spaced=self.template.varied)

    @property
    def _root(self) -> int:
        return len(self.sizes) - 1

    def _leaves(self, rank: int) -> Iterator[Words | Blank]:
        """Yield the words and slots of a rank, which in a series has a digit for each item, the last one first."""
        waiting = [(self, self._root, rank)]
        while waiting:
            inside, number, rank = waiting.pop()
            node, sizes = inside.template.nodes[number], inside.sizes
            if isinstance(node, Use):
                rule = inside.rules[node.rule]
                waiting.append((rule, rule._root, rank))
            elif isinstance(node, Series):
                for item in reversed(node.items):
                    rank, digit = divmod(rank, sizes[item].number)
                    waiting.append((inside, item, digit))
            elif isinstance(node, Choice):
                for item in node.items:
                    if rank < sizes[item].number:
                        waiting.append((inside, item, rank))
                        break
                    rank -= sizes[item].number
            else:
                yield node

    def _covering_rank(self, rotation: _Rotation) -> int:
        """Return the rank of a wording that shows the next alternative of every group, the reverse of `_leaves`."""
        rank = 0
        waiting = [(self, self._root, 1)]
        while waiting:
            inside, number, weight = waiting.pop()
            node, sizes = inside.template.nodes[number], inside.sizes
            if isinstance(node, Use):
                rule = inside.rules[node.rule]
                waiting.append((rule, rule._root, weight))
            elif isinstance(node, Series):
                for item in reversed(node.items):
                    waiting.append((inside, item, weight))
                    weight *= sizes[item].number
            elif isinstance(node, Choice):
                turn = rotation.turn((id(inside), number), sizes[number].breadth)
                for item in node.items:
                    if turn < sizes[item].breadth:
                        waiting.append((inside, item, weight))
                        break
                    turn -= sizes[item].breadth
                    rank += weight * sizes[item].number
        return rank


def _size(node: Node, sizes: Sequence[Size], rules: Mapping[str, Wordings]) -> Size:
    """Return the size of a node, given those of the nodes before it."""
    if isinstance(node, Words):
        return Size(1, 1, len(node.text))
    if isinstance(node, Use):
        size = rules[node.rule].size
        # Counted even without text: rules that only use others twice would double at each step, and never be too long.
        return size._replace(length=size.length + 1)
    if isinstance(node, Blank) or not node.items:
        return Size(1, 1, 1)
    numbers, breadths, lengths = zip(*(sizes[item] for item in node.items), strict=True)
    if isinstance(node, Choice):
        return Size(sum(numbers), sum(breadths), 1 + max(lengths))
    return Size(math.prod(numbers), max(breadths), 1 + sum(lengths))


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
                # By `__missing__`, its name takes its place, which ends the cycle.
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
        # A step that shares no factor with the number of turns meets each of them before it repeats one.
        while math.gcd(step := self._chance.randrange(turns) + 1, turns) > 1:
            pass
        return step
