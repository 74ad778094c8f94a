"""What to make of the messages in an inbox: groups that mean the same, and for each an edit, with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry
from intentmatch.inbox.clusters import clustered, most_central, near_enough
from intentmatch.inbox.inbox import is_missed
from intentmatch.inbox.store import Missed
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean, fold

Action = Literal["add", "new", "ignore"]

_Name = TypeVar("_Name", str, "str | None")

# More likely than not.
_LIKELY = 0.5
# A second intent that is at least so likely as the first, in proportion, is named too.
_CLOSE_BEHIND = 0.5
# What was said less often is no reason for an intent of its own.
_FEWEST_FOR_AN_INTENT = 3
_CHARACTERS_OF_A_NAME = 40


class Proposal(NamedTuple):
    """What to do with a cluster."""

    action: Action
    intent: str | None
    """To add the messages to, or the name of a new one; None to ignore them."""
    because: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Messages that mean the same."""

    messages: tuple[Missed, ...]
    """The most central first."""
    proposal: Proposal

    @property
    def number(self) -> int:
        """That of its oldest message, which stays the same when others come."""
        return min(message.id for message in self.messages)

    @property
    def name(self) -> str:
        """Its most central message."""
        return self.messages[0].text or ""

    @property
    def count(self) -> int:
        """How often its messages were said."""
        return sum(message.count for message in self.messages)

    @property
    def corrections(self) -> Counter[str | None]:
        """What users said that its messages mean."""
        return _corrections(self.messages)

    @property
    def first(self) -> datetime:
        """When one of them was first said."""
        return min(message.first for message in self.messages)

    @property
    def last(self) -> datetime:
        """When one of them was last said."""
        return max(message.last for message in self.messages)

    @property
    def languages(self) -> list[str]:
        """Of its messages, sorted."""
        return sorted({message.language for message in self.messages if message.language})

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "cluster": self.number,
            "name": self.name,
            "count": self.count,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "languages": self.languages,
            "proposal": self.proposal._asdict(),
            "messages": [message.to_dict() for message in self.messages],
        }


class Review(NamedTuple):
    """What there is to do."""

    clusters: tuple[Cluster, ...]
    """What users corrected first, then what was said most often."""
    understood: int
    """Messages that the registry in use now understands."""
    hashed: tuple[Missed, ...]
    """Messages of which no text was kept."""


def review(matcher: Matcher, messages: Sequence[Missed]) -> Review:
    """Cluster what is still not understood, and propose what to do. The order of the messages makes no difference."""
    told = sorted((message for message in messages if message.text is not None), key=lambda one: (one.text, one.id))
    results = matcher.match_many([message.text or "" for message in told])
    pairs = [(message, result) for message, result in zip(told, results, strict=True) if not _settled(message, result)]
    artefact = matcher.artefact
    cut = near_enough(artefact.wide_vectors, artefact.registry.owners)
    vectors = matcher.encoder.encode([clean(message.text or "") for message, _ in pairs], kind="query")
    found: list[Cluster] = []
    taken = {intent.name for intent in artefact.registry}
    for rows in clustered(vectors, cut):
        central = rows[most_central(vectors[rows], [_weight(pairs[row][0]) for row in rows])]
        cluster = [pairs[row][0] for row in central]
        proposal = _proposal(cluster, [pairs[row][1] for row in central], artefact.registry, cut)
        if proposal.action == "new" and not proposal.intent:
            proposal = proposal._replace(intent=_new_name(cluster[0].text or "", taken))
            taken.add(proposal.intent or "")
        found.append(Cluster(tuple(cluster), proposal))
    found.sort(key=lambda one: (-one.corrections.total(), -one.count, one.number))
    return Review(tuple(found), len(told) - len(pairs), tuple(m for m in messages if m.text is None))


def _settled(message: Missed, result: MatchResult) -> bool:
    """Whether the registry in use now gives the answer that users want, as far as that is known."""
    wanted = [intent for intent, _ in _ranked(message.corrections)][:1]
    return not is_missed(result) and wanted in ([], [result.intent])


def _proposal(cluster: Sequence[Missed], results: Sequence[MatchResult], registry: Registry, cut: float) -> Proposal:
    corrections = _corrections(cluster)
    if corrections:
        (intent, users), *_ = _ranked(corrections)
        because = f"{users} of {corrections.total()} corrections say so"
        if intent is not None:
            return Proposal("add" if intent in registry else "new", intent, because)
        return _without_intent(cluster, f"{users} of {corrections.total()} corrections say that it is no intent")
    sure, measured, likely = _likely(results, cut)
    if not likely:
        return _without_intent(cluster, "the encoder knows none of its words")
    (best, share), *others = _ranked(likely)
    near = f"nearest, with a mean {measured} of {share:.2f}"
    if share < sure:
        return _without_intent(cluster, f"{best} is {near}")
    behind = [f"{other} ({part:.2f})" for other, part in others if part >= _CLOSE_BEHIND * share]
    return Proposal("add", best, near + (f", before {' and '.join(behind[:2])}" if behind else ""))


def _without_intent(cluster: Sequence[Missed], because: str) -> Proposal:
    """A new intent where it was said often enough, under a name that is still to be found."""
    count = sum(message.count for message in cluster)
    action: Action = "new" if count >= _FEWEST_FOR_AN_INTENT else "ignore"
    return Proposal(action, None, f"received {times(count)}; {because}")


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"


def _likely(results: Sequence[MatchResult], cut: float) -> tuple[float, str, dict[str, float]]:
    """What makes sure, what that is, and how much of it each intent has on average over the messages."""
    calibrated = any(result.confidence is not None for result in results)
    means: dict[str, float] = {}
    for candidate in (candidate for result in results for candidate in result.candidates):
        measure = (candidate.confidence or 0.0) if calibrated else candidate.score
        means[candidate.intent] = means.get(candidate.intent, 0.0) + measure / len(results)
    return (_LIKELY, "confidence", means) if calibrated else (cut, "score", means)


def _ranked(counts: Mapping[_Name, float]) -> list[tuple[_Name, float]]:
    """The most first; of what is equal, the first by name, and what has none last."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0] is None, one[0] or ""))


def _corrections(messages: Iterable[Missed]) -> Counter[str | None]:
    found: Counter[str | None] = Counter()
    for message in messages:
        found.update(message.corrections)
    return found


def _weight(message: Missed) -> int:
    """How much a message counts: as often as it was said, and once more for each correction."""
    return message.count + sum(message.corrections.values())


def _new_name(text: str, taken: Collection[str]) -> str:
    """A name for an intent, from the words of a message: `where_is_my_refund`, and a number where there is one."""
    words = fold(text).split()
    while len(words) > 1 and len("_".join(words)) > _CHARACTERS_OF_A_NAME:
        words.pop()
    name = bare = "_".join(words)[:_CHARACTERS_OF_A_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{bare}_{number}"
    return name
