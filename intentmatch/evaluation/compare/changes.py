"""What an edit of the intents changed: the edit itself, and each answer that came out otherwise, with the reasons.

Pure functions of two registries and of the outcomes on either side.
"""

from __future__ import annotations

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

# An intent that is gone is taken for a new one if they share so much of all their utterances.
_SAME_INTENT = 0.5


@dataclass(frozen=True)
class Edit:
    """What differs between two registries, by intent and utterance. Places in files do not count."""

    old: Registry
    new: Registry
    renamed: Mapping[str, str]
    """Old name to new name."""

    @classmethod
    def between(cls, old: Registry, new: Registry) -> Edit:
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

    def now(self, name: str) -> str:
        """What the new registry calls an intent of the old one."""
        return self.renamed.get(name, name)

    def lines(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The intents of each text, by the new names, on the old side and on the new one."""
        return _owners(self.old, self.renamed), _owners(self.new, {})

    def translated(self, outcome: Outcome) -> Outcome:
        """An outcome of the old side, told with the new names."""
        if not self.renamed:
            return outcome
        expected = outcome.case.expected
        named = (
            tuple(map(self.now, expected))
            if isinstance(expected, tuple)
            else None
            if expected is None
            else self.now(expected)
        )
        return replace(
            outcome,
            case=replace(outcome.case, expected=named),
            intent=outcome.intent and self.now(outcome.intent),
            leading=outcome.leading and self.now(outcome.leading),
            rivals=tuple(map(self.now, outcome.rivals)),
        )


class Change(NamedTuple):
    """A message that is answered otherwise than before."""

    source: SourceName
    effect: Effect
    old: Outcome
    new: Outcome
    reasons: tuple[str, ...]
    direct: bool
    """Whether it rests on an intent or an utterance that was edited, and not only on what is learned from all."""

    @property
    def intent(self) -> str | None:
        """The intent that the change is about: the expected one, else the one that answers or answered."""
        expected = self.new.case.expected
        return expected if isinstance(expected, str) else self.new.intent or self.old.intent

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        values = {"source": self.source, "effect": self.effect, "direct": self.direct, "reasons": list(self.reasons)}
        asked = {key: self.new.to_dict()[key] for key in ("text", "expected", "language", "location")}
        if self.source == "messages":
            asked["expected"] = "unknown"
        return {**asked, **values, "old": _answer(self.old), "new": _answer(self.new)}


class IntentRow(NamedTuple):
    """What the edit did to one intent."""

    intent: str
    added: int
    """Utterances that it did not have."""
    removed: int
    cases: int
    """Held-out utterances that both sides were asked."""
    before: float | None
    """Share of those that was right."""
    now: float | None
    fixed: int
    """Held-out utterances and test cases."""
    broken: int

    @property
    def touched(self) -> bool:
        """Whether there is anything to tell of it."""
        return bool(self.added or self.removed or self.fixed or self.broken)


def changes(source: SourceName, olds: Sequence[Outcome], news: Sequence[Outcome], edit: Edit) -> list[Change]:
    """Each pair of outcomes of one message that differ in intent or verdict; what became worse first.

    Each comes with why: what was edited, and how what is learned from all utterances moved.
    """
    before, after = edit.lines()
    found = []
    for told, new in zip(olds, news, strict=True):
        old = edit.translated(told)
        if _said(old) == _said(new):
            continue
        effect: Effect = "other"
        if source != "messages" and old.right != new.right:
            effect = "better" if new.right else "worse"
        edited = _edited(old, new, before, after, edit)
        found.append(Change(source, effect, old, new, (*edited, *_learned(old, new)), bool(edited)))
    order = ("worse", "better", "other")
    return sorted(found, key=lambda c: (order.index(c.effect), not c.direct, c.intent or "", c.new.case.text))


def told(outcome: Outcome) -> str:
    """One answer in a line: what it was, how sure, and what it rests on."""
    sure = f"score {outcome.score:.2f}" if outcome.confidence is None else f"confidence {outcome.confidence:.2f}"
    return f"{outcome.said}, {sure}" + (f", nearest {_line(outcome.nearest)}" if outcome.nearest else "")


def intent_rows(edit: Edit, held_out: Sequence[tuple[Outcome, Outcome]], found: Sequence[Change]) -> list[IntentRow]:
    """A row for each intent of the new registry and each that is gone, those with most broken first."""
    names = [intent.name for intent in edit.new]
    before_names = {edit.now(intent.name): intent for intent in edit.old}
    labelled = [change for change in found if change.source != "messages"]
    fixed = Counter(change.intent for change in labelled if change.effect == "better")
    broken = Counter(change.intent for change in labelled if change.effect == "worse")
    rows = []
    for name in [*names, *edit.removed]:
        now = _texts(edit.new[name]) if name in edit.new else Counter()
        was = _texts(before_names[name]) if name in before_names else Counter()
        own = [(old.right, new.right) for old, new in held_out if new.case.expected == name]
        rows.append(
            IntentRow(
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
    old: Outcome, new: Outcome, before: Mapping[str, set[str]], after: Mapping[str, set[str]], edit: Edit
) -> list[str]:
    """The edits that the change rests on; `before` and `after` are the intents of each text."""
    found = []
    if new.leading is not None and new.leading in edit.added:
        found.append(f"{new.leading} is a new intent")
    if old.leading is not None and old.leading in edit.removed:
        found.append(f"the intent {old.leading} is gone")
    return found + _new_line(new, before) + _lost_line(old, new, after)


def _learned(old: Outcome, new: Outcome) -> list[str]:
    """How leader, confidence and threshold moved."""
    found = []
    if new.leading != old.leading and new.leading is not None:
        found.append(f"{new.leading} leads instead of {old.leading or 'nothing'}{_by(old, new)}")
    elif new.leading is not None and _two(old.confidence) != _two(new.confidence):
        verb = "fell" if (new.confidence or 0.0) < (old.confidence or 0.0) else "rose"
        found.append(f"the confidence in {new.leading} {verb} from {_two(old.confidence)} to {_two(new.confidence)}")
    elif new.leading is not None and _two(old.score) != _two(new.score):
        found.append(f"the score of {new.leading} went from {_two(old.score)} to {_two(new.score)}")
    if new.leading == old.leading and _two(old.threshold) != _two(new.threshold):
        found.append(f"its threshold went from {_two(old.threshold)} to {_two(new.threshold)}")
    if new.rivals and new.rivals != old.rivals:
        found.append(f"{' and '.join(new.rivals)} are too close to tell apart")
    elif old.rivals and not new.rivals:
        found.append(f"{' and '.join(old.rivals)} are no longer as close")
    return found or ["what is learned from all utterances came out a little otherwise"]


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
        return [f"the utterance it rested on moved to {_names(owners)}: {_line(old.nearest)}"]
    return [f"the utterance it rested on is gone: {_line(old.nearest)}"]


def _renamed(old: Registry, new: Registry) -> dict[str, str]:
    """Old name to new name of intents that share most of their utterances, the surest pairs first, each once."""
    gone = [intent for intent in old if intent.name not in new]
    come = [intent for intent in new if intent.name not in old]
    pairs = []
    for was in gone:
        for now in come:
            ours, theirs = (set(map(fold, _texts(intent))) for intent in (was, now))
            pairs.append((len(ours & theirs) / max(1, len(ours | theirs)), was.name, now.name))
    found: dict[str, str] = {}
    for shared, name, now_name in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        if shared >= _SAME_INTENT and name not in found and now_name not in found.values():
            found[name] = now_name
    return found


def _owners(registry: Registry, names: Mapping[str, str]) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for intent in registry:
        for utterance in intent.utterances:
            owners.setdefault(utterance.text, set()).add(names.get(intent.name, intent.name))
    return owners


def _texts(intent: Intent) -> Counter[str]:
    """The lines of an intent; the sentences of a template stand together, and are one."""
    before = (None, *intent.utterances)
    lines = (one for one, last in zip(intent.utterances, before, strict=False) if not (last and one.same_line(last)))
    return Counter(one.template or one.text for one in lines)


def _said(outcome: Outcome) -> tuple[str, str]:
    return outcome.verdict, outcome.said


def _by(old: Outcome, new: Outcome) -> str:
    if old.confidence is None or new.confidence is None:
        return f" (score {new.score:.2f} after {old.score:.2f})"
    return f" (confidence {new.confidence:.2f} after {old.confidence:.2f})"


def _two(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _names(owners: set[str]) -> str:
    return " and ".join(sorted(owners))


def _line(utterance: Utterance) -> str:
    return f"“{utterance.text}” {place(utterance.location)}".rstrip()


def _answer(outcome: Outcome) -> dict[str, Any]:
    values = outcome.to_dict()
    return {key: values[key] for key in values if key not in ("text", "expected", "language", "location")}
