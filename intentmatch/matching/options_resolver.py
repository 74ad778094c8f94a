"""Check the options of one match and resolve them against a registry."""

from __future__ import annotations

from collections.abc import Collection

from intentmatch.core.errors import UnknownNameError
from intentmatch.core.types import Registry
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.precedence import Precedence
from intentmatch.reading.resolved_options import ResolvedOptions


class OptionsResolver:
    """Resolves options against one registry. Immutable. `top_k` is the default for options without one."""

    def __init__(self, registry: Registry, top_k: int, *, answers_each: bool = False) -> None:
        self._intents, self._top_k, self._answers_each = registry.intents, top_k, answers_each
        self._numbers = registry.positions
        self.precedence = Precedence(registry)
        self._conditional = any(intent.when for intent in self._intents)
        # Most messages come without options, so that these are resolved once.
        self._usual = self._resolved(MatchOptions())

    def resolve(self, options: MatchOptions) -> ResolvedOptions:
        """Return checked options as the pipeline takes them. Raises `InputError`."""
        if options.is_usual:
            return self._usual
        return self._resolved(options.checked())

    def _resolved(self, checked: MatchOptions) -> ResolvedOptions:
        top_k = self._top_k if checked.top_k is None else checked.top_k
        permitted = self.permitted(checked.allowed, checked.context)
        allowed, hidden = self.precedence.eligible(permitted, checked.context)
        previous = checked.previous_intent
        return ResolvedOptions(
            top_k,
            checked.language,
            allowed,
            checked.now,
            hidden=hidden,
            previous=None if previous is None else self._number(previous),
            answers_each=self._answers_each,
        )

    def permitted(self, names: Collection[str] | None, context: Collection[str] = ()) -> frozenset[int] | None:
        """Return the positions of the intents that may answer; None for all.

        These are the intents named. Without names, they are the intents without `when` and those with an active tag.
        Raises `UnknownNameError`.
        """
        if names is None:
            if not self._conditional:
                return None
            active = frozenset(context)
            return frozenset(n for n, intent in enumerate(self._intents) if not intent.when or active & {*intent.when})
        return frozenset(self._number(name) for name in names)

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            raise UnknownNameError("intent", name, list(self._numbers))
        return self._numbers[name]
