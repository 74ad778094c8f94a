"""Remove from an imported registry everything that would keep it from loading, with a warning for each piece."""

from __future__ import annotations

from dataclasses import replace

from intentmatch.core.errors import NOWHERE, Location, Problem, counted
from intentmatch.core.shared_lines import may_share
from intentmatch.core.threshold import parse_threshold
from intentmatch.core.types import Case, Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.kit.one_owner import folded_sentences
from intentmatch.formats.kit.slot_mentions import without_unmentioned_slots
from intentmatch.text.normalize import fold


def repair(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Return the registry without the pieces that registry checks report as errors.

    Each warning has the id of the violated check. Warnings are sorted by location.
    """
    found, problems = _repair_once(registry)
    while found != registry:
        # Removing an utterance may change which slot values later templates expand to.
        registry = found
        found, more = _repair_once(registry)
        problems += more
    return found, sorted(problems)


def _repair_once(registry: Registry) -> tuple[Registry, list[Problem]]:
    repairer = _Repairer(registry)
    intents = tuple(intent for intent in map(repairer.intent, registry) if intent is not None)
    known = {intent.name for intent in intents}
    return (
        replace(
            registry,
            intents=intents,
            slots=tuple(map(repairer.slot, registry.slots)),
            tests=tuple(case for case in registry.tests if repairer.has_intent(case, known)),
        ),
        repairer.problems,
    )


class _Repairer:
    """Repairs the intents in order. An utterance of two intents that no tag tells apart stays with the first."""

    def __init__(self, registry: Registry) -> None:
        self.problems: list[Problem] = []
        self._rules = registry.rules
        self._owners: dict[str, list[Intent]] = {}
        self._sentences = folded_sentences(registry)

    def intent(self, intent: Intent) -> Intent | None:
        """Return the repaired intent; None if nothing is left of it."""
        if not intent.name:
            self._skip(
                intent.location,
                "no-name",
                f"an intent without a name, with {counted(len(intent.utterances), 'utterance')}, is skipped",
            )
            return None
        lines = tuple(line for line in intent.utterances if self._has_words(line, intent) and self._claim(line, intent))
        sentences = {sentence for line in lines for sentence in self._folded_sentences(line, intent)}
        negatives = tuple(
            line
            for line in intent.negatives
            if self._has_words(line, intent) and self._is_separate_negative(line, intent, sentences)
        )
        if not lines:
            self._skip(intent.location, "no-utterances", f"the intent {intent.name!r} has no utterances; it is skipped")
            return None
        threshold = intent.threshold
        try:
            threshold = None if threshold is None else parse_threshold(threshold)
        except ValueError:
            message = f"the threshold {threshold} of {intent.name!r} is not between 0 and 1; it is skipped"
            self._skip(intent.location, "threshold", message)
            threshold = None
        slots = tuple(map(self.slot, intent.slots))
        kept = replace(intent, utterances=lines, negatives=negatives, threshold=threshold, slots=slots)
        return without_unmentioned_slots(kept, intent, self._rules)

    def slot(self, slot: Slot) -> Slot:
        """Return the slot without values that have no words and without invalid patterns."""
        values: dict[str, SlotValue] = {}
        for value in slot.values:
            synonyms = tuple(line for line in value.synonyms if fold(line.text))
            if fold(value.value):
                values.setdefault(value.value, replace(value, synonyms=synonyms))
        patterns = tuple(pattern for pattern in slot.patterns if _is_readable(pattern))
        lost = [f"the pattern {pattern!r}" for pattern in slot.patterns if pattern not in patterns]
        lost += [f"the value {value.value!r}" for value in slot.values if not fold(value.value)]
        for piece in lost:
            self._skip(slot.location, "bad-slot", f"{piece} of the slot {slot.name!r} is not usable; it is skipped")
        kind = "any" if (slot.kind, values) == ("list", {}) or (slot.kind, patterns) == ("pattern", ()) else slot.kind
        return replace(slot, kind=kind, values=tuple(values.values()), patterns=patterns)

    def has_intent(self, case: Case, known: set[str]) -> bool:
        """Return whether the intents that a test expects exist."""
        names = (case.expected,) if isinstance(case.expected, str) else case.expected or ()
        if set(names) <= known:
            return True
        self._skip(
            case.location, "unknown-intent", f"the intent of the test “{case.text}” does not exist; the test is skipped"
        )
        return False

    def _has_words(self, line: Utterance, intent: Intent) -> bool:
        if fold(line.text):
            return True
        message = f"the utterance {line.text!r} of {intent.name!r} has no words; it is skipped"
        self._skip(line.location or intent.location, "empty-utterance", message)
        return False

    def _folded_sentences(self, line: Utterance, intent: Intent) -> list[str]:
        """Return the folded sentences that an utterance expands to."""
        return self._sentences.get((intent.name, line.language, line.template or line.text), [])

    def _claim(self, line: Utterance, intent: Intent) -> bool:
        sentences = self._folded_sentences(line, intent)
        owners = (owner for text in sentences for owner in self._owners.get(text, ()))
        owner = next((owner for owner in owners if owner.name != intent.name and not may_share(owner, intent)), None)
        if owner is None:
            for text in sentences:
                self._owners.setdefault(text, []).append(intent)
            return True
        message = f"“{line.text}” of {intent.name!r} already belongs to {owner.name!r}; it is skipped"
        self._skip(line.location or intent.location, "conflicting-utterance", message)
        return False

    def _is_separate_negative(self, line: Utterance, intent: Intent, sentences: set[str]) -> bool:
        if sentences.isdisjoint(self._folded_sentences(line, intent)):
            return True
        message = f"the negative “{line.text}” of {intent.name!r} is also one of its utterances; it is skipped"
        self._skip(line.location or intent.location, "contradicting-negative", message)
        return False

    def _skip(self, place: Location | None, rule: str, message: str) -> None:
        self.problems.append(Problem(place or NOWHERE, "warning", rule, message))


def _is_readable(pattern: str) -> bool:
    """Return whether the `regex` package accepts a pattern."""
    import regex  # slow to import, and few registries have patterns

    try:
        regex.compile(pattern)
    # Nested groups can exceed the recursion limit.
    except (regex.error, RecursionError, OverflowError):
        return False
    return True
