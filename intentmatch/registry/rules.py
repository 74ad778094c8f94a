"""What a registry must obey, whatever file it came from. One function per rule id, named after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from intentmatch.errors import Location, Problem
from intentmatch.text import clean, fold
from intentmatch.types import Intent, Registry, Utterance

Rule = Callable[[Registry], Iterator[Problem]]

_NOWHERE = Location("registry")


def check(registry: Registry) -> list[Problem]:
    """Every problem that any rule finds, sorted by place."""
    return sorted(problem for rule in RULES for problem in rule(registry))


def no_intents(registry: Registry) -> Iterator[Problem]:
    """A registry without intents matches nothing."""
    if not registry.intents:
        yield Problem(_NOWHERE, "error", "no-intents", "there is no intent", "add one below `intents:`")


def no_utterances(registry: Registry) -> Iterator[Problem]:
    """An intent without utterances can never be matched."""
    for intent in registry:
        if not intent.utterances:
            message = f"intent {intent.name!r} has no utterances"
            yield Problem(_place(intent), "error", "no-utterances", message, "list what users say below `utterances:`")


def empty_utterance(registry: Registry) -> Iterator[Problem]:
    """An utterance must hold something that can be read."""
    for intent in registry:
        for utterance in (*intent.utterances, *intent.negatives):
            if not clean(utterance.text):
                message = f"an utterance of {intent.name!r} is empty"
                yield Problem(_place(utterance, intent), "error", "empty-utterance", message, "write it, or remove the line")


def duplicate_utterance(registry: Registry) -> Iterator[Problem]:
    """The same utterance twice in one language of one intent adds nothing."""
    for intent in registry:
        seen: dict[tuple[str, str | None], Utterance] = {}
        for utterance in intent.utterances:
            key = (_key(utterance), utterance.language)
            if key in seen:
                first = _place(seen[key], intent)
                message = f"“{utterance.text}” already stands at {first.short}"
                yield Problem(_place(utterance, intent), "warning", "duplicate-utterance", message, "remove one of the two")
            seen.setdefault(key, utterance)


def conflicting_utterance(registry: Registry) -> Iterator[Problem]:
    """The same utterance in two intents leaves no way to tell them apart."""
    owners: dict[str, tuple[Intent, Utterance]] = {}
    for intent in registry:
        for utterance in intent.utterances:
            owner, first = owners.setdefault(_key(utterance), (intent, utterance))
            if owner.name != intent.name:
                message = f"“{utterance.text}” already belongs to {owner.name!r} ({_place(first, owner).short})"
                hint = "remove one of the two, or merge the intents"
                yield Problem(_place(utterance, intent), "error", "conflicting-utterance", message, hint)


def contradicting_negative(registry: Registry) -> Iterator[Problem]:
    """What is an utterance of an intent cannot also be what the intent is not."""
    for intent in registry:
        wanted = {_key(utterance): utterance for utterance in intent.utterances}
        for negative in intent.negatives:
            if (utterance := wanted.get(_key(negative))) is not None:
                message = f"“{negative.text}” is also an utterance of {intent.name!r} ({_place(utterance, intent).short})"
                yield Problem(_place(negative, intent), "error", "contradicting-negative", message, "remove one of the two")


RULES: tuple[Rule, ...] = (
    no_intents,
    no_utterances,
    empty_utterance,
    duplicate_utterance,
    conflicting_utterance,
    contradicting_negative,
)


def _key(utterance: Utterance) -> str:
    """What makes two utterances the same; one of nothing but punctuation is only the same as itself."""
    return fold(utterance.text) or utterance.text


def _place(thing: Intent | Utterance, owner: Intent | None = None) -> Location:
    return thing.location or (owner and owner.location) or _NOWHERE
