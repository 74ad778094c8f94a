"""Lines that several intents share, and the rule that tells these intents apart.

Two intents may have the same utterance if at least one of them has `when` and they have no tag in common. A message
that reads like the line belongs to an intent with an active tag, otherwise to the intent without `when`. If the tags of
two such intents are active at once, nothing tells them apart, and the bot asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from intentmatch.core.types import Case, Intent, Registry


def may_share(one: Intent, other: Intent) -> bool:
    """Return whether two intents may have the same utterance."""
    return bool(one.when or other.when) and {*one.when}.isdisjoint(other.when)


def never_together(one: Intent, other: Intent) -> bool:
    """Return whether two intents belong to different points of a conversation: both have `when`, without a common tag.

    A program that activates the tags of both at once is asked about the lines that they share.
    """
    return bool(one.when and other.when) and {*one.when}.isdisjoint(other.when)


def rank(intent: Intent, active: Collection[str]) -> int:
    """Return the rank of an intent for a shared line, the lowest goes first.

    0 with an active tag, 1 without `when`, 2 if none of its tags is active.
    """
    if not intent.when:
        return 1
    return 2 if {*intent.when}.isdisjoint(active) else 0


class SharedLines:
    """The lines of a registry that several intents have. Immutable; false if there are none."""

    def __init__(self, registry: Registry) -> None:
        by_text: dict[str, list[int]] = {}
        for row in registry.repeated:
            by_text.setdefault(registry.folded[row], []).append(row)
        owners = registry.owners
        self._registry = registry
        self.groups: tuple[tuple[int, ...], ...] = tuple(
            tuple(rows) for rows in by_text.values() if len({owners[row] for row in rows}) > 1
        )
        """Rows of the utterances that are the same line, for each line of several intents."""
        sharers: dict[int, set[int]] = {}
        for rows in self.groups:
            having = {owners[row] for row in rows}
            for intent in having:
                sharers.setdefault(intent, set()).update(having - {intent})
        self.sharers: Mapping[int, frozenset[int]] = {intent: frozenset(sharers[intent]) for intent in sorted(sharers)}
        """Position of each intent that shares lines, to the positions of those it shares one with."""
        told_apart = ((n, one) for n, one in enumerate(registry.intents) if one.when or n in self.sharers)
        self._conditional = {one.name: n for n, one in told_apart}
        self._contexts: dict[frozenset[int], frozenset[str]] = {}

    @cached_property
    def apart(self) -> Mapping[int, frozenset[int]]:
        """Position of each intent, to the intents that the words need not tell apart from it; empty without such lines.

        These are the intents that have a line of it, and those that do not answer in its context.
        """
        if not self:
            return {}
        silent: dict[frozenset[str], frozenset[int]] = {}
        found = {}
        for position, intent in enumerate(self._registry.intents):
            context = self.context_of(intent.name)
            if context not in silent:
                silent[context] = self._silent(context)
            found[position] = silent[context] | self.sharers.get(position, frozenset())
        return found

    def silent(self, intent: int) -> frozenset[int]:
        """Return the intents whose tags are not active when a message of this intent is said."""
        return self._silent(self.context_of(self._registry.intents[intent].name))

    def _silent(self, context: frozenset[str]) -> frozenset[int]:
        return frozenset(n for n, one in enumerate(self._registry.intents) if rank(one, context) == 2)

    @cached_property
    def _by_tag(self) -> Mapping[str, frozenset[int]]:
        """The intents that share lines, by each of their tags."""
        found: dict[str, set[int]] = {}
        for position in self.sharers:
            for tag in self._registry.intents[position].when:
                found.setdefault(tag, set()).add(position)
        return {tag: frozenset(positions) for tag, positions in found.items()}

    def __bool__(self) -> bool:
        return bool(self.groups)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each row of a shared line with each other intent that has the line."""
        owners = self._registry.owners
        for rows in self.groups:
            having = {owners[row] for row in rows}
            yield from ((row, other) for row in rows for other in sorted(having - {owners[row]}))

    @cached_property
    def answered_elsewhere(self) -> frozenset[int]:
        """Rows of lines that another intent, without `when`, has too: it answers them if their own intent is gone."""
        intents = self._registry.intents
        return frozenset(row for row, other in self.pairs() if not intents[other].when)

    def hidden(self, allowed: Collection[int] | None, active: Collection[str]) -> frozenset[int]:
        """Return the rows that do not count because another intent goes first with the same line.

        `allowed` holds the positions of the intents that may answer, None for all; `active` the active tags.
        """
        intents, owners = self._registry.intents, self._registry.owners
        hidden: list[int] = []
        for rows in self.groups:
            ranked = [(rank(intents[owners[row]], active), row) for row in rows if _is_in(owners[row], allowed)]
            first = min(ranked, default=(0, 0))[0]
            hidden += [row for behind, row in ranked if behind > first]
        return frozenset(hidden)

    def context_of(self, expected: Case | str) -> frozenset[str]:
        """Return the tags that are active when a message of an intent is said; for a test, of all that it expects.

        These are its own tags and as many others as possible, in the order of the alphabet, without two intents that
        share a line. A registry without shared lines has all its tags active.
        """
        names = expected.expected if isinstance(expected, Case) else expected
        wanted = {names} if isinstance(names, str) else {*(names or ())}
        own = frozenset(position for name in wanted if (position := self._conditional.get(name)) is not None)
        if own not in self._contexts:
            self._contexts[own] = self._context(own)
        return self._contexts[own]

    def _context(self, own: frozenset[int]) -> frozenset[str]:
        intents = self._registry.intents
        tags = {tag for intent in own for tag in intents[intent].when}
        permitted = {*own, *(intent for tag in tags for intent in self._by_tag.get(tag, ()))}
        # In one fixed order: which of several tags is active must not depend on the order of the intents.
        for tag in self._registry.tags:
            more = self._by_tag.get(tag, frozenset()) - permitted
            if all(self.sharers[intent].isdisjoint(permitted | more) for intent in more):
                tags.add(tag)
                permitted |= more
        return frozenset(tags)


def _is_in(intent: int, allowed: Collection[int] | None) -> bool:
    return allowed is None or intent in allowed
