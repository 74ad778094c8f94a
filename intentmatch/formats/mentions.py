"""The slots that lines name, themselves or by the rules that they use: what a reader of YAML finds out on its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from intentmatch.registry.rulebook import key_of
from intentmatch.registry.templates import Template, Use, parse
from intentmatch.types import Registry, Rule, Slot, Utterance


def slots_named(lines: Iterable[Utterance], rules: Sequence[Rule]) -> list[str]:
    """Each name once, in the order of the lines."""
    by_name = {rule.name: rule for rule in rules}
    return list(dict.fromkeys(name for line in lines for name in _named(line, by_name)))


def slots_of(registry: Registry) -> dict[str, Slot]:
    """Every slot by name: of one that intents refine, what all of them share."""
    return {slot.name: slot for intent in registry for slot in intent.slots} | {s.name: s for s in registry.slots}


def _named(line: Utterance, rules: dict[str, Rule]) -> Iterator[str]:
    if line.template is None:
        return
    seen: set[str] = set()
    waiting: list[str | Use] = _references(parse(line.template))
    while waiting:
        reference = waiting.pop(0)
        if isinstance(reference, str):
            yield reference
        elif reference.rule not in seen and (rule := rules.get(reference.rule)) is not None:
            seen.add(reference.rule)
            code = key_of(rule, line.language)
            if code is not None:
                waiting[:0] = _references(parse(rule.templates[code], fragment=True))


def _references(template: Template) -> list[str | Use]:
    return [*template.uses, *(blank.slot for blank in template.blanks)]
