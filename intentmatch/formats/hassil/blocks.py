"""Merge the settings of sentence blocks. An intent of intentmatch has one `metadata` for all of its sentences."""

from __future__ import annotations

from typing import Any

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.tree import Value

TAG = "tag"
"""Key of `requires_context` whose values are the tags of `when`."""
SETTING = (
    "slots",
    "response",
    "requires_context",
    "excludes_context",
    "required_keywords",
    "name_domains",
    "inferred_domain",
)
"""Settings of a block that are kept as metadata."""
_UNCHECKED = ("requires_context", "excludes_context")
_READ = frozenset({"sentences", "lists", "expansion_rules", "metadata", "example", *SETTING})


class Blocks:
    """Collects the settings of all blocks, and adds them to the metadata of the intents at the end."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._settings: dict[str, list[dict[str, tuple[Any, Location]]]] = {}

    def add(self, intent: IntentDraft, block: Value) -> None:
        """Collect the settings of one block of an intent."""
        settings = {key: (block[key].plain(), block[key].location) for key in SETTING if block[key]}
        for key, value in block["metadata"].entries():
            settings.setdefault(key, (value.plain(), value.location))
        context, place = settings.get("requires_context", ({}, intent.location))
        if isinstance(context, dict) and isinstance(context.get(TAG), list):
            # Taken out of the context, of which only the rest has no effect here.
            tags = [str(tag) for tag in context.pop(TAG)]
            intent.when += [tag for tag in tags if tag not in intent.when]
            if not context:
                del settings["requires_context"]
        for key in set(_UNCHECKED) & set(settings):
            self._draft.not_expressed(place, f"`{key}` has no effect; it is kept as metadata")
        for key, value in block.entries():
            if key not in _READ:
                self._draft.not_expressed(value.location, f"`{key}` of a block is not imported")
        self._settings.setdefault(intent.name, []).append(settings)

    def finish(self) -> None:
        """Write the collected settings to the metadata of their intents."""
        for name, blocks in self._settings.items():
            for key in dict.fromkeys(key for settings in blocks for key in settings):
                self._draft.intents[name].metadata[key] = self._merged(name, key, blocks)

    def _merged(self, name: str, key: str, blocks: list[dict[str, tuple[Any, Location]]]) -> Any:
        """Return the common value of a setting, or a list of all values if the blocks differ."""
        values = [settings[key][0] if key in settings else None for settings in blocks]
        if all(value == values[0] for value in values):
            return values[0]
        place = next(settings[key][1] for settings in blocks if key in settings)
        message = (
            f"the blocks of {name!r} differ in `{key}`; all values are kept, but not which sentences they belong to"
        )
        self._draft.not_expressed(place, message)
        return [value for number, value in enumerate(values) if value is not None and value not in values[:number]]
