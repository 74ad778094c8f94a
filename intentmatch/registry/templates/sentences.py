"""The sentences that a template stands for: counted without writing them out, taken one at a time, or sampled.

Nothing here recurses, so no line and no chain of rules is too deep.
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
    joined,
    parse,
)
from intentmatch.text.normalize import in_words

LONGEST = 10_000
"""Characters of a sentence, as of a message: what is longer is no line of an author, but rules without end."""


class TooLongError(Exception):
    """A sentence of a template is longer than anything that anybody would say."""


@dataclass(frozen=True, eq=False, repr=False)
class Wordings:
    """All sentences of a template, told apart by rank: 0, 1, ... `count - 1`. Slots do not multiply them."""

    template: Template
    rules: Mapping[str, Wordings]
    counts: tuple[int, ...]
    """Of each node, how many wordings it has."""
    breadths: tuple[int, ...]
    """Of each node, how few wordings of it show every alternative in it."""
    length: int
    """Of the longest sentence, in characters, and one for each rule and group in it."""

    @classmethod
    def from_template(cls, template: Template, rules: Mapping[str, Wordings]) -> Wordings:
        """Count, node by node."""
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
        """How many there are; where the author says the same in two ways it counts twice."""
        return self.counts[-1]

    def sentences(self, fill: Fill | None = None, limit: int | None = None) -> Iterator[Sentence]:
        """The sentences in the order of the template; a sample of them where there are more than the limit."""
        return (self.sentence(rank, fill) for rank in self.ranks(limit))

    def ranks(self, limit: int | None = None) -> Iterable[int]:
        """Every rank or, where there are more than the limit, so many of them: always the same for one template.

        Of those, the first show every alternative of every group, as far as the limit goes; chance picks the rest.
        """
        if limit is None or self.count <= limit:
            return range(self.count)
        chance = random.Random(self.template.text.encode("utf-8", "surrogatepass"))  # noqa: S311 - no secret
        hands = _Hands(chance)
        chosen = {self._shown(hands) for _ in range(min(limit, self.breadths[-1]))}
        while len(chosen) < limit:
            chosen.add(chance.randrange(self.count))
        return sorted(chosen)

    def sentence(self, rank: int, fill: Fill | None = None) -> Sentence:
        """The sentence of a rank. Without `fill` a slot is its name."""
        return joined(self._leaves(rank), fill, single_spaced=self.template.varied)

    def _leaves(self, rank: int) -> Iterator[Words | Blank]:
        """The words and slots of a rank, in their order."""
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

    def _shown(self, hands: _Hands) -> int:
        """The rank of a wording that shows what is next to be shown of every group in it."""
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
                turn = hands.turn((id(inside), number), inside.breadths[number])
                for item in node.items:
                    if turn < inside.breadths[item]:
                        waiting.append((inside, item, weight))
                        break
                    turn -= inside.breadths[item]
                    rank += weight * inside.counts[item]
        return rank


class Rules(dict[str, Wordings]):
    """Rules of one language, each put together from those that it uses.

    One that is not there, uses itself or is too long stands for its name.
    """

    def __init__(self, templates: Mapping[str, Template]) -> None:
        super().__init__()
        self.circles: list[tuple[str, ...]] = []
        """Rules of which each uses the next, and the last the first."""
        self.too_long: list[str] = []
        """Rules with a sentence that is too long."""
        for name in templates:
            if name not in self:
                self._add(name, templates)

    def __missing__(self, name: str) -> Wordings:
        return Wordings.from_template(parse(escape(in_words(name))), {})

    def _add(self, first: str, templates: Mapping[str, Template]) -> None:
        # The uses of each rule on the way down that are still to be looked at.
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


class _Hands:
    """Goes round every group in an order of its own, so that groups of one size do not go in step."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._next: dict[tuple[int, int], tuple[int, int]] = {}

    def turn(self, group: tuple[int, int], turns: int) -> int:
        """Each of `turns` numbers once, and then again."""
        now, step = self._next.get(group) or (self._chance.randrange(turns), self._step(turns))
        self._next[group] = (now + step) % turns, step
        return now

    def _step(self, turns: int) -> int:
        while math.gcd(step := self._chance.randrange(turns) + 1, turns) > 1:
            pass
        return step
