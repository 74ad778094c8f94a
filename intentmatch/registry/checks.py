"""What a registry must obey, whatever file it came from. One function per rule id, named after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from intentmatch.core.errors import NOWHERE, Location, Problem, suggest
from intentmatch.core.types import Case, Intent, Registry, Utterance
from intentmatch.text.normalize import fold

Rule = Callable[[Registry], Iterator[Problem]]


def check(registry: Registry) -> list[Problem]:
    """Every problem that any rule finds, sorted by place; what came from code stands at `registry`."""
    return sorted(problem for rule in RULES for problem in rule(registry))


def no_intents(registry: Registry) -> Iterator[Problem]:
    """A registry without intents matches nothing."""
    if not registry.intents:
        yield Problem(NOWHERE, "error", "no-intents", "there is no intent", "add one below `intents:`")


def intent_redefined(registry: Registry) -> Iterator[Problem]:
    """A name stands for one intent. In YAML the reader has merged what is spread over files."""
    seen: set[str] = set()
    for intent in registry:
        if intent.name in seen:
            hint = "rename one of them, or put their utterances together"
            yield Problem(_place(intent), "error", "intent-redefined", f"there are two intents {intent.name!r}", hint)
        seen.add(intent.name)


def threshold(registry: Registry) -> Iterator[Problem]:
    """A threshold is a score that can be reached. In YAML the grammar has seen to it."""
    for intent in registry:
        if intent.threshold is not None and not 0.0 <= intent.threshold <= 1.0:
            message = f"threshold {intent.threshold} of {intent.name!r} is not usable: it must be a number from 0 to 1"
            yield Problem(_place(intent), "error", "threshold", message)


def no_utterances(registry: Registry) -> Iterator[Problem]:
    """An intent without utterances can never be matched."""
    for intent in registry:
        if not intent.utterances:
            message = f"intent {intent.name!r} has no utterances"
            yield Problem(_place(intent), "error", "no-utterances", message, "list what users say below `utterances:`")


def empty_utterance(registry: Registry) -> Iterator[Problem]:
    """An utterance, and every sentence of a template, must hold something beside punctuation."""
    if "" not in registry.folded and all(fold(negative.text) for negative in registry.negatives):
        return
    for intent in registry:
        lines: list[Utterance] = []
        for utterance in (*intent.utterances, *intent.negatives):
            if not fold(utterance.text) and not any(utterance.same_line(other) for other in lines):
                lines.append(utterance)
                message = f"the utterance {utterance.text!r} of {intent.name!r} has no words"
                hint = "write it, or remove the line"
                if utterance.template is not None:
                    message = f"a sentence of the template {utterance.template!r} has no words"
                    hint = "leave something that cannot be left out"
                yield Problem(_place(utterance, intent), "error", "empty-utterance", message, hint)


def duplicate_utterance(registry: Registry) -> Iterator[Problem]:
    """The same utterance twice in one language of one intent adds nothing."""
    for intent, repeated in _repeated(registry):
        seen: dict[tuple[str, str | None], Utterance] = {}
        told = _Pairs()
        for folded, utterance in repeated:
            first = seen.setdefault((folded, utterance.language), utterance)
            if first is not utterance and not first.same_line(utterance) and told.new(first, utterance):
                message = f"“{utterance.text}” already stands at {_place(first, intent).short}"
                yield Problem(_place(utterance, intent), "warning", "duplicate-utterance", message, _hint(utterance))


def conflicting_utterance(registry: Registry) -> Iterator[Problem]:
    """The same utterance in two intents leaves no way to tell them apart."""
    owners: dict[str, tuple[Intent, Utterance]] = {}
    for intent, repeated in _repeated(registry):
        told = _Pairs()
        for folded, utterance in repeated:
            owner, first = owners.setdefault(folded, (intent, utterance))
            if owner.name != intent.name and told.new(first, utterance, owner.name):
                message = f"“{utterance.text}” already belongs to {owner.name!r} ({_place(first, owner).short})"
                hint = f"{_hint(utterance)}, or merge the intents"
                yield Problem(_place(utterance, intent), "error", "conflicting-utterance", message, hint)


def contradicting_negative(registry: Registry) -> Iterator[Problem]:
    """What is an utterance of an intent cannot also be what the intent is not."""
    for intent in (intent for intent in registry if intent.negatives):
        wanted = dict(_worded(intent.utterances))
        told = _Pairs()
        for folded, negative in _worded(intent.negatives):
            if (utterance := wanted.get(folded)) is not None and told.new(utterance, negative):
                where = _place(utterance, intent).short
                message = f"“{negative.text}” is also an utterance of {intent.name!r} ({where})"
                yield Problem(_place(negative, intent), "error", "contradicting-negative", message, _hint(negative))


def unknown_intent(registry: Registry) -> Iterator[Problem]:
    """A test expects an intent that is there."""
    yield from check_tests(registry.tests, {intent.name for intent in registry})


def check_tests(tests: Sequence[Case], known: Collection[str]) -> Iterator[Problem]:
    """A problem for each intent that a test expects and that is none of the known ones."""
    for case in tests:
        names = (case.expected,) if isinstance(case.expected, str) else case.expected or ()
        for name in names:
            if name not in known:
                nearest = suggest(name, known)
                hint = f"did you mean `{nearest}`?" if nearest else "write an intent's name, or `out_of_scope`"
                message = f"the test “{case.text}” expects {name!r}, and there is no such intent"
                yield Problem(case.location or NOWHERE, "error", "unknown-intent", message, hint)


RULES: tuple[Rule, ...] = (
    no_intents,
    intent_redefined,
    threshold,
    no_utterances,
    empty_utterance,
    duplicate_utterance,
    conflicting_utterance,
    contradicting_negative,
    unknown_intent,
)


class _Pairs:
    """The pairs of lines that were told of already: two templates may have many sentences in common."""

    def __init__(self) -> None:
        self._told: set[tuple[object, ...]] = set()

    def new(self, first: Utterance, second: Utterance, *more: object) -> bool:
        """Whether these two were not told of before."""
        if first.template is None and second.template is None:
            return True
        pair = *((one.location, one.template or one.text) for one in (first, second)), *more
        known = pair in self._told
        self._told.add(pair)
        return not known


def _hint(utterance: Utterance) -> str:
    return "remove one of the two" if utterance.template is None else "change one of the two templates"


def _repeated(registry: Registry) -> Iterator[tuple[Intent, list[tuple[str, Utterance]]]]:
    """Of each intent the utterances, with their keys, that fold to the same as another of the registry: few, mostly."""
    for owner, some in groupby(registry.repeated, registry.owners.__getitem__):
        yield registry.intents[owner], [(registry.folded[row], registry.utterances[row]) for row in some]


def _worded(utterances: tuple[Utterance, ...]) -> Iterator[tuple[str, Utterance]]:
    """Each with its key; those without words are for `empty_utterance` alone."""
    for utterance in utterances:
        if folded := fold(utterance.text):
            yield folded, utterance


def _place(thing: Intent | Utterance, owner: Intent | None = None) -> Location:
    return thing.location or (owner and owner.location) or NOWHERE
