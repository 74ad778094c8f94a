"""Two registries asked the same: what an edit of the intents makes better and worse, and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import intentmatch
from intentmatch.core.types import Case
from intentmatch.evaluation.compare.changes import Change, Edit, Effect, IntentRow, SourceName, changes, intent_rows
from intentmatch.evaluation.compare.paired import paired_held_out
from intentmatch.evaluation.folds import Folds
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports.number_format import percent
from intentmatch.evaluation.runner import Asker, Tell
from intentmatch.learning.cross_validation import representative
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.policy import Cut

SCHEMA = 1

FailOn = Literal["worse", "any", "never"]
TITLES: Mapping[SourceName, str] = {
    "held_out": "held-out utterances",
    "tests": "test cases",
    "messages": "logged messages",
}
EFFECTS: Mapping[Effect, str] = {
    "worse": "Became wrong",
    "better": "Became right",
    "other": "Answered otherwise",
}
INTENT_HEAD = ("intent", "utterances", "held out", "right before", "right now", "fixed", "broken")

# Cuts that move less than this read the same.
_VISIBLE = 0.005
_DEFAULT = "threshold"


class Asked(NamedTuple):
    """One set of messages that both sides were asked, in the same order."""

    source: SourceName
    old: tuple[Outcome, ...]
    new: tuple[Outcome, ...]

    def accuracy(self) -> tuple[float | None, float | None]:
        """Share right on the old side and on the new one; None of messages that nobody has labelled."""
        if self.source == "messages" or not self.new:
            return None, None
        return sum(o.right for o in self.old) / len(self.old), sum(o.right for o in self.new) / len(self.new)


class Fact(NamedTuple):
    """A setting, a cut or an encoder that is not the same on both sides."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Diff:
    """Everything that the comparison found; every number follows from it."""

    names: tuple[str, str]
    """Of the sides, as the user wrote them."""
    edit: Edit
    asked: tuple[Asked, ...]
    facts: tuple[Fact, ...]
    not_asked: tuple[int, int]
    """Utterances of the old and of the new side that the other one does not have, or that could not be held out."""

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Each answer that changed, by source."""
        return tuple(change for a in self.asked for change in changes(a.source, a.old, a.new, self.edit))

    @cached_property
    def intents(self) -> list[IntentRow]:
        """What became of each intent."""
        pairs = [pair for a in self.asked if a.source == "held_out" for pair in zip(a.old, a.new, strict=True)]
        return intent_rows(self.edit, pairs, self.changes)

    @property
    def summary(self) -> str:
        """What became of the answers, in words."""
        said = f"{self.count('better')} fixed, {self.count('worse')} broken, {self.count('other')} answered otherwise"
        worse = [change for change in self.changes if change.effect == "worse"]
        tests, direct = (sum(flags) for flags in ([c.source == "tests" for c in worse], [c.direct for c in worse]))
        notes = [f"{direct} of the broken rest on what was edited"] if worse else []
        return "; ".join([said, *notes, *([f"{tests} are test cases"] if tests else [])])

    def intent_cells(self) -> list[list[str]]:
        """The intents of which there is anything to tell, below `INTENT_HEAD`."""
        return [
            [
                row.intent,
                f"+{row.added} −{row.removed}",
                str(row.cases),
                percent(row.before),
                percent(row.now),
                str(row.fixed),
                str(row.broken),
            ]
            for row in self.intents
            if row.touched
        ]

    def count(self, effect: Effect, source: SourceName | None = None) -> int:
        """How many changes had this effect."""
        return sum(c.effect == effect and source in (None, c.source) for c in self.changes)

    def failed(self, fail_on: FailOn) -> bool:
        """Whether the edit is one to stop at.

        `worse`: more answers became wrong than right, or any test case became wrong. `any`: any answer changed.
        """
        if fail_on == "any":
            return bool(self.changes)
        worse = self.count("worse") > self.count("better") or self.count("worse", "tests") > 0
        return fail_on == "worse" and worse

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "schema": SCHEMA,
            "intentmatch": intentmatch.__version__,
            "old": self.names[0],
            "new": self.names[1],
            "fixed": self.count("better"),
            "broken": self.count("worse"),
            "asked": [
                {
                    "source": a.source,
                    "messages": len(a.new),
                    "accuracy": dict(zip(("old", "new"), a.accuracy(), strict=True)),
                }
                for a in self.asked
            ],
            "not_asked": dict(zip(("old", "new"), self.not_asked, strict=True)),
            "facts": [fact._asdict() for fact in self.facts],
            "renamed": dict(self.edit.renamed),
            "added": self.edit.added,
            "removed": self.edit.removed,
            "intents": [row._asdict() for row in self.intents],
            "changes": [change.to_dict() for change in self.changes],
        }


def to_json(diff: Diff) -> str:
    """The comparison as a file holds it."""
    return json.dumps(diff.to_dict(), ensure_ascii=False) + "\n"


def compare(
    old: Matcher,
    new: Matcher,
    *,
    names: tuple[str, str] = ("old", "new"),
    tests: Sequence[Case] = (),
    messages: Sequence[Case] = (),
    folds: Folds = 5,
    seed: int = 0,
    tell: Tell | None = None,
) -> Diff:
    """Ask both: utterances that both have, held out in the same folds; the new side's tests and `tests`; `messages`.

    Raises `InputError` for fewer than two folds.
    """
    edit = Edit.between(old.registry, new.registry)
    paired = paired_held_out(old, new, edit.renamed, folds=folds, seed=seed, tell=tell)
    asked = [Asked("held_out", paired.old, paired.new)]
    sets: tuple[tuple[SourceName, Sequence[Case]], ...] = (
        ("tests", [*new.registry.tests, *tests]),
        ("messages", messages),
    )
    for source, cases in sets:
        if cases:
            before, after = (tuple(Asker(m, TITLES[source], len(cases), tell).ask_all(cases)) for m in (old, new))
            asked.append(Asked(source, before, after))
    only_one = tuple(int(representative(m.registry.lines).sum()) - len(paired.new) for m in (old, new))
    return Diff(names, edit, tuple(asked), tuple(_facts(old, new, edit.renamed)), (only_one[0], only_one[1]))


def _facts(old: Matcher, new: Matcher, renamed: Mapping[str, str]) -> Iterator[Fact]:
    """What differs beside the intents: encoder, settings, what is expected of the thresholds, and these themselves."""
    encoders = [f"{m.artefact.encoder_name} @ {m.artefact.encoder_fingerprint}" for m in (old, new)]
    if encoders[0] != encoders[1]:
        yield Fact("encoder", *encoders)
    was, now = old.settings.to_dict(), new.settings.to_dict()
    for name in now:
        if name != "encoder" and was[name] != now[name]:
            yield Fact(f"setting {name}", *(_setting(m, name) for m in (old, new)))
    expected = _expected(old), _expected(new)
    if expected[0] != expected[1]:
        yield Fact("expected", *expected)
    yield from _cut_facts(_cuts(old, renamed), _cuts(new, {}))


def _cut_facts(was: Mapping[str, Cut], now: Mapping[str, Cut]) -> list[Fact]:
    """The thresholds that moved: the common one first, then those that moved furthest."""
    moved = []
    for name in sorted({*was, *now}):
        # Where a language or an intent has no cut of its own, the common one is held against it.
        before, after = was.get(name, was[_DEFAULT]), now.get(name, now[_DEFAULT])
        far = abs(before.value - after.value) if before.on == after.on else 1.0
        if far >= _VISIBLE:
            moved.append((name != _DEFAULT, -far, Fact(name, _cut(before), _cut(after))))
    return [fact for _, _, fact in sorted(moved)]


def _cuts(matcher: Matcher, names: Mapping[str, str]) -> dict[str, Cut]:
    policy = matcher.policy
    by_language = {f"threshold for {name}": cut for name, cut in policy.by_language.items()}
    by_intent = {f"threshold for {names.get(name, name)}": cut for name, cut in policy.by_intent.items()}
    return {_DEFAULT: policy.default, **by_language, **by_intent}


def _setting(matcher: Matcher, name: str) -> str:
    return f"{matcher.settings.to_dict()[name]} ({matcher.settings.origin(name)})"


def _cut(cut: Cut) -> str:
    return f"{cut.on} {cut.value:.2f}"


def _expected(matcher: Matcher) -> str:
    cut = matcher.artefact.calibration.cut
    if cut is None:
        return "nothing: too few utterances to learn from"
    return f"{cut.precision:.1%} of the answers right, {cut.coverage:.1%} in scope answered"
