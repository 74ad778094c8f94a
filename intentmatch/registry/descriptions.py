"""An intent that begins as a description: its description stands beside its first lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.languages.tables import Table
from intentmatch.text.normalize import base_language, fold

_EXCLUSIONS = Table[str]("exclusions")

MOST_LINES = 8
"""Lines of an intent beside which its description is read; chosen with `tests/benchmarks/bench_descriptions.py`."""


def described(registry: Registry) -> Registry:
    """Return a registry in which descriptions stand beside the first lines of their intents: `Intent.described`.

    An intent with at most `MOST_LINES` lines has its description there, and without any line its title too, or its
    name in words. Like a sentence of a template, such a text has the description as its template and the place of its
    intent. What is a line of the registry already, or describes two intents, is left out. What the description excludes
    stands beside the negatives: `Intent.excluded`.
    """
    if not any(_begins(intent) for intent in registry):
        return registry
    parts = {intent.name: _DescribedTexts.of(intent, registry) for intent in registry if _begins(intent)}
    known = Counter(fold(utterance.text) for utterance in (*registry.utterances, *registry.negatives))
    known.update(key for one in parts.values() for key in {*one.said, *one.excluded})
    intents = [parts[intent.name].beside(intent, known) if intent.name in parts else intent for intent in registry]
    return replace(registry, intents=tuple(intents))


def _begins(intent: Intent) -> bool:
    # A template counts as the one line that its author wrote, not as its sentences.
    lines = {(line.template or line.text, line.location) for line in intent.utterances}
    return len(lines) <= MOST_LINES and bool(fold(intent.description or ""))


class _DescribedTexts(NamedTuple):
    """What a description says and excludes, by folded text, and the language that it counts as."""

    said: dict[str, str]
    excluded: dict[str, str]
    language: str | None

    @classmethod
    def of(cls, intent: Intent, registry: Registry) -> _DescribedTexts:
        """Read the description of an intent, and the label of one without lines."""
        languages = {utterance.language for utterance in intent.utterances} or {*registry.languages}
        # Descriptions are often in English, whatever language the bot speaks.
        said, excluded = _apart(intent.description or "", {"en", *registry.languages})
        texts = [said, *([] if intent.utterances else [intent.label])]
        language = languages.pop() if len(languages) == 1 else None
        return cls(_by_key(texts), _by_key(excluded), language)

    def beside(self, intent: Intent, known: Counter[str]) -> Intent:
        """Return the intent with these parts, as far as each is known once."""

        def lines(texts: Mapping[str, str]) -> tuple[Utterance, ...]:
            new = (text for key, text in texts.items() if known[key] == 1)
            return tuple(Utterance(text, self.language, intent.location, template=intent.description) for text in new)

        return replace(intent, described=lines(self.said), excluded=lines(self.excluded))


def _apart(description: str, languages: Iterable[str]) -> tuple[str, list[str]]:
    """Return what a description says, and what it excludes: "refunds" and ["pricing questions"].

    A comma or another mark stands before the words that exclude, such as "but not".
    """
    phrases = "|".join(sorted({found for code in languages if (found := _EXCLUSIONS.get(base_language(code)))}))
    pattern = rf"\s*[,;.(\u2013\u2014-]\s*(?:{phrases})\s+([^.;()]*\w)\)?"
    excluded = [found[1] for found in re.finditer(pattern, description, re.IGNORECASE)]
    said = re.sub(pattern, "", description, flags=re.IGNORECASE)
    # A description that only excludes would say nothing without the exclusion, so it is read whole.
    return (said, excluded) if fold(said) else (description, [])


def _by_key(texts: Iterable[str]) -> dict[str, str]:
    return {key: text for text in texts if (key := fold(text))}
