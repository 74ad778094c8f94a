"""Rules of a registry, resolved for each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Rule, Utterance
from intentmatch.registry.reading.scope import Scope, path_of
from intentmatch.registry.templates.sentences import LONGEST, Rules, Wordings
from intentmatch.registry.templates.syntax import Template, parse
from intentmatch.text.normalize import language_range


class RuleBook:
    """The rules of a registry; names inside a rule are resolved in the file that defines the rule."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._scope = Scope(rules)
        self._rules = {self._key(rule): rule for rule in rules}
        self._ready: dict[str | None, Rules] = {}

    def wordings(self, line: Utterance) -> Wordings:
        """Return the sentences of a line's template. Raises `TooLongError`."""
        return Wordings.from_template(
            self._qualified(parse(line.text), path_of(line.location)), self._rules_for(line.language)
        )

    def problems(self) -> Iterator[Problem]:
        """Yield recursive and oversized rules, each once for all its languages."""
        seen: set[frozenset[str]] = set()
        languages = {code or None for rule in self._rules.values() for code in rule.templates}
        for language in sorted(languages, key=lambda code: code or ""):
            found = self._rules_for(language)
            for circle in found.circles:
                if frozenset(circle) not in seen:
                    seen.add(frozenset(circle))
                    shown = " → ".join(f"<{self._rules[key].name}>" for key in (*circle, circle[0]))
                    message = f"a rule cannot use itself: {shown}"
                    hint = "replace one of them by its text"
                    yield Problem(self._place(circle[0]), "error", "recursive-rule", message, hint)
            for key in found.too_long:
                if frozenset([key]) not in seen:
                    seen.add(frozenset([key]))
                    message = f"a sentence of the rule {self._rules[key].name!r} is longer than {LONGEST:,} characters"
                    yield Problem(self._place(key), "error", "oversized-template", message, "use fewer rules in it")

    def _rules_for(self, language: str | None) -> Rules:
        if language not in self._ready:
            chosen = {key: (rule, key_of(rule, language)) for key, rule in self._rules.items()}
            self._ready[language] = Rules(
                {
                    key: self._qualified(parse(rule.templates[code], fragment=True), path_of(rule.location))
                    for key, (rule, code) in chosen.items()
                    if code is not None
                }
            )
        return self._ready[language]

    def _qualified(self, template: Template, path: str | None) -> Template:
        """Return the template with unique keys for rules whose name several files define."""
        rules = {use.rule: self._scope.get(use.rule, path) for use in template.uses}
        return template.renamed({name: self._key(rule) for name, rule in rules.items() if rule is not None})

    def _key(self, rule: Rule) -> str:
        # No name holds a space, so the longer key is no other rule's name.
        return rule.name if len(self._scope.definitions(rule.name)) == 1 else f"{rule.name} {path_of(rule.location)}"

    def _place(self, key: str) -> Location:
        return self._rules[key].location or Location("registry")


def key_of(rule: Rule, language: str | None) -> str | None:
    """Return the key of a rule's template for a language: its code, a fallback of it, or ""; None without one."""
    codes = language_range(language) if language else ()
    return next((code for code in (*codes, "") if code in rule.templates), None)
