"""What a missed message does: ask for something, refuse, say that all is well, hang on the turn before, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

from intentmatch.core.result import MatchResult
from intentmatch.reading.dialogue_acts import Acts
from intentmatch.reading.noise import LIKE_NO_LANGUAGE
from intentmatch.reading.parts import MessagePart, parts_of_many
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean

Kind = Literal["asks", "refuses", "settled", "depends", "courtesy", "noise"]
"""What a message does.

- `asks`: it asks for something;
- `refuses`: it refuses what an intent does ("I never asked you to cancel my order");
- `settled`: it says that all is well, done or somebody else's business ("my parcel arrived yesterday");
- `depends`: it says too little alone ("and the other one?");
- `courtesy`: it greets, thanks or chats;
- `noise`: it has no words that mean anything.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)

# Probability from which a part does something, and from which that is certain. Chosen on
# `tests/inbox/triage/seen.yaml`, of which no request is certain to do anything else.
_LIKELY = 0.5
_REFUSES, _SETTLED, _DEPENDS, _COURTESY = 0.8, 0.9998, 0.7, 0.998
# Confidence of the refused intent from which it is certain which intent is refused.
_NAMES_IT = 0.85


class Said(NamedTuple):
    """What a message does."""

    kind: Kind
    intent: str | None = None
    """The intent that is refused."""
    is_certain: bool = False
    """Whether there is no doubt about it. What asks for something is never certain to belong to one intent."""


def kinds_of(results: Sequence[MatchResult], cut: float) -> list[Said]:
    """Return what the messages of some results do; `cut` is the least similarity of messages that mean the same."""
    texts = [ReadText(clean(result.message)) for result in results]
    return [
        _kind_of(result, said.parts, cut)
        for result, said in zip(results, parts_of_many(texts, [result.language for result in results]), strict=True)
    ]


def _kind_of(result: MatchResult, parts: Sequence[MessagePart], cut: float) -> Said:
    stages = {stage.name: stage.says for stage in result.trace.stages}
    if "noise" in stages:
        return Said("noise", is_certain=stages["noise"] != LIKE_NO_LANGUAGE)
    # "Hi, I want to ... Thanks" is what stands between the courtesies.
    saying = [part.acts for part in parts if part.acts.courtesy < _LIKELY]
    if not saying:
        is_certain = min(part.acts.courtesy for part in parts) >= _COURTESY
        hangs_on_it = any(part.acts.depends >= _LIKELY for part in parts)  # "the second, thanks"
        return Said("depends") if hangs_on_it else Said("courtesy", is_certain=is_certain)
    if (refused := _refused(result, stages, saying)) is not None:
        return refused
    # The least of all parts: one part that asks is enough to make a request of the whole.
    settled, depends = min(acts.settled for acts in saying), min(acts.depends for acts in saying)
    if settled >= _LIKELY:
        names_something = bool(result.candidates) and result.candidates[0].score >= cut
        return Said("settled", is_certain=settled >= _SETTLED and names_something)
    is_fragment = depends >= _LIKELY or ("fragment" in stages and result.verdict == "ambiguous")
    return Said("depends", is_certain=depends >= _DEPENDS) if is_fragment else Said("asks")


def _refused(result: MatchResult, stages: Collection[str], saying: Sequence[Acts]) -> Said | None:
    """Return what is refused: an intent that the bot asks about alone, for a negation or for what a part does."""
    # The most of all parts: one refusal is enough.
    most = max(acts.refuses for acts in saying)
    if result.verdict != "ambiguous" or len(result.rivals) != 1:
        return None
    if "negation" not in stages and ("acts" not in stages or most < _LIKELY):
        return None
    best = result.rivals[0]
    is_clear = "negation" in stages and min(acts.refuses for acts in saying) >= _REFUSES
    return Said("refuses", best.intent, is_clear and (best.confidence or 0.0) >= _NAMES_IT)
