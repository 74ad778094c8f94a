"""Intent matching for chatbots: YAML utterances in, one honest decision out.

In five lines:

    from intentmatch import Matcher

    matcher = Matcher.load("intents/")
    result = matcher.match("wo ist mein Paket?")
    print(result.intent, result.confidence)
    print(result.explain())

The README has the tour.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intentmatch.artefact.artefact import Artefact
    from intentmatch.artefact.store import load_artefact, save_artefact
    from intentmatch.core.errors import (
        IntentMatchError,
        Location,
        MissingExtraError,
        Problem,
        RegistryError,
        UnknownNameError,
    )
    from intentmatch.core.result import Candidate, Entity, MatchResult, Missing, Trait, WordMatch
    from intentmatch.core.settings import Settings
    from intentmatch.core.types import (
        Encoder,
        Intent,
        Registry,
        Reranker,
        Rule,
        Slot,
        SlotValue,
        TraitQuestion,
        Utterance,
    )
    from intentmatch.dialogue import Choice, Dialogue, MemoryStore, Phrases, Store, Turn
    from intentmatch.matching.matcher import Matcher
    from intentmatch.registry import read_registry
    from intentmatch.registry.editing.plan import plan_utterances

__version__ = "0.3.0"

_HOMES = {
    "Artefact": "artefact.artefact",
    "Candidate": "core.result",
    "Choice": "dialogue",
    "Dialogue": "dialogue",
    "Encoder": "core.types",
    "Entity": "core.result",
    "Intent": "core.types",
    "IntentMatchError": "core.errors",
    "Location": "core.errors",
    "MatchResult": "core.result",
    "Matcher": "matching.matcher",
    "MemoryStore": "dialogue",
    "Missing": "core.result",
    "MissingExtraError": "core.errors",
    "Phrases": "dialogue",
    "Problem": "core.errors",
    "Registry": "core.types",
    "RegistryError": "core.errors",
    "Reranker": "core.types",
    "Rule": "core.types",
    "Settings": "core.settings",
    "Slot": "core.types",
    "SlotValue": "core.types",
    "Store": "dialogue",
    "Trait": "core.result",
    "TraitQuestion": "core.types",
    "Turn": "dialogue",
    "UnknownNameError": "core.errors",
    "Utterance": "core.types",
    "WordMatch": "core.result",
    "load_artefact": "artefact.store",
    "plan_utterances": "registry.editing.plan",
    "read_registry": "registry",
    "save_artefact": "artefact.store",
}

# Written out, because type checkers and editors read no expression; a test compares it with the names above.
__all__ = [
    "Artefact",
    "Candidate",
    "Choice",
    "Dialogue",
    "Encoder",
    "Entity",
    "Intent",
    "IntentMatchError",
    "Location",
    "MatchResult",
    "Matcher",
    "MemoryStore",
    "Missing",
    "MissingExtraError",
    "Phrases",
    "Problem",
    "Registry",
    "RegistryError",
    "Reranker",
    "Rule",
    "Settings",
    "Slot",
    "SlotValue",
    "Store",
    "Trait",
    "TraitQuestion",
    "Turn",
    "UnknownNameError",
    "Utterance",
    "WordMatch",
    "load_artefact",
    "plan_utterances",
    "read_registry",
    "save_artefact",
]

# A library says nothing on stderr unless its program configures logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    # Names are fetched when they are first used: a bot that only reads `RegistryError` should not load a tokenizer.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    # From now on the name is found without this function.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
