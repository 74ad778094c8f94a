"""What changes between two states of a registry, in sentences with the lines, for readers who do not know YAML."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from intentmatch.core.types import Case, Intent, Registry, Slot, Utterance
from intentmatch.text.normalize import fold

_Key = TypeVar("_Key")


class Sentence(NamedTuple):
    """One thing that changes."""

    says: str
    old: tuple[str, ...] = ()
    """Lines as they were."""
    new: tuple[str, ...] = ()
    """Lines as they will be."""


class _Line(NamedTuple):
    """A line of an intent."""

    intent: str
    negative: bool
    language: str | None
    text: str

    @property
    def kind(self) -> tuple[str, bool]:
        return self.intent, self.negative

    @property
    def place(self) -> tuple[str, bool, str | None]:
        return self.intent, self.negative, self.language


_ByIntent = defaultdict[str, list[_Line]]

_FIELDS: Mapping[str, Callable[[Intent], Sequence[str]]] = {
    "title": lambda intent: list(dict.fromkeys(filter(None, (intent.title, *intent.titles.values())))),
    "description": lambda intent: [intent.description] if intent.description else [],
    "response": lambda intent: [text for texts in intent.all_responses.values() for text in texts],
    "threshold": lambda intent: [] if intent.threshold is None else [str(intent.threshold)],
    "contexts": lambda intent: intent.when,
    "confirmation": lambda intent: ["confirm first"] if intent.confirm else [],
    "slots": lambda intent: [_described(slot) for slot in intent.slots],
    "metadata": lambda intent: [f"{key}: {value}" for key, value in intent.metadata.items()],
}
_SHARED: Mapping[str, Callable[[Registry], Sequence[str]]] = {
    "settings": lambda registry: [f"{key}: {value}" for key, value in registry.settings.items()],
    "shared slots": lambda registry: [_described(slot) for slot in registry.slots],
    "rules of templates": lambda registry: [
        f"<{rule.name}>: {text}" for rule in registry.rules for text in rule.templates.values()
    ],
    "questions": lambda registry: [
        f"{question.name} {answer}: {line.text}"
        for question in registry.questions
        for answer, lines in question.answers.items()
        for line in lines
    ],
    "words of languages": lambda registry: [
        f"{code} {name}: {value}" for code, own in registry.own_sections.items() for name, value in own.items()
    ],
}


def sentences(before: Registry | None, after: Registry | None, diffs: Mapping[str, str]) -> list[Sentence]:
    """Return what changes. If a state is invalid, or only its writing changes, these are the lines of the files.

    `diffs` are the unified diffs of the files that change, by their names.
    """
    # An invalid state has no meaning that could be told.
    told = [] if before is None or after is None else list(_between(before, after))
    if told or not diffs:
        return told
    old, new = (tuple(line for diff in diffs.values() for line in _lines(diff, sign)) for sign in "-+")
    return [Sentence(f"Change {', '.join(diffs)}", old, new)]


def _between(before: Registry, after: Registry) -> Iterator[Sentence]:
    old, new = map(_by_intent, _only_in(_lines_of(before, after), _lines_of(after, before)))
    successors = _renamed(before, after)
    # First, since it takes out the lines of intents that come and go, which are told with them.
    yield from _of_intents(before, after, old, new, successors)
    yield from _of_lines(_flat(old), _flat(new))
    gone, come = _only_in([_expected(test, successors) for test in before.tests], map(_expected, after.tests))
    yield from (Sentence(f"Remove a test of {expected}", (text,)) for expected, text in gone)
    yield from (Sentence(f"Expect {expected} for a message", new=(text,)) for expected, text in come)
    for intent in after:
        if intent.name in before and intent != before[intent.name]:
            for field, values in _FIELDS.items():
                yield from _changed(f"{field} of {intent.name}", values(before[intent.name]), values(intent))
    for part, of in _SHARED.items():
        yield from _changed(part, of(before), of(after))


def _of_intents(
    before: Registry, after: Registry, old: _ByIntent, new: _ByIntent, successors: dict[str, str]
) -> Iterator[Sentence]:
    """Yield which intents go and come. Takes their lines out of `old` and `new`, and adds who is merged into whom."""
    for was, name in successors.items():
        old.pop(was, None), new.pop(name, None)
        yield Sentence(f"Rename {was} to {name}")
    begun = [intent for intent in after if intent.name not in before and intent.name not in successors.values()]
    ended = [intent for intent in before if intent.name not in after and intent.name not in successors]
    for intent in ended:
        lines = old.pop(intent.name, [])
        into = _merged(intent, [after[name] for name, some in new.items() if some and name in before])
        if into is None:
            yield Sentence(f"Remove the intent {intent.name}", tuple(line.text for line in lines))
            continue
        yield Sentence(f"Merge {intent.name} into {into}", new=tuple(line.text for line in lines))
        successors[intent.name] = into
        moved = {(line.negative, line.text) for line in lines}
        new[into] = [line for line in new[into] if (line.negative, line.text) not in moved]
    for intent in begun:
        described = [intent.description] if intent.description else []
        lines = [line for line in new[intent.name] if not line.negative]
        new[intent.name] = [line for line in new[intent.name] if line.negative]
        yield Sentence(
            f"Begin {intent.name} with {_begun(described, lines)}", new=(*described, *(line.text for line in lines))
        )


def _of_lines(old: Sequence[_Line], new: Sequence[_Line]) -> Iterator[Sentence]:
    """Yield what becomes of single lines: moved, reworded, removed, added."""
    came = defaultdict[tuple[bool, str], list[_Line]](list)
    for line in new:
        came[line.negative, line.text].append(line)
    removed = list[_Line]()
    for line in old:
        if not came[line.negative, line.text]:
            removed.append(line)
            continue
        there = came[line.negative, line.text].pop()
        move = f"to {there.intent}" if there.intent != line.intent else f"from {line.language} to {there.language}"
        yield Sentence(f"Move {_named(line, 1)} {move}", new=(line.text,))
    added = [line for lines in came.values() for line in lines]
    by_place = [_grouped(lines, lambda line: line.place) for lines in (removed, added)]
    # One line for one in the same place was reworded; of several, nobody can say which became which.
    reworded = [place for place, lines in by_place[0].items() if len(lines) == len(by_place[1].get(place, ())) == 1]
    for place in reworded:
        (was,), (now,) = (lines[place] for lines in by_place)
        yield Sentence(f"Reword {_named(was, 1)}", (was.text,), (now.text,))
    for says, lines in (("Remove", removed), ("Add", added)):
        left = [line for line in lines if line.place not in reworded]
        for some in _grouped(left, lambda line: line.kind).values():
            texts = tuple(line.text for line in some)
            what = f"{says} {_named(some[0], len(some))}"
            yield Sentence(what, texts) if says == "Remove" else Sentence(what, new=texts)


def _changed(what: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Sentence]:
    gone, come = _only_in(before, after)
    if gone or come:
        yield Sentence(f"Change the {what}", tuple(gone), tuple(come))


def _renamed(before: Registry, after: Registry) -> dict[str, str]:
    """Return the new names of intents that keep all their lines."""
    # By all lines, without the name in front.
    begun = {tuple(line[1:] for line in _own(one)): one.name for one in after if one.name not in before}
    ended = ((one.name, begun.get(tuple(line[1:] for line in _own(one)))) for one in before if one.name not in after)
    return {was: name for was, name in ended if name is not None}


def _merged(intent: Intent, others: Sequence[Intent]) -> str | None:
    """Return the intent among others that has all examples of one that is gone."""
    own = _examples(intent)
    return next((one.name for one in others if own and own <= _examples(one)), None)


def _examples(intent: Intent) -> set[str]:
    return {fold(line.text) for line in _own(intent) if not line.negative}


def _lines_of(registry: Registry, other: Registry) -> Iterator[_Line]:
    """Yield the lines of the intents that the other registry does not have alike."""
    for intent in registry:
        if intent.name not in other or other[intent.name] != intent:
            yield from _own(intent)


def _own(intent: Intent) -> Iterator[_Line]:
    for negative, lines in ((False, intent.utterances), (True, intent.negatives)):
        last: Utterance | None = None
        for line in lines:
            if last is None or not line.same_line(last):  # a template is one line for all of its sentences
                yield _Line(intent.name, negative, line.language, line.template or line.text)
            last = line


def _grouped(lines: Sequence[_Line], key: Callable[[_Line], _Key]) -> dict[_Key, list[_Line]]:
    found: dict[_Key, list[_Line]] = {}
    for line in lines:
        found.setdefault(key(line), []).append(line)
    return found


def _by_intent(lines: Sequence[_Line]) -> _ByIntent:
    return defaultdict(list, _grouped(lines, lambda line: line.intent))


def _flat(lines: _ByIntent) -> list[_Line]:
    return [line for some in lines.values() for line in some]


def _begun(described: Sequence[str], lines: Sequence[_Line]) -> str:
    if not lines:
        return "a description" if described else "no line"
    return "an example" if len(lines) == 1 else f"{len(lines)} examples"


def _named(line: _Line, count: int) -> str:
    if line.negative:
        return (
            f"a line that does not mean {line.intent}"
            if count == 1
            else f"{count} lines that do not mean {line.intent}"
        )
    return f"an example of {line.intent}" if count == 1 else f"{count} examples of {line.intent}"


def _expected(test: Case, renamed: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    names = (test.expected,) if isinstance(test.expected, str) else test.expected or ("no intent",)
    return " or ".join(renamed.get(name, name) for name in names), test.text


def _described(slot: Slot) -> str:
    values = [word for value in slot.values for word in (value.value, *(one.text for one in value.synonyms))]
    kind = [slot.kind, "required"] if slot.required else [slot.kind]
    examples = (one.text for one in slot.examples)
    return f"{slot.name}: {', '.join([*kind, *values, *slot.patterns, *examples, *slot.questions.values()])}"


def _only_in(
    old: Iterator[_Key] | Sequence[_Key], new: Iterator[_Key] | Sequence[_Key]
) -> tuple[list[_Key], list[_Key]]:
    """Return what only the one has, and what only the other has."""
    was, now = Counter(old), Counter(new)
    return list((was - now).elements()), list((now - was).elements())


def _lines(diff: str, sign: str) -> Sequence[str]:
    """Return the lines of a diff with a sign, without the marks of a list."""
    found = (line[1:].strip() for line in diff.splitlines() if line.startswith(sign) and not line.startswith(sign * 3))
    return [line.removeprefix("- ") for line in found if line]
