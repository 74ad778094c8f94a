"""Review an inbox: group messages of the same meaning, and propose an edit for each group, with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar, get_args
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.store import Artefact
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry, Vectors
from intentmatch.inbox.clusters import clustered, most_central, similarity_cut
from intentmatch.inbox.inbox import is_missed
from intentmatch.inbox.store import Missed
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean, fold

Action = Literal["add", "new", "ignore"]

_Name = TypeVar("_Name", str, "str | None")

_Kind = Literal["asks", "refuses", "depends"]
_NOT_ADDED = {
    "refuses": "it refuses {intent}: as an example of {intent} it would match what users refuse",
    "depends": "it says too little alone to mean one intent",
}
# Stages of the trace that turn an answer into a question, and what they say about a message.
_KINDS: Mapping[str, _Kind] = {"negation": "refuses", "fragment": "depends"}

# Mean confidence from which messages are added to an intent.
_LIKELY = 0.5
# Mean confidence from which an addition is proposed without a question, if no other intent is close behind.
_SURE = 0.9
# Other intents with at least this share of the best confidence are named in the reason.
_CLOSE_BEHIND = 0.5
# Messages needed to propose a new intent.
_FEWEST_FOR_AN_INTENT = 3
_CHARACTERS_OF_A_NAME = 40


class Proposal(NamedTuple):
    """What to do with a cluster."""

    action: Action
    intent: str | None
    """The intent that gets the messages, or the name of the new intent; None to ignore them."""
    because: str
    """The reason, in words."""
    sure: bool = False
    """Whether it may be accepted with others at once; otherwise it is a question to the author."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of messages with the same meaning."""

    messages: tuple[Missed, ...]
    """The messages, the most central first."""
    proposal: Proposal

    @property
    def number(self) -> int:
        """The number of the oldest message, which stays the same when new messages arrive."""
        return min(message.id for message in self.messages)

    @property
    def name(self) -> str:
        """The most central message."""
        return self.messages[0].text or ""

    @property
    def count(self) -> int:
        """How often the messages were received."""
        return sum(message.count for message in self.messages)

    @property
    def corrections(self) -> Counter[str | None]:
        """The intents that users gave for the messages, with their counts; None is no intent."""
        return _corrections(self.messages)

    @property
    def first(self) -> datetime:
        """When one of the messages was first received."""
        return min(message.first for message in self.messages)

    @property
    def last(self) -> datetime:
        """When one of the messages was last received."""
        return max(message.last for message in self.messages)

    @property
    def languages(self) -> list[str]:
        """The languages of the messages, sorted."""
        return sorted({message.language for message in self.messages if message.language})

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain JSON values."""
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
    """The groups of an inbox."""

    clusters: tuple[Cluster, ...]
    """The groups: those with the most corrections first, then those received most often."""
    understood: int
    """Number of messages that the registry now understands."""
    hashed: tuple[Missed, ...]
    """Messages stored as hashes, without text."""


def review(matcher: Matcher, messages: Sequence[Missed]) -> Review:
    """Group the messages that are still not understood, and propose an action for each group.

    The result does not depend on the order of the messages.
    """
    readable = sorted((m for m in messages if m.text is not None), key=lambda message: (message.text, message.id))
    results = matcher.match_many([message.text or "" for message in readable])
    results = [_in_context(matcher, message, result) for message, result in zip(readable, results, strict=True)]
    pairs = [(m, result) for m, result in zip(readable, results, strict=True) if not _understood(m, result)]
    artefact = matcher.artefact
    cut = _cut(artefact)
    vectors = matcher.encoder.encode([clean(message.text or "") for message, _ in pairs], kind="query")
    found: list[Cluster] = []
    taken = {intent.name for intent in artefact.registry}
    # A refusal lies near what it refuses, and would be added to it.
    kinds = np.array([_kind(result) for _, result in pairs], dtype=np.str_)
    for kind, rows in _clustered_by(kinds, vectors, cut):
        central = rows[most_central(vectors[rows], [_weight(pairs[row][0]) for row in rows])]
        cluster = [pairs[row][0] for row in central]
        proposal = _proposal(cluster, [pairs[row][1] for row in central], artefact.registry, cut, kind)
        if proposal.action == "new" and not proposal.intent:
            proposal = proposal._replace(intent=_new_name(cluster[0].text or "", taken))
            taken.add(proposal.intent or "")
        found.append(Cluster(tuple(cluster), proposal))
    found.sort(key=lambda group: (-group.corrections.total(), -group.count, group.number))
    return Review(tuple(found), len(readable) - len(pairs), tuple(m for m in messages if m.text is None))


def _kind(result: MatchResult) -> _Kind:
    """Return what the trace says about a message: whether it refuses, or says too little alone."""
    if result.verdict != "ambiguous":
        return "asks"
    return next((_KINDS[stage.name] for stage in result.trace.stages if stage.name in _KINDS), "asks")


def _clustered_by(kinds: NDArray[np.str_], vectors: Vectors, cut: float) -> Iterator[tuple[_Kind, NDArray[np.intp]]]:
    """Yield the rows of each group, whose messages are all of one kind."""
    for kind in get_args(_Kind):
        of_kind = np.flatnonzero(kinds == kind)
        for rows in clustered(vectors[of_kind], cut):
            yield kind, of_kind[rows]


_cuts: WeakKeyDictionary[Artefact, float] = WeakKeyDictionary()


def _cut(artefact: Artefact) -> float:
    """Return the similarity cut, compared over all utterances once while the registry is in use."""
    cut = _cuts.get(artefact)
    if cut is None:
        cut = _cuts[artefact] = similarity_cut(artefact.wide_vectors, artefact.registry.owners)
    return cut


def _in_context(matcher: Matcher, message: Missed, result: MatchResult) -> MatchResult:
    """Return the result with the tags active of the intent that users gave for the message, if it has some."""
    wanted = next((intent for intent, _ in _ranked(message.corrections)), None)
    if wanted is None or wanted not in matcher.registry or not (tags := matcher.registry[wanted].when):
        return result
    return matcher.match(message.text or "", context=tags)


def _understood(message: Missed, result: MatchResult) -> bool:
    """Whether the registry now matches a message, and with the intent of its corrections if there are any."""
    wanted = [intent for intent, _ in _ranked(message.corrections)][:1]
    return not is_missed(result) and wanted in ([], [result.intent])


def _proposal(
    cluster: Sequence[Missed], results: Sequence[MatchResult], registry: Registry, cut: float, kind: _Kind
) -> Proposal:
    """Return the proposal: what users corrected, otherwise the likeliest intent, otherwise a new one or none."""
    corrections = _corrections(cluster)
    if corrections:
        (intent, users), *_ = _ranked(corrections)
        because = f"{users} of {corrections.total()} corrections say so"
        if intent is not None:
            sure = 2 * users > corrections.total() and users > 1 and kind == "asks" and intent in registry
            return Proposal("add" if intent in registry else "new", intent, because, sure)
        return _without_intent(cluster, f"{users} of {corrections.total()} corrections say that it is no intent")
    least, measure, means = _means(results, cut)
    if not means:
        return _without_intent(cluster, "the encoder knows none of its words")
    (best, mean), *others = _ranked(means)
    if kind != "asks":
        return Proposal("ignore", None, _NOT_ADDED[kind].format(intent=best))
    nearest = f"nearest, with a mean {measure} of {mean:.2f}"
    if mean < least:
        return _without_intent(cluster, f"{best} is {nearest}")
    behind = [f"{other} ({part:.2f})" for other, part in others if part >= _CLOSE_BEHIND * mean]
    sure = measure == "confidence" and mean >= _SURE and not behind
    return Proposal("add", best, nearest + (f", before {' and '.join(behind[:2])}" if behind else ""), sure)


def _without_intent(cluster: Sequence[Missed], because: str) -> Proposal:
    """Propose a new intent if the messages were received often enough; `review` chooses its name."""
    count = sum(message.count for message in cluster)
    action: Action = "new" if count >= _FEWEST_FOR_AN_INTENT else "ignore"
    return Proposal(action, None, f"received {times(count)}; {because}")


def times(count: int) -> str:
    """Return a count in words: "once", "3 times"."""
    return "once" if count == 1 else f"{count} times"


def _means(results: Sequence[MatchResult], cut: float) -> tuple[float, str, dict[str, float]]:
    """Return the least mean for an addition, the name of the measure, and the mean of each intent."""
    calibrated = any(result.confidence is not None for result in results)
    means: dict[str, float] = {}
    for candidate in (candidate for result in results for candidate in result.candidates):
        measure = (candidate.confidence or 0.0) if calibrated else candidate.score
        means[candidate.intent] = means.get(candidate.intent, 0.0) + measure / len(results)
    return (_LIKELY, "confidence", means) if calibrated else (cut, "score", means)


def _ranked(counts: Mapping[_Name, float]) -> list[tuple[_Name, float]]:
    """Return names and counts, the highest count first; ties are sorted by name, None last."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, item[0] or ""))


def _corrections(messages: Iterable[Missed]) -> Counter[str | None]:
    found: Counter[str | None] = Counter()
    for message in messages:
        found.update(message.corrections)
    return found


def _weight(message: Missed) -> int:
    """Return the weight of a message: how often it was received or corrected."""
    return message.count + sum(message.corrections.values())


def _new_name(text: str, taken: Collection[str]) -> str:
    """Make the name of a new intent from a message: `where_is_my_refund`, with a number if the name is taken."""
    words = fold(text).split()
    while len(words) > 1 and len("_".join(words)) > _CHARACTERS_OF_A_NAME:
        words.pop()
    name = bare = "_".join(words)[:_CHARACTERS_OF_A_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{bare}_{number}"
    return name
