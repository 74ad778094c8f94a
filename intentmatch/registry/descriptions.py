"""An intent that begins as a description: it is read as a line until the intent has lines of its own.

Title, or the name in words, and description of one sentence alone, first candidate right with the embedded encoder and
with MiniLM, 500 messages each: clinc150 72.6 and 79.2, banking77 65.0 and 71.2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.text.normalize import fold


def described(registry: Registry) -> Registry:
    """Return a registry in which title and description stand for the lines of an intent that has none.

    Like a sentence of a template, such a line has the description as its template and the place of its intent. What is
    a line of the registry already, or describes two intents, is left out.
    """
    if not any(_begins(intent) for intent in registry):
        return registry
    known = Counter(fold(utterance.text) for utterance in (*registry.utterances, *registry.negatives))
    known.update(key for intent in registry if _begins(intent) for key in _texts(intent))
    intents = [_with_description(intent, known) if _begins(intent) else intent for intent in registry]
    return replace(registry, intents=tuple(intents))


def is_description(utterance: Utterance, intent: Intent) -> bool:
    """Whether an utterance of an intent is its description or title, which `described` added."""
    return utterance.template is not None and (utterance.template, utterance.location) == (
        intent.description,
        intent.location,
    )


def _begins(intent: Intent) -> bool:
    return not intent.utterances and bool(fold(intent.description or ""))


def _texts(intent: Intent) -> dict[str, str]:
    """Description and label, by their folded text."""
    return {key: text for text in (intent.description or "", intent.label) if (key := fold(text))}


def _with_description(intent: Intent, known: Counter[str]) -> Intent:
    lines = [
        Utterance(text, None, intent.location, template=intent.description)
        for key, text in _texts(intent).items()
        if known[key] == 1
    ]
    return replace(intent, utterances=tuple(lines))
