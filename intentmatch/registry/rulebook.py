"""The rules of a registry, ready for use in any file and language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intentmatch.errors import Location, Problem
from intentmatch.registry.scope import Scope, path_of
from intentmatch.registry.templates import parse
from intentmatch.registry.wordings import Rules
from intentmatch.text import language_range
from intentmatch.types import Rule


class RuleBook:
    """Puts rules together, once for each language and for each file that has a rule of its own."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._all = rules
        self._scope = Scope(rules)
        self._ready: dict[tuple[str | None, str | None], Rules] = {}

    def rules(self, path: str | None, language: str | None) -> Rules:
        """What each rule stands for in the lines of a language of a file."""
        key = self._scope.part(path), language
        if key not in self._ready:
            meant = [rule for name in self._scope.names if (rule := self._scope.get(name, path))]
            said = [(rule, key_of(rule, language)) for rule in meant]
            texts = {rule.name: rule.templates[code] for rule, code in said if code is not None}
            self._ready[key] = Rules({name: parse(text, fragment=True) for name, text in texts.items()})
        return self._ready[key]

    def problems(self) -> Iterator[Problem]:
        """Rules that use themselves, and rules that are too large, each once however many languages it has."""
        seen: set[tuple[str | None, ...]] = set()
        languages = {language or None for rule in self._all for language in rule.templates}
        for path in {self._scope.part(path_of(rule.location)): None for rule in self._all}:
            for language in sorted(languages, key=lambda code: code or ""):
                found = self.rules(path, language)
                for circle in found.circles:
                    if (path, *sorted(circle)) not in seen:
                        seen.add((path, *sorted(circle)))
                        shown = " → ".join(f"<{name}>" for name in (*circle, circle[0]))
                        message = f"a rule cannot use itself: {shown}"
                        yield Problem(self._place(circle[0], path), "error", "recursive-rule", message, "write it out")
                for name in found.too_large:
                    if (path, name) not in seen:
                        seen.add((path, name))
                        message = f"the rule {name!r} unfolds to sentences of more than 10,000 parts"
                        yield Problem(
                            self._place(name, path), "error", "oversized-template", message, "use fewer rules in it"
                        )

    def _place(self, name: str, path: str | None) -> Location:
        rule = self._scope.get(name, path)
        return (rule and rule.location) or Location("registry")


def key_of(rule: Rule, language: str | None) -> str | None:
    """The key of a rule's template for a language: that, what it falls back to, or ""; None where there is none."""
    codes = language_range(language) if language else []
    return next((code for code in (*codes, "") if code in rule.templates), None)
