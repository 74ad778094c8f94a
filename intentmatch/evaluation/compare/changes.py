"""Find what an edit changed: the intents and utterances, and each answer that differs, with its reasons.

Pure functions of two registries and of the outcomes on both sides.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports.number_format import place
from intentmatch.text.normalize import fold

Effect = Literal["better", "worse", "other"]
SourceName = Literal["held_out", "tests", "messages"]

# A removed and an added intent count as one renamed intent if their utterances overlap this much (Jaccard index).
_SAME_INTENT = 0.5


@dataclass(frozen=True)
class RegistryDifference:
    """Difference between two registries by intent and utterance; locations in files are ignored."""

    old: Registry
    new: Registry
    renamed: Mapping[str, str]
    """Old name to new name."""

    @classmethod
    def between(cls, old: Registry, new: Registry) -> RegistryDifference:
        """Compare two registries."""
        return cls(old, new, _renamed(old, new))

    @property
    def added(self) -> list[str]:
        """Names of intents that only the new registry has."""
        return [i.name for i in self.new if i.name not in self.old and i.name not in self.renamed.values()]

    @property
    def removed(self) -> list[str]:
        """Names of intents that only the old registry has."""
        return [i.name for i in self.old if i.name not in self.new and i.name not in self.renamed]

    def new_name(self, name: str) -> str:
        """Return the new name of an old intent."""
        return self.renamed.get(name, name)

    def lines(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Map each text to its intents, by their new names, in the old and in the new registry."""
        return _owners(self.old, self.renamed), _owners(self.new, {})

    def translated(self, outcome: Outcome) -> Outcome:
        """Return an outcome of the old side with the new intent names."""
        if not self.renamed:
            return outcome
        expected = outcome.case.expected
        named = (
            tuple(map(self.new_name, expected))
            if isinstance(expected, tuple)
            else None
            if expected is None
            else self.new_name(expected)
        )
        return replace(
            outcome,
            case=replace(outcome.case, expected=named),
            intent=outcome.intent and self.new_name(outcome.intent),
            leading=outcome.leading and self.new_name(outcome.leading),
            rivals=tuple(map(self.new_name, outcome.rivals)),
        )


class AnswerChange(NamedTuple):
    """A message with a different answer on both sides."""

    source: SourceName
    effect: Effect
    old: Outcome
    new: Outcome
    reasons: tuple[str, ...]
    direct: bool
    """Whether an edited intent or utterance caused it, and not only the training on all utterances."""

    @property
    def intent(self) -> str | None:
        """The intent concerned: the expected one, otherwise the one that matches now or matched before."""
        expected = self.new.case.expected
        return expected if isinstance(expected, str) else self.new.intent or self.old.intent

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {"source": self.source, "effect": self.effect, "direct": self.direct, "reasons": list(self.reasons)}
        asked = {key: self.new.to_dict()[key] for key in ("text", "expected", "language", "location")}
        if self.source == "messages":
            asked["expected"] = "unknown"
        return {**asked, **values, "old": _answer(self.old), "new": _answer(self.new)}


class IntentEffect(NamedTuple):
    """Effect of the edit on one intent."""

    intent: str
    added: int
    """Number of new utterances."""
    removed: int
    cases: int
    """Held-out utterances evaluated on both sides."""
    before: float | None
    """Share of these cases that was correct on the old side."""
    now: float | None
    fixed: int
    """Held-out utterances and test cases that became correct."""
    broken: int

    @property
    def touched(self) -> bool:
        """Whether the edit affected the intent."""
        return bool(self.added or self.removed or self.fixed or self.broken)


def changes(
    source: SourceName, olds: Sequence[Outcome], news: Sequence[Outcome], edit: RegistryDifference
) -> list[AnswerChange]:
    """Return the messages whose intent or verdict differs, with the reasons; answers that became wrong come first.

    The reasons name the edits involved, and the change in ranking, confidence or threshold.
    """
    before, after = edit.lines()
    found = []
    for original, new in zip(olds, news, strict=True):
        old = edit.translated(original)
        if (old.verdict, old.answer) == (new.verdict, new.answer):
            continue
        effect: Effect = "other"
        # Nobody has said what the right answer to a logged message is.
        if source != "messages" and old.right != new.right:
            effect = "better" if new.right else "worse"
        edited = _edited(old, new, before, after, edit)
        found.append(AnswerChange(source, effect, old, new, (*edited, *_trained(old, new)), bool(edited)))
    # What the author must look at comes first.
    order = ("worse", "better", "other")
    return sorted(found, key=lambda c: (order.index(c.effect), not c.direct, c.intent or "", c.new.case.text))


def describe_answer(outcome: Outcome) -> str:
    """Describe an answer in one line: the answer, its confidence or score, and the nearest utterance."""
    certainty = f"score {outcome.score:.2f}" if outcome.confidence is None else f"confidence {outcome.confidence:.2f}"
    return f"{outcome.answer}, {certainty}" + (f", nearest {_line(outcome.nearest)}" if outcome.nearest else "")


def intent_rows(
    edit: RegistryDifference, held_out: Sequence[tuple[Outcome, Outcome]], found: Sequence[AnswerChange]
) -> list[IntentEffect]:
    """Return a row for each intent of the new registry and each removed intent; the worst effect comes first."""
    names = [intent.name for intent in edit.new]
    before_names = {edit.new_name(intent.name): intent for intent in edit.old}
    labelled = [change for change in found if change.source != "messages"]
    fixed = Counter(change.intent for change in labelled if change.effect == "better")
    broken = Counter(change.intent for change in labelled if change.effect == "worse")
    rows = []
    for name in [*names, *edit.removed]:
        now = _texts(edit.new[name]) if name in edit.new else Counter()
        was = _texts(before_names[name]) if name in before_names else Counter()
        own = [(old.right, new.right) for old, new in held_out if new.case.expected == name]
        rows.append(
            IntentEffect(
                intent=name,
                added=(now - was).total(),
                removed=(was - now).total(),
                cases=len(own),
                before=sum(old for old, _ in own) / len(own) if own else None,
                now=sum(new for _, new in own) / len(own) if own else None,
                fixed=fixed[name],
                broken=broken[name],
            )
        )
    return sorted(rows, key=lambda row: (row.fixed - row.broken, -row.broken, row.intent))


def _edited(
    old: Outcome, new: Outcome, before: Mapping[str, set[str]], after: Mapping[str, set[str]], edit: RegistryDifference
) -> list[str]:
    """Describe the edits that caused the change; `before` and `after` map each text to its intents."""
    found = []
    if new.leading is not None and new.leading in edit.added:
        found.append(f"the intent {new.leading} is new")
    if old.leading is not None and old.leading in edit.removed:
        found.append(f"the intent {old.leading} was removed")
    return found + _new_line(new, before) + _lost_line(old, new, after)


def _trained(old: Outcome, new: Outcome) -> list[str]:
    """Describe how the first candidate, its confidence and its threshold changed."""
    found = []
    if new.leading != old.leading and new.leading is not None:
        found.append(f"{new.leading} ranks first instead of {old.leading or 'nothing'}{_certainties(old, new)}")
    elif new.leading is not None and _two_digits(old.confidence) != _two_digits(new.confidence):
        verb = "fell" if (new.confidence or 0.0) < (old.confidence or 0.0) else "rose"
        values = f"from {_two_digits(old.confidence)} to {_two_digits(new.confidence)}"
        found.append(f"the confidence in {new.leading} {verb} {values}")
    elif new.leading is not None and _two_digits(old.score) != _two_digits(new.score):
        found.append(f"the score of {new.leading} changed from {_two_digits(old.score)} to {_two_digits(new.score)}")
    if new.leading == old.leading and _two_digits(old.threshold) != _two_digits(new.threshold):
        found.append(f"its threshold changed from {_threshold(old)} to {_threshold(new)}")
    if new.rivals and new.rivals != old.rivals:
        found.append(_doubt(new.rivals, "", "now"))
    elif old.rivals and not new.rivals:
        found.append(_doubt(old.rivals, "no longer ", "no longer"))
    return found or ["training on the edited utterances changed the result slightly"]


def _doubt(rivals: Sequence[str], among: str, alone: str) -> str:
    """Say why a message is asked about: its rivals are close, or it refuses the only one."""
    if len(rivals) == 1:
        return f"the message {alone} counts as a refusal of {rivals[0]}"
    return f"{' and '.join(rivals)} are {among}too close to tell apart"


def _new_line(new: Outcome, before: Mapping[str, set[str]]) -> list[str]:
    if new.nearest is None or new.leading is None:
        return []
    owners = before.get(new.nearest.text, set())
    if new.leading in owners:
        return []
    if owners:
        return [f"its nearest utterance moved here from {_names(owners)}: {_line(new.nearest)}"]
    return [f"its nearest utterance is new: {_line(new.nearest)}"]


def _lost_line(old: Outcome, new: Outcome, after: Mapping[str, set[str]]) -> list[str]:
    if old.nearest is None or old.leading is None:
        return []
    owners = after.get(old.nearest.text, set())
    if old.leading in owners or (new.nearest is not None and new.nearest.text == old.nearest.text):
        return []
    if owners:
        return [f"its nearest utterance before moved to {_names(owners)}: {_line(old.nearest)}"]
    return [f"its nearest utterance before was removed: {_line(old.nearest)}"]


def _renamed(old: Registry, new: Registry) -> dict[str, str]:
    """Map old to new names of intents that share most of their utterances, each name at most once."""
    removed = [intent for intent in old if intent.name not in new]
    added = [intent for intent in new if intent.name not in old]
    lines = {intent.name: set(map(fold, _texts(intent))) for intent in (*removed, *added)}
    pairs = []
    for was, now in itertools.product(removed, added):
        ours, theirs = lines[was.name], lines[now.name]
        shared = len(ours & theirs) / max(1, len(ours | theirs))
        if shared >= _SAME_INTENT:
            pairs.append((-shared, was.name, now.name))
    found: dict[str, str] = {}
    # The most alike first, so that a split intent is renamed to its larger part.
    for _, name, now_name in sorted(pairs):
        if name not in found and now_name not in found.values():
            found[name] = now_name
    return found


def _owners(registry: Registry, names: Mapping[str, str]) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for intent in registry:
        for utterance in intent.utterances:
            owners.setdefault(utterance.text, set()).add(names.get(intent.name, intent.name))
    return owners


def _texts(intent: Intent) -> Counter[str]:
    """Count the lines of an intent; the consecutive sentences of a template are one line."""
    before = (None, *intent.utterances)
    lines = (one for one, last in zip(intent.utterances, before, strict=False) if not (last and one.same_line(last)))
    return Counter(one.template or one.text for one in lines)


def _certainties(old: Outcome, new: Outcome) -> str:
    if old.confidence is None or new.confidence is None:
        return f" (score {old.score:.2f} before, {new.score:.2f} now)"
    return f" (confidence {old.confidence:.2f} before, {new.confidence:.2f} now)"


def _threshold(outcome: Outcome) -> str:
    """Return the threshold for display: a percentage of a probability, a number on the score."""
    if outcome.threshold is None or outcome.threshold_on in (None, "score"):
        return _two_digits(outcome.threshold)
    return f"{outcome.threshold:.0%} {'in scope' if outcome.threshold_on == 'in_scope' else 'confidence'}"


def _two_digits(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _names(owners: set[str]) -> str:
    return " and ".join(sorted(owners))


def _line(utterance: Utterance) -> str:
    return f"“{utterance.text}” {place(utterance.location)}".rstrip()


def _answer(outcome: Outcome) -> dict[str, Any]:
    values = outcome.to_dict()
    return {key: values[key] for key in values if key not in ("text", "expected", "language", "location")}
