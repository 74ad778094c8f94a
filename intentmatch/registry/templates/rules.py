"""The rules of a registry, put together for each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Rule, Utterance
from intentmatch.registry.reading.scope import Scope, path_of
from intentmatch.registry.templates.sentences import LONGEST, Rules, Wordings
from intentmatch.registry.templates.syntax import Template, parse
from intentmatch.text.normalize import language_range


class RuleBook:
    """Every rule uses what its own file means by a name, wherever it is used itself."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._scope = Scope(rules)
        self._rules = {self._key(rule): rule for rule in rules}
        self._ready: dict[str | None, Rules] = {}

    def wordings(self, line: Utterance) -> Wordings:
        """All that a line's template stands for. Raises `TooLongError`."""
        return Wordings.from_template(self._meant(parse(line.text), path_of(line.location)), self._in(line.language))

    def problems(self) -> Iterator[Problem]:
        """Rules that use themselves, and rules that are too long, each once however many languages it has."""
        seen: set[frozenset[str]] = set()
        languages = {code or None for rule in self._rules.values() for code in rule.templates}
        for language in sorted(languages, key=lambda code: code or ""):
            found = self._in(language)
            for circle in found.circles:
                if frozenset(circle) not in seen:
                    seen.add(frozenset(circle))
                    shown = " → ".join(f"<{self._rules[key].name}>" for key in (*circle, circle[0]))
                    message = f"a rule cannot use itself: {shown}"
                    yield Problem(self._place(circle[0]), "error", "recursive-rule", message, "write one of them out")
            for key in found.too_long:
                if frozenset([key]) not in seen:
                    seen.add(frozenset([key]))
                    message = f"a sentence of the rule {self._rules[key].name!r} is longer than {LONGEST:,} characters"
                    yield Problem(self._place(key), "error", "oversized-template", message, "use fewer rules in it")

    def _in(self, language: str | None) -> Rules:
        if language not in self._ready:
            said = {key: (rule, key_of(rule, language)) for key, rule in self._rules.items()}
            self._ready[language] = Rules(
                {
                    key: self._meant(parse(rule.templates[code], fragment=True), path_of(rule.location))
                    for key, (rule, code) in said.items()
                    if code is not None
                }
            )
        return self._ready[language]

    def _meant(self, template: Template, path: str | None) -> Template:
        """The template with rules named apart that have one name in several files."""
        meant = {use.rule: self._scope.get(use.rule, path) for use in template.uses}
        return template.renamed({name: self._key(rule) for name, rule in meant.items() if rule is not None})

    def _key(self, rule: Rule) -> str:
        return rule.name if len(self._scope.several(rule.name)) == 1 else f"{rule.name} {path_of(rule.location)}"

    def _place(self, key: str) -> Location:
        return self._rules[key].location or Location("registry")


def key_of(rule: Rule, language: str | None) -> str | None:
    """The key of a rule's template for a language: that, what it falls back to, or ""; None where there is none."""
    codes = language_range(language) if language else ()
    return next((code for code in (*codes, "") if code in rule.templates), None)
