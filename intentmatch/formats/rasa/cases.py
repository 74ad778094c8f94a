"""Tests of a Rasa bot, collected from its test stories and from NLU data that is kept for testing."""

from __future__ import annotations

from collections.abc import Iterator

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.text.normalize import fold

OUT_OF_SCOPE_NAMES = frozenset({"out_of_scope", "nlu_fallback"})
"""Intents of Rasa that stand for an out-of-scope message."""
_PAYLOAD = "/"
"""Start of a message that is an intent and no text: `/greet{"name": "Anna"}`, as buttons send it."""


class Tests:
    """Collects tests, and adds them to a draft when all intents are known."""

    # A module of tests that imports a class of this name would have it collected by pytest.
    __test__ = False

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[tuple[str, str], Location] = {}

    def add(self, text: str, intent: str, place: Location) -> None:
        """Add a message with its intent. Payloads and repetitions are reported and skipped."""
        text, intent = text.strip(), intent.strip()
        if text.startswith(_PAYLOAD):
            self._draft.note(
                place, "test-data", "messages such as `/greet` in test stories are no text; they are skipped"
            )
        elif text and (text, intent) in self._found:
            self._draft.note(place, "test-data", "messages that are in several test stories are imported once")
        elif text:
            self._found[text, intent] = place

    def finish(self) -> None:
        """Add the tests to the draft. Those that do not name a single intent are reported and skipped."""
        draft = self._draft
        groups = {name.partition("/")[0] for name in draft.intents if "/" in name}
        learned = {fold(line.text) for known in draft.intents.values() for line in known.utterances}
        for (text, intent), place in self._found.items():
            if fold(text) in learned:
                draft.note(place, "known-test", "messages of tests that are utterances as well are recognised by heart")
            if intent in OUT_OF_SCOPE_NAMES and intent in draft.intents:
                message = (
                    f"tests of the intent {intent!r} are not imported: in `tests:`, the name means that no intent fits"
                )
                draft.not_expressed(place, message, "rename the intent")
            elif intent in OUT_OF_SCOPE_NAMES:
                draft.test(text, None, place)
            elif intent in groups and intent not in draft.intents:
                message = (
                    f"tests of the retrieval intent {intent!r} do not say which of its intents; they are not imported"
                )
                draft.not_expressed(place, message, f"write the full name, such as {self._member(intent)}")
            elif intent not in draft.intents and (several := tuple(self._parts(intent))):
                draft.test(text, several, place)
            else:
                draft.test(text, intent, place)

    def _member(self, group: str) -> str:
        return next(name for name in self._draft.intents if name.startswith(f"{group}/"))

    def _parts(self, intent: str) -> Iterator[str]:
        """Yield the intents of a multi-intent such as `greet+thank`; nothing if one of them does not exist."""
        names = intent.split("+")
        if len(set(names)) > 1 and all(name in self._draft.intents for name in names):
            yield from dict.fromkeys(names)
