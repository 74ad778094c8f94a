"""Templates for formats that have none, or none with rules: as the sentences that they stand for, or written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from intentmatch.errors import InputError, Location, Problem
from intentmatch.formats.draft import NOT_EXPRESSED
from intentmatch.registry.expansion import expand
from intentmatch.registry.rulebook import key_of
from intentmatch.registry.rules import NOWHERE
from intentmatch.registry.templates import labelled, parse
from intentmatch.types import Registry, Rule, Utterance

# Rules that use rules may unfold without end.
_LONGEST = 10_000


def as_sentences(registry: Registry) -> tuple[Registry, list[Problem]]:
    """The registry with a line for each sentence of a template, and how many they are."""
    templates = [line for intent in registry for line in (*intent.utterances, *intent.negatives) if _is_open(line)]
    if not templates:
        unused = [
            _note(rule.location, f"the rule {rule.name!r}, which no line uses, is left out") for rule in registry.rules
        ]
        return replace(registry, rules=()), unused
    expanded, problems = expand(registry)
    plain = replace(_with_lines(expanded, _as_it_is), rules=())
    count = sum(len(after.utterances) - len(before.utterances) for before, after in zip(registry, plain, strict=True))
    message = f"templates are written as sentences, which makes {count:,} lines more"
    return plain, [*problems, _note(templates[0].location, message)]


def without_rules(registry: Registry) -> tuple[Registry, list[Problem]]:
    """The registry with the text of each rule in the place of its name. Raises `InputError` where that has no end."""
    if not registry.rules:
        return registry, []
    rules = {rule.name: rule for rule in registry.rules}

    def written_out(line: Utterance) -> Utterance:
        if not _is_open(line):
            return line
        text = _unfolded(line.text, line.language, rules, ())
        return replace(line, text=text, template=text)

    return replace(_with_lines(registry, written_out), rules=()), [
        _note(registry.rules[0].location, "rules are written out where they are used")
    ]


def _unfolded(text: str, language: str | None, rules: Mapping[str, Rule], inside: tuple[str, ...]) -> str:
    for use in sorted(parse(text, fragment=bool(inside)).uses, key=lambda use: use.position, reverse=True):
        rule = rules.get(use.rule)
        code = None if rule is None or use.rule in inside else key_of(rule, language)
        if rule is not None and code is not None:
            inner = _unfolded(rule.templates[code], language, rules, (*inside, use.rule))
            text = f"{text[: use.position]}({inner}){text[use.position + len(use.rule) + 2 :]}"
        if len(text) > _LONGEST:
            raise InputError(f"the rule {use.rule!r} unfolds to more than {_LONGEST:,} characters")
    return text


def _is_open(line: Utterance) -> bool:
    """Whether a line leaves anything open."""
    return line.template is not None and line.template == line.text


def _as_it_is(line: Utterance) -> Utterance:
    """A sentence without a word of the template that it came from."""
    written = labelled(line.text, line.marks)
    return replace(line, template=None if written == line.text else written)


def _with_lines(registry: Registry, change: Callable[[Utterance], Utterance]) -> Registry:
    def changed(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        return tuple(map(change, lines))

    intents = (
        replace(intent, utterances=changed(intent.utterances), negatives=changed(intent.negatives))
        for intent in registry
    )
    return replace(registry, intents=tuple(intents))


def _note(place: Location | None, message: str) -> Problem:
    return Problem(place or NOWHERE, "info", NOT_EXPRESSED, message)
