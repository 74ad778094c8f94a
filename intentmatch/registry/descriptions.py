"""An intent that begins as a description: its description stands beside its first lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.text.normalize import fold

MOST_LINES = 3
"""Lines of an intent beside which its description is read; chosen with `tests/benchmarks/bench_descriptions.py`."""


def described(registry: Registry) -> Registry:
    """Return a registry in which descriptions stand beside the first lines of their intents: `Intent.described`.

    An intent with at most three lines has its description there, and without any line its title too, or its name in
    words. Like a sentence of a template, such a text has the description as its template and the place of its intent.
    What is a line of the registry already, or describes two intents, is left out.
    """
    if not any(_begins(intent) for intent in registry):
        return registry
    known = Counter(fold(utterance.text) for utterance in (*registry.utterances, *registry.negatives))
    known.update(key for intent in registry if _begins(intent) for key in _texts(intent))
    intents = [_with_description(intent, known, registry) if _begins(intent) else intent for intent in registry]
    return replace(registry, intents=tuple(intents))


def _begins(intent: Intent) -> bool:
    lines = {(line.template or line.text, line.location) for line in intent.utterances}
    return len(lines) <= MOST_LINES and bool(fold(intent.description or ""))


def _texts(intent: Intent) -> dict[str, str]:
    """Description, and the label of an intent without lines, by their folded text."""
    texts = [intent.description or "", *([] if intent.utterances else [intent.label])]
    return {key: text for text in texts if (key := fold(text))}


def _with_description(intent: Intent, known: Counter[str], registry: Registry) -> Intent:
    languages = {utterance.language for utterance in intent.utterances} or {*registry.languages}
    language = languages.pop() if len(languages) == 1 else None
    lines = (
        Utterance(text, language, intent.location, template=intent.description)
        for key, text in _texts(intent).items()
        if known[key] == 1
    )
    return replace(intent, described=tuple(lines))
