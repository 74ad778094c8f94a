"""What blocks of sentences say beside them. An intent of ours has one `metadata` for all of its sentences."""

from __future__ import annotations

from typing import Any

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.tree import Value

TAG = "tag"
"""The key of `requires_context` whose values are the tags of `when`."""
SETTING = ("slots", "response", "requires_context", "excludes_context", "required_keywords", "name_domains")
"""What a block may say, and is kept as it is where all blocks of an intent say the same."""
_UNCHECKED = ("requires_context", "excludes_context")
_READ = frozenset({"sentences", "lists", "expansion_rules", "metadata", *SETTING})


class Blocks:
    """Collects what blocks say, and gives it to their intents when all are read."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._said: dict[str, list[dict[str, tuple[Any, Location]]]] = {}

    def add(self, intent: IntentDraft, block: Value) -> None:
        """One block of an intent."""
        said = {key: (block[key].plain(), block[key].location) for key in SETTING if block[key]}
        for key, value in block["metadata"].entries():
            said.setdefault(key, (value.plain(), value.location))
        context, place = said.get("requires_context", ({}, intent.location))
        if isinstance(context, dict) and isinstance(context.get(TAG), list):
            tags = [str(tag) for tag in context.pop(TAG)]
            intent.when += [tag for tag in tags if tag not in intent.when]
            if not context:
                del said["requires_context"]
        for key in set(_UNCHECKED) & set(said):
            self._draft.not_expressed(place, f"`{key}` has no effect; it is kept as metadata")
        for key, value in block.entries():
            if key not in _READ:
                self._draft.not_expressed(value.location, f"`{key}` of a block is not imported")
        self._said.setdefault(intent.name, []).append(said)

    def finish(self) -> None:
        """Make metadata of everything."""
        for name, blocks in self._said.items():
            for key in dict.fromkeys(key for said in blocks for key in said):
                self._draft.intents[name].metadata[key] = self._of_all(name, key, blocks)

    def _of_all(self, name: str, key: str, blocks: list[dict[str, tuple[Any, Location]]]) -> Any:
        """What all blocks say, or everything that any of them says."""
        values = [said[key][0] if key in said else None for said in blocks]
        if all(value == values[0] for value in values):
            return values[0]
        place = next(said[key][1] for said in blocks if key in said)
        message = (
            f"the blocks of {name!r} differ in `{key}`; all values are kept, but not which sentences they belong to"
        )
        self._draft.not_expressed(place, message)
        return [value for number, value in enumerate(values) if value is not None and value not in values[:number]]
