"""Find out before an edit is written whether a bot with its settings can be loaded.

Files that name a model that is not there, or an inbox that cannot be, would keep the server from its next start.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from intentmatch.core.errors import NOWHERE, DatabaseError, IntentMatchError, Problem
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching.matcher import Matcher

_log = logging.getLogger(__name__)

_INTENTS, _UTTERANCES = 2, 2


def unloadable(matcher: Matcher, registry: Registry) -> Problem | None:
    """Return why a registry with these settings cannot replace that of a matcher; None if it can.

    Nothing is tried, and None returned, if the settings are those in use. Otherwise the models are loaded, and a few
    utterances built and matched, which takes a moment. Raises `DatabaseError`.
    """
    used = matcher.registry.settings
    if registry.settings == used:
        return None
    changed = [name for name in registry.settings if registry.settings[name] != used.get(name)]
    return why_not(matcher.trial, registry, changed, in_database=matcher.address is not None)


def why_not(
    load: Callable[[Registry], object], registry: Registry, changed: Sequence[str], *, in_database: bool
) -> Problem | None:
    """Return why `load` fails for a small registry with these settings, at the first one of `changed`."""
    try:
        load(_smallest(registry, in_database=in_database))
    except DatabaseError:
        # The files may be valid: whoever asked is told to try again, and not that the settings are wrong.
        raise
    except Exception as error:  # noqa: BLE001 - such as one of a model's library
        expected = isinstance(error, IntentMatchError)
        if not expected:
            # Its text may hold paths or addresses of the server, which authors must not see.
            _log.warning("the settings of an edit cannot be loaded: %s", error, exc_info=True)
        reason = f"{error}" if expected else "see the log of the server"
        place = registry.setting_locations.get(changed[0], NOWHERE) if changed else NOWHERE
        return Problem(place, "error", "setting", f"the bot cannot be loaded with these settings: {reason}")
    return None


def _smallest(registry: Registry, *, in_database: bool) -> Registry:
    """Return a registry with the settings of another one and next to nothing of its intents."""
    settings = dict(registry.settings)
    settings.pop("cache", None)  # nothing is to be written there yet
    if in_database and settings.get("index") == "pgvector":
        del settings["index"]  # a registry in memory has no database
    intents = tuple(
        Intent(intent.name, tuple(Utterance(one.text, one.language) for one in intent.all_utterances[:_UTTERANCES]))
        for intent in registry.intents[:_INTENTS]
    )
    return replace(registry, intents=intents, settings=settings, tests=(), slots=(), rules=())
