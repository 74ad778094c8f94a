"""Whether a model still understands the languages that a registry lacks.

A multilingual model that is trained on English alone can forget the others. Texts of these languages are anchored
during training, and translations are looked up before and after it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np
import yaml

from intentmatch.core.types import Encoder, Registry
from intentmatch.dialogue.phrases import shipped
from intentmatch.encoders.coverage import Coverage
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.pieces.languages import piece_languages
from intentmatch.registry.starters import STARTERS, starter
from intentmatch.text.normalize import base_language, clean

_PIVOT = "en"
_MOST_GUESSED = 300
"""Most utterances by which the language of a registry is guessed whose author names none."""


class TranslationPair(NamedTuple):
    """A sentence in English and its translation."""

    english: str
    language: str
    translation: str


def own_languages(registry: Registry) -> frozenset[str]:
    """Return the languages of a registry without regions: those that the author names, or a guess if there are none."""
    if registry.languages:
        return frozenset(map(base_language, registry.languages))
    # Spread over the whole registry, since the first intents may be in another language.
    rows = registry.utterances[:: max(1, -(-len(registry.utterances) // _MOST_GUESSED))]
    found = [piece_languages().evidence_of(clean(utterance.text)) for utterance in rows]
    told = [evidence for evidence in found if evidence is not None]
    if not told:
        return frozenset()
    place = int((np.sum(told, axis=0) + piece_languages().prior).argmax())
    return frozenset({base_language(piece_languages().codes[place])})


def lacking(registry: Registry, encoder: Encoder) -> frozenset[str]:
    """Return the languages of the parallel lines that the encoder may know and the registry does not have."""
    coverage, own = Coverage(encoder), own_languages(registry)
    listed = {pair.language for pair in parallel_lines()} | {_PIVOT}
    return frozenset(code for code in listed if coverage.covers(code) and code not in own)


def anchor_texts(languages: Collection[str]) -> tuple[str, ...]:
    """Return texts in some languages, whose vectors shall stay where they are during training.

    They are everyday messages for development; no parallel line is among them.
    """
    return tuple(clean(case.text) for case in everyday_messages(languages, "development")) if languages else ()


@cache
def parallel_lines() -> tuple[TranslationPair, ...]:
    """Return English sentences and their translations, from the starters and the phrases of a dialogue."""
    found: dict[TranslationPair, None] = {}
    for name in STARTERS:
        for intent in yaml.safe_load(starter(name))["intents"].values():
            lines = {language: list(map(clean, texts)) for language, texts in intent["utterances"].items()}
            for language in sorted(lines.keys() - {_PIVOT}):
                # A starter has the same lines in the same order in each of its languages.
                pairs = zip(lines[_PIVOT], lines[language], strict=True)
                found |= {TranslationPair(english, language, translation): None for english, translation in pairs}
    english = shipped()[_PIVOT]
    for language, phrases in shipped().items():
        for key in ("did_you_mean", "none_of_these", "too_late", "dropped"):
            if base_language(language) != _PIVOT:
                pair = clean(getattr(english, key)), base_language(language), clean(getattr(phrases, key))
                found[TranslationPair(*pair)] = None
    return tuple(found)


def found_translations(encoder: Encoder, languages: Collection[str]) -> float | None:
    """Return the mean share, over languages, of lines whose nearest English line is their translation.

    None if no parallel line is in one of these languages.
    """
    pairs = [pair for pair in parallel_lines() if pair.language in languages]
    if not pairs:
        return None
    sentences = list(dict.fromkeys(pair.english for pair in parallel_lines()))
    similar = encoder.encode([pair.translation for pair in pairs]) @ encoder.encode(sentences).T
    nearest = similar.argmax(axis=1).tolist()
    right: dict[str, list[bool]] = {}
    for pair, row in zip(pairs, nearest, strict=True):
        right.setdefault(pair.language, []).append(sentences[row] == pair.english)
    return float(np.mean([np.mean(some) for some in right.values()]))
