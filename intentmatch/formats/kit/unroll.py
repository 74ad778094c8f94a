"""Unroll templates into sentences, and rules into their text, for formats that have no templates or no rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from intentmatch.core.errors import NOWHERE, InputError, Location, Problem, counted
from intentmatch.core.types import Registry, Rule, Utterance
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature
from intentmatch.registry.templates.expansion import expand
from intentmatch.registry.templates.rules import key_of
from intentmatch.registry.templates.syntax import escape, labelled, parse

# Placeholder for an open slot: a noncharacter that occurs in no real text.
_OPEN = "\ufdd0"
# Characters; rules that use rules can grow exponentially.
_MAX_CHARS = 10_000


def as_sentences(registry: Registry, says: Collection[Feature]) -> tuple[Registry, list[Problem]]:
    """Replace each template by its sentences, and report how many lines that adds.

    Open slots stay open if the format has `blanks`.
    """
    blanks, marks = "blanks" in says, "marks" in says
    # By identity: an expansion keeps the lines that are no templates.
    lines = {id(line): line for intent in registry for line in (*intent.utterances, *intent.negatives)}
    templates = [line for line in lines.values() if is_template(line) and not (blanks and _is_blank(line))]
    if not templates:
        unused = [
            _note(rule.location, f"the rule {rule.name!r} is used by no utterance; it is skipped")
            for rule in registry.rules
        ]
        return replace(registry, rules=()), unused

    def written(line: Utterance) -> Utterance:
        return line if id(line) in lines else _reopened(line, marks=marks) if blanks else _plain(line, marks=marks)

    expanded, problems = expand(_left_open(registry) if blanks else registry)
    intents = (replace(after, slots=before.slots) for before, after in zip(registry, expanded, strict=True))
    plain = _with_lines(replace(registry, intents=tuple(intents), rules=()), written)
    count = sum(len(after.utterances) - len(before.utterances) for before, after in zip(registry, plain, strict=True))
    message = f"templates are written as sentences, {counted(count, 'line')} more"
    return plain, [*problems, _note(templates[0].location, message)]


def without_rules(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Replace each rule reference by the text of the rule. Raises `InputError` if the text grows too long."""
    if not registry.rules:
        return registry, []
    rules = {rule.name: rule for rule in registry.rules}

    def written_out(line: Utterance) -> Utterance:
        if not is_template(line):
            return line
        text = _unrolled(line.text, line.language, rules, ())
        return replace(line, text=text, template=text)

    return replace(_with_lines(registry, written_out), rules=()), [
        _note(registry.rules[0].location, "rules are replaced by their text")
    ]


def _unrolled(text: str, language: str | None, rules: Mapping[str, Rule], inside: tuple[str, ...]) -> str:
    # From the end, so that the positions of the others stay right.
    for use in sorted(parse(text, fragment=bool(inside)).uses, key=lambda use: use.position, reverse=True):
        rule = rules.get(use.rule)
        code = None if rule is None or use.rule in inside else key_of(rule, language)
        if rule is not None and code is not None:
            inner = _unrolled(rule.templates[code], language, rules, (*inside, use.rule))
            # Top-level alternatives of a rule need no brackets in the rule, but they do inside of a template.
            if parse(inner).nodes != parse(inner, fragment=True).nodes:
                inner = f"({inner})"
            text = f"{text[: use.position]}{inner}{text[use.position + len(use.rule) + 2 :]}"
        if len(text) > _MAX_CHARS:
            raise InputError(f"the rule {use.rule!r} expands to more than {_MAX_CHARS:,} characters")
    return text


def is_template(line: Utterance) -> bool:
    """Return whether an utterance of an unexpanded registry is a template with something open."""
    return line.template is not None and line.template == line.text


def _is_blank(line: Utterance) -> bool:
    """Return whether the slots are the only open parts of a template, and all of them are open."""
    template = parse(line.text)
    return not template.varied and all(blank.value is None for blank in template.blanks)


def _plain(line: Utterance, *, marks: bool) -> Utterance:
    """Return an expanded sentence without the template it came from."""
    kept = line.marks if marks else ()
    written = labelled(line.text, kept)
    return replace(line, template=None if written == line.text else written, marks=kept)


def _left_open(registry: Registry) -> Registry:
    """Return the registry with a placeholder as the only example of each slot, so that slots stay open."""
    examples = (Utterance(_OPEN),)
    intents = (
        replace(intent, slots=tuple(replace(slot, examples=examples) for slot in intent.slots)) for intent in registry
    )
    return replace(registry, intents=tuple(intents))


def _reopened(line: Utterance, *, marks: bool) -> Utterance:
    """Turn the placeholders of an expanded sentence back into open slots."""
    if _OPEN not in line.text:
        return _plain(line, marks=marks)
    written, end = "", 0
    for mark in line.marks:
        value = line.text[mark.start : mark.end]
        named = f"={escape(value)}" if value != _OPEN else ""
        written += escape(line.text[end : mark.start])
        written += f"{{{mark.slot}{named}}}" if marks or not named else escape(value)
        end = mark.end
    written += escape(line.text[end:])
    return replace(line, text=written, template=written, marks=())


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
