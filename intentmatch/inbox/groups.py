"""Review an inbox: group messages of one kind and meaning, and propose an edit for each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Vectors
from intentmatch.inbox.clusters import clustered, most_central, similarity_cut
from intentmatch.inbox.inbox import is_missed
from intentmatch.inbox.kinds import KINDS, Kind, Said, kinds_of
from intentmatch.inbox.proposals import Proposal, corrections_of, new_name, proposal_for, ranked
from intentmatch.inbox.store import Missed
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of messages with the same meaning."""

    messages: tuple[Missed, ...]
    """The messages, the most central first."""
    proposal: Proposal
    kind: Kind = "asks"
    """What the messages do."""

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
        return corrections_of(self.messages)

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
            "kind": self.kind,
            "proposal": self.proposal._asdict(),
            "messages": [message.to_dict() for message in self.messages],
        }


class Review(NamedTuple):
    """The groups of an inbox."""

    clusters: tuple[Cluster, ...]
    """The groups by what their messages do, requests first: of these, those with the most corrections come first, then
    those received most often."""
    understood: int
    """Number of messages that the registry now understands."""
    hashed: tuple[Missed, ...]
    """Messages stored as hashes, without text."""


def review(matcher: Matcher, messages: Sequence[Missed]) -> Review:
    """Group the messages that are still not understood, and propose an action for each group.

    The result does not depend on the order of the messages.
    """
    # Sorted, since exact ties are joined in the order of the rows.
    readable = sorted((m for m in messages if m.text is not None), key=lambda message: (message.text, message.id))
    results = matcher.match_many([message.text or "" for message in readable])
    results = [_in_context(matcher, message, result) for message, result in zip(readable, results, strict=True)]
    pairs = [(m, result) for m, result in zip(readable, results, strict=True) if not _understood(m, result)]
    artefact = matcher.artefact
    cut = _cut(artefact)
    vectors = matcher.encoder.encode([clean(message.text or "") for message, _ in pairs], kind="query")
    said = kinds_of([result for _, result in pairs], cut)
    found: list[Cluster] = []
    taken = {intent.name for intent in artefact.registry}
    for rows in _groups(said, vectors, cut):
        central = rows[most_central(vectors[rows], [_weight(pairs[row][0]) for row in rows])]
        cluster = [pairs[row][0] for row in central]
        of_all = said[rows[0]]
        proposal = proposal_for(cluster, [pairs[row][1] for row in central], artefact.registry, cut, of_all)
        # Named in order, so that no two groups propose the same name.
        if proposal.action == "new" and not proposal.intent:
            proposal = proposal._replace(intent=new_name(cluster[0].text or "", taken))
            taken.add(proposal.intent or "")
        found.append(Cluster(tuple(cluster), proposal, of_all.kind))
    found.sort(key=lambda group: (KINDS.index(group.kind), -group.corrections.total(), -group.count, group.number))
    return Review(tuple(found), len(readable) - len(pairs), tuple(m for m in messages if m.text is None))


def _groups(said: Sequence[Said], vectors: Vectors, cut: float) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each group, which do the same and as certainly: a refusal lies near what it refuses."""
    alike: dict[Said, list[int]] = {}
    for row, one in enumerate(said):
        alike.setdefault(one, []).append(row)
    for rows in map(np.array, alike.values()):
        for group in clustered(vectors[rows], cut):
            yield rows[group]


_cuts: WeakKeyDictionary[Artefact, float] = WeakKeyDictionary()


def _cut(artefact: Artefact) -> float:
    """Return the similarity cut, compared over all utterances once while the registry is in use."""
    cut = _cuts.get(artefact)
    if cut is None:
        cut = _cuts[artefact] = similarity_cut(artefact.wide_vectors, artefact.registry.owners)
    return cut


def _in_context(matcher: Matcher, message: Missed, result: MatchResult) -> MatchResult:
    """Return the result with the tags active of the intent that users gave for the message, if it has some."""
    wanted = next((intent for intent, _ in ranked(message.corrections)), None)
    # Without its tags the intent would not answer, and a correction never count as understood.
    if wanted is None or wanted not in matcher.registry or not (tags := matcher.registry[wanted].when):
        return result
    return matcher.match(message.text or "", context=tags)


def _understood(message: Missed, result: MatchResult) -> bool:
    """Whether the registry now matches a message, and with the intent of its corrections if there are any."""
    wanted = [intent for intent, _ in ranked(message.corrections)][:1]
    return not is_missed(result) and wanted in ([], [result.intent])


def _weight(message: Missed) -> int:
    """Return the weight of a message: how often it was received or corrected."""
    return message.count + sum(message.corrections.values())
