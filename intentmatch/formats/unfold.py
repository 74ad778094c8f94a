"""Templates that a format cannot say, as the lines that it can: without alternatives and rules, without open slots."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from intentmatch.errors import InputError, Location, Problem
from intentmatch.formats.draft import NOT_EXPRESSED
from intentmatch.formats.format import Feature
from intentmatch.registry.expansion import expand
from intentmatch.registry.rulebook import key_of
from intentmatch.registry.rules import NOWHERE
from intentmatch.registry.templates import Choice, escape, labelled, parse
from intentmatch.types import Intent, Mark, Registry, Rule, Slot, Utterance

# Stands for a slot that stays open, and in no text that anybody writes.
_OPEN = "\ufdd0"
# Rules that use rules may unfold without end.
_LONGEST = 10_000


def is_template(line: Utterance) -> bool:
    """Whether a line of an unexpanded registry may stand for several sentences."""
    return line.template is not None and line.template == line.text


def sentence(line: Utterance, marks: tuple[Mark, ...] = ()) -> Utterance:
    """The line as a sentence in which these slots are marked."""
    written = labelled(line.text, marks)
    return replace(line, template=written if written != line.text else None, marks=marks)


def unfolded(registry: Registry, says: Collection[Feature]) -> tuple[Registry, list[Problem]]:
    """The registry with other lines in the place of templates that cannot be said, and what there is to say of that."""
    unfolding = _Unfolding(says)
    if registry.rules and "templates" in says and "rules" not in says:
        unfolding.note(registry.rules[0].location, "rules are written out where they are used")
        registry = _without_rules(registry)
    prepared = replace(registry, intents=tuple(map(unfolding.prepared, registry)))
    expanded, problems = expand(prepared)
    pairs = zip(registry, expanded, strict=True)
    intents = tuple(unfolding.finished(unfolded, intent) for intent, unfolded in pairs)
    rules = registry.rules
    if rules and "rules" not in says:
        if not unfolding.problems:
            unfolding.note(rules[0].location, "rules cannot be written in this format")
        rules = ()
    return replace(registry, intents=intents, rules=rules), [*unfolding.problems, *problems]


class _Unfolding:
    """Prepares intents such that their expansion leaves alone what can be said, and undoes that afterwards."""

    def __init__(self, says: Collection[Feature]) -> None:
        self._says = says
        self._kept: dict[int, tuple[Utterance, Utterance]] = {}
        self.problems: list[Problem] = []

    def note(self, place: Location | None, message: str) -> None:
        self.problems.append(Problem(place or NOWHERE, "warning", NOT_EXPRESSED, message))

    def prepared(self, intent: Intent) -> Intent:
        """The intent with nothing that looks like a template, but what is to be unfolded."""
        utterances = tuple(map(self._prepared, intent.utterances))
        negatives = tuple(map(self._prepared, intent.negatives))
        unfolded = [line for line in (*utterances, *negatives) if is_template(line)]
        if unfolded:
            what = "lines with open slots" if "blanks" in self._says else "sentences"
            message = f"templates of {intent.name!r} are written as the {what} that they stand for"
            self.note(unfolded[0].location, message)
        slots = tuple(map(_left_open, intent.slots)) if "blanks" in self._says else intent.slots
        return replace(intent, utterances=utterances, negatives=negatives, slots=slots)

    def finished(self, unfolded: Intent, intent: Intent) -> Intent:
        """The lines of the unfolded intent, in the other one."""
        utterances = tuple(map(self._finished, unfolded.utterances))
        negatives = tuple(map(self._finished, unfolded.negatives))
        return replace(intent, utterances=utterances, negatives=negatives)

    def _prepared(self, line: Utterance) -> Utterance:
        if is_template(line) and not set(_needs(line)) <= set(self._says):
            return line
        alone = replace(line, template=None)
        self._kept[id(alone)] = alone, line
        return alone

    def _finished(self, line: Utterance) -> Utterance:
        if id(line) in self._kept:
            return self._kept[id(line)][1]
        if _OPEN in line.text:
            template = _reopened(line)
            return replace(line, text=template, template=template, marks=())
        return sentence(line, line.marks if "marks" in self._says else ())


def _needs(line: Utterance) -> Iterator[Feature]:
    template = parse(line.text)
    if any(isinstance(node, Choice) for node in template.nodes):
        yield "templates"
    if template.uses:
        yield "rules"
    if any(blank.value is None for blank in template.blanks):
        yield "blanks"


def _left_open(slot: Slot) -> Slot:
    return replace(slot, examples=(Utterance(_OPEN),))


def _reopened(line: Utterance) -> str:
    """A sentence in which open slots are marked, as a template."""
    written, end = "", 0
    for mark in line.marks:
        value = line.text[mark.start : mark.end]
        written += escape(line.text[end : mark.start])
        written += f"{{{mark.slot}}}" if value == _OPEN else f"{{{mark.slot}={escape(value)}}}"
        end = mark.end
    return written + escape(line.text[end:])


def _without_rules(registry: Registry) -> Registry:
    """The registry with the text of each rule in the place of its name."""
    rules = {rule.name: rule for rule in registry.rules}

    def written_out(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        texts = ((line, _written_out(line.text, line.language, rules, ())) for line in lines)
        return tuple(replace(line, text=text, template=text) if is_template(line) else line for line, text in texts)

    intents = (
        replace(intent, utterances=written_out(intent.utterances), negatives=written_out(intent.negatives))
        for intent in registry
    )
    return replace(registry, intents=tuple(intents), rules=())


def _written_out(text: str, language: str | None, rules: Mapping[str, Rule], inside: tuple[str, ...]) -> str:
    """A template without rules. Raises `InputError` where that has no end."""
    for use in sorted(parse(text, fragment=bool(inside)).uses, key=lambda use: use.position, reverse=True):
        rule = rules.get(use.rule)
        code = None if rule is None or use.rule in inside else key_of(rule, language)
        if rule is not None and code is not None:
            inner = _written_out(rule.templates[code], language, rules, (*inside, use.rule))
            # Alone, a rule may have alternatives without brackets around them; and brackets without any are text.
            if parse(inner).nodes != parse(inner, fragment=True).nodes:
                inner = f"({inner})"
            text = f"{text[: use.position]}{inner}{text[use.position + len(use.rule) + 2 :]}"
        if len(text) > _LONGEST:
            raise InputError(f"the rule {use.rule!r} unfolds to more than {_LONGEST:,} characters")
    return text
