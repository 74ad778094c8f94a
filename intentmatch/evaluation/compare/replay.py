"""Replay a log: which messages another version of the intents would have answered otherwise, by cause."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import intentmatch
from intentmatch.evaluation.compare.changes import AnswerChange, RegistryDifference, changes
from intentmatch.evaluation.logs import Log, LoggedMessage
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Runner, StepProgress
from intentmatch.matching.matcher import Matcher

SCHEMA = 1

Kind = Literal["other_intent", "lost", "asked", "otherwise", "gained"]
KINDS: Mapping[Kind, str] = {
    "other_intent": "another intent",
    "lost": "no answer any more",
    "asked": "asked back",
    "otherwise": "otherwise",
    "gained": "answered now",
}
"""How an answer changes, the worst first."""

_SHOWN_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Difference:
    """A message of the log that would have been answered otherwise."""

    message: LoggedMessage
    change: AnswerChange
    kind: Kind

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        answers = [{"verdict": v, "intent": i, "count": n} for (v, i), n in self.message.answers.most_common()]
        return {"count": self.message.count, "kind": self.kind, "logged": answers, **self.change.to_dict()}


@dataclass(frozen=True, slots=True)
class Cause:
    """What changes some answers, and the messages concerned."""

    text: str
    direct: bool
    """Whether it is an edited line or intent; otherwise it is what was learned from all lines."""
    differences: tuple[Difference, ...]
    """The worst first, then the most frequent."""

    @property
    def received(self) -> int:
        """How many of the messages that arrived are concerned."""
        return sum(one.message.count for one in self.differences)

    @property
    def kinds(self) -> Counter[Kind]:
        """The messages that arrived, by how their answer changes."""
        found: Counter[Kind] = Counter()
        for one in self.differences:
            found[one.kind] += one.message.count
        return found


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay."""

    names: tuple[str, str]
    """Names of the version in use and of the candidate."""
    log: Log
    causes: tuple[Cause, ...]
    """The worst first: by messages that lose their answer or get another one, then by those asked back, then by all."""
    not_as_logged: int
    """Messages that arrived whose recorded answer differs from that of the version in use."""

    @property
    def received(self) -> int:
        """How many of the messages that arrived would have been answered otherwise."""
        return sum(cause.received for cause in self.causes)

    @property
    def kinds(self) -> Counter[Kind]:
        """The same, by how the answer changes."""
        return sum((cause.kinds for cause in self.causes), Counter())

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "schema": SCHEMA,
            "intentmatch": intentmatch.__version__,
            "old": self.names[0],
            "candidate": self.names[1],
            "messages": self.log.received,
            "distinct": len(self.log.messages),
            "skipped_lines": self.log.skipped,
            "broken_lines": len(self.log.broken),
            "not_as_logged": self.not_as_logged,
            "otherwise": self.received,
            "kinds": {kind: self.kinds[kind] for kind in KINDS},
            "causes": [
                {
                    "cause": cause.text,
                    "direct": cause.direct,
                    "messages": cause.received,
                    "kinds": {kind: cause.kinds[kind] for kind in KINDS},
                    "differences": [one.to_dict() for one in cause.differences],
                }
                for cause in self.causes
            ],
        }


def to_json(found: Replay) -> str:
    """Serialize a replay as one line of JSON."""
    return json.dumps(found.to_dict(), ensure_ascii=False) + "\n"


def replay(
    old: Matcher,
    candidate: Matcher,
    log: Log,
    *,
    names: tuple[str, str] = ("old", "candidate"),
    progress: StepProgress | None = None,
) -> Replay:
    """Answer the messages of a log by two versions, and group what differs by cause.

    A renamed intent is no difference. No right answers are known: an answer that changes may have become better. The
    causes are ordered by what a user would notice: another intent or no answer before a question, and a question before
    a new answer. `progress` is called with the name of the step, the messages done and the messages in total.
    """
    cases = [message.case for message in log.messages]
    total = len(cases)
    before = tuple(Runner(old, "messages, before", total, progress).run_all(cases))
    after = tuple(Runner(candidate, "messages, candidate", total, progress).run_all(cases))
    edit = RegistryDifference.between(old.registry, candidate.registry)
    by_text = {message.case.text: message for message in log.messages}
    found = [
        Difference(by_text[change.new.case.text], change, _kind(change))
        for change in changes("messages", before, after, edit)
    ]
    # The bot may have been edited since the log was written.
    not_as_logged = sum(
        count
        for message, outcome in zip(log.messages, before, strict=True)
        for (verdict, intent), count in message.answers.items()
        if (verdict, intent) != (outcome.verdict, outcome.intent)
    )
    return Replay(names, log, tuple(_by_cause(found)), not_as_logged)


def _by_cause(found: Iterable[Difference]) -> list[Cause]:
    order = list(KINDS)
    groups: dict[tuple[str, bool], list[Difference]] = {}
    for one in found:
        groups.setdefault((_cause(one.change), one.change.direct), []).append(one)
    causes = []
    for (text, direct), members in groups.items():
        members.sort(key=lambda one: (order.index(one.kind), -one.message.count, one.message.case.text))
        causes.append(Cause(text, direct, tuple(members)))

    def badness(cause: Cause) -> tuple[int, int, int, str]:
        kinds = cause.kinds
        return -(kinds["other_intent"] + kinds["lost"]), -kinds["asked"], -cause.received, cause.text

    return sorted(causes, key=badness)


def _kind(change: AnswerChange) -> Kind:
    old, new = change.old, change.new
    if old.verdict != "matched":
        return "gained" if new.verdict == "matched" else "otherwise"
    if new.verdict == "matched":
        return "other_intent"
    return "lost" if new.verdict == "out_of_scope" else "asked"


def _cause(change: AnswerChange) -> str:
    """Return the cause in words that are the same for all messages with this cause."""
    # The edit itself says more than what followed from it.
    if change.direct:
        return change.reasons[0]
    old, new = change.old, change.new
    if new.leading != old.leading:
        return f"the first is now {new.leading or 'nothing'} instead of {old.leading or 'nothing'}"
    both_asked = bool(old.rivals and new.rivals)  # then no threshold decided
    if not both_asked and _rounded(old.threshold) != _rounded(new.threshold):
        return f"the threshold of {new.leading} changed from {_shown(old)} to {_shown(new)}"
    if new.rivals != old.rivals:
        rivals = new.rivals or old.rivals
        return f"{'too' if new.rivals else 'no longer too'} close to tell apart: {' and '.join(sorted(rivals))}"
    certainty, before = (new.confidence, old.confidence) if new.confidence is not None else (new.score, old.score)
    verb = "fell" if certainty < (before or 0.0) else "rose"
    return f"the {'score' if new.confidence is None else 'confidence'} of {new.leading} {verb}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _SHOWN_DECIMALS)


def _shown(outcome: Outcome) -> str:
    return "none" if outcome.threshold is None else f"{outcome.threshold:.{_SHOWN_DECIMALS}f}"
