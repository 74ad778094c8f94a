"""Propose what becomes of a group of missed messages, with a reason; what is not sure is a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry
from intentmatch.inbox.kinds import Kind, Said
from intentmatch.inbox.store import Missed
from intentmatch.text.normalize import fold

Action = Literal["add", "new", "not", "test", "ignore"]
"""What becomes of messages: utterances of an intent (`add`) or of a new one, lines that an intent must not match
(`not`), tests that they are out of scope, or nothing."""

_Name = TypeVar("_Name", str, "str | None")

# Mean confidence below which a group is unlike all intents.
_UNLIKE = 0.2
# Messages needed to propose a new intent.
_FEWEST_FOR_AN_INTENT = 3
_CHARACTERS_OF_A_NAME = 40
MOST_OFFERED = 3
"""Intents that a question offers."""


_BECAUSE: Mapping[Kind, str] = {
    "settled": "it says that all is well, done or somebody else's business",
    "depends": "it says too little alone to mean one intent",
    "courtesy": "it greets, thanks or chats, and asks for nothing",
    "noise": "it has no words that mean anything",
}


class Proposal(NamedTuple):
    """What to do with a group."""

    action: Action | Literal["ask"]
    """"ask": nothing speaks for any action, and the author has to say."""
    intent: str | None
    """The intent that gets the messages, or the name of the new intent; None if there is none."""
    because: str
    """The reason, in words."""
    sure: bool = False
    """Whether it may be accepted with others at once; otherwise it is a question to the author."""
    nearest: tuple[str, ...] = ()
    """The intents that the messages are most likely about, the likeliest first. Added in 0.3.0."""

    @property
    def accepted(self) -> tuple[Action, str | None] | None:
        """What becomes of the messages, and their intent, if nobody says otherwise; None if it is a question."""
        return (self.action, self.intent) if self.sure and self.action != "ask" else None


def proposal_for(
    cluster: Sequence[Missed], results: Sequence[MatchResult], registry: Registry, cut: float, said: Said
) -> Proposal:
    """Return the proposal for a group: what users corrected, otherwise what its messages do.

    `cut` is the least similarity of messages that mean the same. A new intent has no name yet.
    """
    measure, means = _means(results)
    if corrections := corrections_of(cluster):
        proposal = _corrected(cluster, corrections, registry, said)
    elif said.kind != "asks":
        proposal = _for_kind(said)
    else:
        proposal = _asked(cluster, measure, means, cut)
    return proposal._replace(nearest=tuple(intent for intent, _ in ranked(means)[:MOST_OFFERED]))


def _corrected(cluster: Sequence[Missed], corrections: Counter[str | None], registry: Registry, said: Said) -> Proposal:
    (intent, users), *_ = ranked(corrections)
    because = f"{users} of {corrections.total()} corrections say so"
    if intent is None:
        because = f"{users} of {corrections.total()} corrections say that it is no intent"
        return Proposal("new" if _is_frequent(cluster) else "ignore", None, _received(cluster, because))
    # One user may be mistaken, or mean harm.
    sure = 2 * users > corrections.total() and users > 1 and said.kind == "asks" and intent in registry
    return Proposal("add" if intent in registry else "new", intent, because, sure)


def _for_kind(said: Said) -> Proposal:
    """Return what becomes of messages that ask for nothing: never an utterance."""
    if said.kind == "refuses":
        why = f"it refuses {said.intent}: as an example of it, it would match what users refuse"
        return Proposal("not", said.intent, why, said.is_certain)
    action: Action = "test" if said.kind == "settled" else "ignore"
    because = _BECAUSE[said.kind]
    if said.kind == "noise" and not said.is_certain:
        because = "it reads like no language, unless it is a rare word"
    return Proposal(action, None, because, said.is_certain)


def _asked(cluster: Sequence[Missed], measure: str, means: Mapping[str, float], cut: float) -> Proposal:
    """Ask which intent requests are for: of missed messages, a confidence says least.

    In `tests/inbox/triage`, "the wifi works again" has 0.99 for "no wifi", and of the requests with 0.75 and more half
    belong to the intent. A new intent is suggested if the messages are unlike all and were received often.
    """
    if not means:
        return Proposal("new" if _is_frequent(cluster) else "ask", None, _received(cluster, "its words are unknown"))
    best, mean = ranked(means)[0]
    is_unlike = mean < (_UNLIKE if measure == "confidence" else cut)
    because = f"{best} is nearest, with a mean {measure} of {mean:.2f}"
    return Proposal("new" if is_unlike and _is_frequent(cluster) else "ask", None, _received(cluster, because))


def _is_frequent(cluster: Sequence[Missed]) -> bool:
    return sum(message.count for message in cluster) >= _FEWEST_FOR_AN_INTENT


def _received(cluster: Sequence[Missed], because: str) -> str:
    return f"received {times(sum(message.count for message in cluster))}; {because}"


def times(count: int) -> str:
    """Return a count in words: "once", "3 times"."""
    return "once" if count == 1 else f"{count} times"


def _means(results: Sequence[MatchResult]) -> tuple[Literal["confidence", "score"], dict[str, float]]:
    """Return the name of the measure, and its mean for each intent."""
    calibrated = any(result.confidence is not None for result in results)
    means: dict[str, float] = {}
    for candidate in (candidate for result in results for candidate in result.candidates):
        measure = (candidate.confidence or 0.0) if calibrated else candidate.score
        means[candidate.intent] = means.get(candidate.intent, 0.0) + measure / len(results)
    return ("confidence" if calibrated else "score"), means


def ranked(counts: Mapping[_Name, float]) -> list[tuple[_Name, float]]:
    """Return names and counts, the highest count first; ties are sorted by name, None last."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, item[0] or ""))


def corrections_of(messages: Iterable[Missed]) -> Counter[str | None]:
    """Return the intents that users gave for some messages, with their counts; None is no intent."""
    found: Counter[str | None] = Counter()
    for message in messages:
        found.update(message.corrections)
    return found


def new_name(text: str, taken: Collection[str]) -> str:
    """Make the name of a new intent from a message: `where_is_my_refund`, with a number if the name is taken."""
    words = fold(text).split()
    # Whole words, as long as there is more than one.
    while len(words) > 1 and len("_".join(words)) > _CHARACTERS_OF_A_NAME:
        words.pop()
    name = bare = "_".join(words)[:_CHARACTERS_OF_A_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{bare}_{number}"
    return name
