"""Compare two registries on the same messages, and report which answers an edit fixed, broke or changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import intentmatch
from intentmatch.core.types import Case
from intentmatch.evaluation.compare.changes import (
    AnswerChange,
    Effect,
    IntentEffect,
    RegistryDifference,
    SourceName,
    changes,
    intent_rows,
)
from intentmatch.evaluation.compare.paired import paired_held_out
from intentmatch.evaluation.folds import Folds
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports.number_format import percent
from intentmatch.evaluation.runner import Runner, StepProgress
from intentmatch.learning.fold_plan import representative
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
    "other": "Answered differently",
}
INTENT_HEAD = ("intent", "utterances", "held out", "right before", "right now", "fixed", "broken")

# Thresholds that change by less than this look the same with two decimals.
_VISIBLE = 0.005
_DEFAULT = "threshold"


class ComparedCases(NamedTuple):
    """One set of messages with the outcomes on both sides, in the same order."""

    source: SourceName
    old: tuple[Outcome, ...]
    new: tuple[Outcome, ...]

    def accuracy(self) -> tuple[float | None, float | None]:
        """Return the share of correct answers on the old and on the new side; None for unlabelled messages."""
        if self.source == "messages" or not self.new:
            return None, None
        return sum(o.right for o in self.old) / len(self.old), sum(o.right for o in self.new) / len(self.new)


class Fact(NamedTuple):
    """A setting, threshold or encoder that differs between the sides."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Diff:
    """Result of a comparison; every metric is computed from it."""

    names: tuple[str, str]
    """Names of the old and the new side, as the user wrote them."""
    edit: RegistryDifference
    asked: tuple[ComparedCases, ...]
    facts: tuple[Fact, ...]
    not_asked: tuple[int, int]
    """Number of utterances of the old and of the new side that are not shared or could not be held out."""

    @cached_property
    def changes(self) -> tuple[AnswerChange, ...]:
        """Changed answers, by source."""
        return tuple(change for a in self.asked for change in changes(a.source, a.old, a.new, self.edit))

    @cached_property
    def intents(self) -> list[IntentEffect]:
        """Effect of the edit on each intent."""
        pairs = [pair for a in self.asked if a.source == "held_out" for pair in zip(a.old, a.new, strict=True)]
        return intent_rows(self.edit, pairs, self.changes)

    @property
    def summary(self) -> str:
        """Summary of the changed answers in one sentence."""
        counts = (
            f"{self.count('better')} fixed, {self.count('worse')} broken, {self.count('other')} answered differently"
        )
        worse = [change for change in self.changes if change.effect == "worse"]
        tests, direct = (sum(flags) for flags in ([c.source == "tests" for c in worse], [c.direct for c in worse]))
        notes = [f"{direct} of the broken caused directly by the edit"] if worse else []
        return "; ".join([counts, *notes, *([f"{tests} of the broken are test cases"] if tests else [])])

    def intent_cells(self) -> list[list[str]]:
        """Return table rows for the affected intents, with the columns of `INTENT_HEAD`."""
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
        """Count the changes with this effect, from one source or from all."""
        return sum(c.effect == effect and source in (None, c.source) for c in self.changes)

    def failed(self, fail_on: FailOn) -> bool:
        """Whether the comparison fails under a `--fail-on` rule.

        `worse` fails if more answers became wrong than right, or if any test case became wrong. `any` fails if any
        answer changed. `never` does not fail.
        """
        if fail_on == "any":
            return bool(self.changes)
        # A test case is a promise; held-out answers also change by chance, so only their balance counts.
        worse = self.count("worse") > self.count("better") or self.count("worse", "tests") > 0
        return fail_on == "worse" and worse

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
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
    """Serialize a comparison as one line of JSON."""
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
    progress: StepProgress | None = None,
) -> Diff:
    """Compare two matchers on held-out utterances, test cases and logged messages.

    Utterances that both registries have are held out of both in the same folds. Test cases are those of the new
    registry and `tests`. Logged `messages` have no expected intent. `progress` is called with the name of the step, the
    messages done and the messages in total.

    Raises `InputError` for fewer than two folds.
    """
    edit = RegistryDifference.between(old.registry, new.registry)
    paired = paired_held_out(old, new, edit.renamed, folds=folds, seed=seed, progress=progress)
    asked = [ComparedCases("held_out", paired.old, paired.new)]
    sets: tuple[tuple[SourceName, Sequence[Case]], ...] = (
        ("tests", [*new.registry.tests, *tests]),
        ("messages", messages),
    )
    for source, cases in sets:
        if cases:
            before, after = (tuple(Runner(m, TITLES[source], len(cases), progress).run_all(cases)) for m in (old, new))
            asked.append(ComparedCases(source, before, after))
    # Of a template, only a sample of its sentences is asked about.
    not_asked = tuple(int(representative(m.registry.lines).sum()) - len(paired.new) for m in (old, new))
    return Diff(names, edit, tuple(asked), tuple(_facts(old, new, edit.renamed)), (not_asked[0], not_asked[1]))


def _facts(old: Matcher, new: Matcher, renamed: Mapping[str, str]) -> Iterator[Fact]:
    """Yield differences other than the intents: encoder, settings, expected precision and coverage, thresholds."""
    encoders = [f"{m.artefact.encoder_name} @ {m.artefact.encoder_fingerprint}" for m in (old, new)]
    if encoders[0] != encoders[1]:
        yield Fact("encoder", *encoders)
    was, now = old.settings.to_dict(), new.settings.to_dict()
    for name in now:
        # The encoder is told above, with its fingerprint.
        if name != "encoder" and was[name] != now[name]:
            yield Fact(f"setting {name}", *(_setting(m, name) for m in (old, new)))
    expected = _expected(old), _expected(new)
    if expected[0] != expected[1]:
        yield Fact("expected", *expected)
    yield from _cut_facts(_cuts(old, renamed), _cuts(new, {}))


def _cut_facts(was: Mapping[str, Cut], now: Mapping[str, Cut]) -> list[Fact]:
    """Return the changed thresholds: the default first, then by the size of the change."""
    changed = []
    for name in sorted({*was, *now}):
        # Languages and intents without their own threshold use the default.
        before, after = was.get(name, was[_DEFAULT]), now.get(name, now[_DEFAULT])
        # A threshold on another scale is another threshold, whatever its number.
        distance = abs(before.value - after.value) if before.on == after.on else 1.0
        if distance >= _VISIBLE:
            changed.append((name != _DEFAULT, -distance, Fact(name, _cut(before), _cut(after))))
    return [fact for _, _, fact in sorted(changed)]


def _cuts(matcher: Matcher, names: Mapping[str, str]) -> dict[str, Cut]:
    policy = matcher.policy
    by_language = {f"threshold for {name}": cut for name, cut in policy.by_language.items()}
    by_intent = {f"threshold for {names.get(name, name)}": cut for name, cut in policy.by_intent.items()}
    return {_DEFAULT: policy.default, **by_language, **by_intent}


def _setting(matcher: Matcher, name: str) -> str:
    return f"{matcher.settings.to_dict()[name]} ({matcher.settings.origin(name)})"


def _cut(cut: Cut) -> str:
    return f"{cut.on.replace('_', ' ')} {cut.in_words(cut.value)}"


def _expected(matcher: Matcher) -> str:
    cut = matcher.artefact.calibration.cut
    if cut is None:
        return "unknown: too few utterances to calibrate"
    return f"precision {cut.precision:.1%}, coverage {cut.coverage:.1%}"
