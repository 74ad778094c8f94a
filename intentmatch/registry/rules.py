"""What a registry must obey, whatever file it came from. One function per rule id, named after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

from intentmatch.errors import Location, Problem, suggest
from intentmatch.text import fold
from intentmatch.types import Case, Intent, Registry, Utterance

Key = Callable[[str], str]
"""What makes two utterances the same: `fold`, worked out once for each text."""

Rule = Callable[[Registry, Key], Iterator[Problem]]

NOWHERE = Location("registry")


def check(registry: Registry) -> list[Problem]:
    """Every problem that any rule finds, sorted by place; what came from code stands at `registry`."""
    key = cache(fold)
    return sorted(problem for rule in RULES for problem in rule(registry, key))


def no_intents(registry: Registry, key: Key) -> Iterator[Problem]:
    """A registry without intents matches nothing."""
    if not registry.intents:
        yield Problem(NOWHERE, "error", "no-intents", "there is no intent", "add one below `intents:`")


def intent_redefined(registry: Registry, key: Key) -> Iterator[Problem]:
    """A name stands for one intent. In YAML the reader has merged what is spread over files."""
    seen: set[str] = set()
    for intent in registry:
        if intent.name in seen:
            hint = "rename one of them, or put their utterances together"
            yield Problem(_place(intent), "error", "intent-redefined", f"there are two intents {intent.name!r}", hint)
        seen.add(intent.name)


def threshold(registry: Registry, key: Key) -> Iterator[Problem]:
    """A threshold is a score that can be reached. In YAML the grammar has seen to it."""
    for intent in registry:
        if intent.threshold is not None and not 0.0 <= intent.threshold <= 1.0:
            message = f"threshold {intent.threshold} of {intent.name!r} is not usable: it must be a number from 0 to 1"
            yield Problem(_place(intent), "error", "threshold", message)


def no_utterances(registry: Registry, key: Key) -> Iterator[Problem]:
    """An intent without utterances can never be matched."""
    for intent in registry:
        if not intent.utterances:
            message = f"intent {intent.name!r} has no utterances"
            yield Problem(_place(intent), "error", "no-utterances", message, "list what users say below `utterances:`")


def empty_utterance(registry: Registry, key: Key) -> Iterator[Problem]:
    """An utterance must hold something beside punctuation."""
    for intent in registry:
        for utterance in (*intent.utterances, *intent.negatives):
            if not key(utterance.text):
                message = f"the utterance {utterance.text!r} of {intent.name!r} has no words"
                hint = "write it, or remove the line"
                yield Problem(_place(utterance, intent), "error", "empty-utterance", message, hint)


def duplicate_utterance(registry: Registry, key: Key) -> Iterator[Problem]:
    """The same utterance twice in one language of one intent adds nothing."""
    for intent in registry:
        seen: dict[tuple[str, str | None], Utterance] = {}
        for folded, utterance in _worded(intent.utterances, key):
            same = (folded, utterance.language)
            if same in seen:
                first = _place(seen[same], intent)
                message = f"“{utterance.text}” already stands at {first.short}"
                hint = "remove one of the two"
                yield Problem(_place(utterance, intent), "warning", "duplicate-utterance", message, hint)
            seen.setdefault(same, utterance)


def conflicting_utterance(registry: Registry, key: Key) -> Iterator[Problem]:
    """The same utterance in two intents leaves no way to tell them apart."""
    owners: dict[str, tuple[Intent, Utterance]] = {}
    for intent in registry:
        for folded, utterance in _worded(intent.utterances, key):
            owner, first = owners.setdefault(folded, (intent, utterance))
            if owner.name != intent.name:
                message = f"“{utterance.text}” already belongs to {owner.name!r} ({_place(first, owner).short})"
                hint = "remove one of the two, or merge the intents"
                yield Problem(_place(utterance, intent), "error", "conflicting-utterance", message, hint)


def contradicting_negative(registry: Registry, key: Key) -> Iterator[Problem]:
    """What is an utterance of an intent cannot also be what the intent is not."""
    for intent in registry:
        wanted = dict(_worded(intent.utterances, key))
        for folded, negative in _worded(intent.negatives, key):
            if (utterance := wanted.get(folded)) is not None:
                where = _place(utterance, intent).short
                message = f"“{negative.text}” is also an utterance of {intent.name!r} ({where})"
                hint = "remove one of the two"
                yield Problem(_place(negative, intent), "error", "contradicting-negative", message, hint)


def unknown_intent(registry: Registry, key: Key) -> Iterator[Problem]:
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


def _worded(utterances: tuple[Utterance, ...], key: Key) -> Iterator[tuple[str, Utterance]]:
    """Each with its key; those without words are for `empty_utterance` alone."""
    for utterance in utterances:
        if folded := key(utterance.text):
            yield folded, utterance


def _place(thing: Intent | Utterance, owner: Intent | None = None) -> Location:
    return thing.location or (owner and owner.location) or NOWHERE
