"""Decide on a message by what its parts do: courtesy and tales stand beside a request, a refusal is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import NamedTuple

from intentmatch.core.result import Candidate
from intentmatch.core.when_read import when_read
from intentmatch.matching.denied_parts import (
    LINE_DENIES,
    MAY_REFUSE,
    REFUSES,
    SETTLED,
    UNDECIDED,
    asked_about_part,
    asked_if_denied,
    asked_if_part_denies,
)
from intentmatch.matching.parted_message import IS_BESIDE, PartedMessage
from intentmatch.matching.policy import CheckedDecision, Decision, Request
from intentmatch.reading.dialogue_acts import Acts, odds
from intentmatch.reading.parts import MessagePart

_CLEAR = 0.3
"""A part with less is certainly no courtesy: only such parts are several requests."""
# With it, one more of 100 pairs of requests is noticed, and 3 of 2,475 messages in a tale are asked about.
_SURE = 0.9
"""Confidence from which a tale is a request of its own if the message means the same."""
# With 0.8 instead, tales cost seven sets 0.2 points more; with 0.96, seven more messages in courtesy are wrong.
_CERTAIN = 0.9
"""Probability from which a part is courtesy whatever it is matched with."""
_INSTEAD = 0.55
"""Confidence from which a part decides in place of a message that is out of scope as a whole."""
# Below it, a part that is matched with another intent than its message was right in 25 of 77 messages, above it in 37
# of 61 (eleven development sets, with and without a tale or courtesy around the request).
_CHANCE = 0.1
"""Confidence from which the message as a whole may mean an intent."""
# Weights of the log odds below, rounded from a logistic regression on 6,364 messages with several requests and 16,557
# with one, some of these in a tale or in courtesy (ten development sets). With sets left out in turn and as many single
# requests asked about, log odds of the parts and the whole alone offer both intents of 56% of the pairs, and with those
# of the boundary 65%. The length of the parts, their scores and what they tell add at most 1%.
_SURER, _OTHER, _WHOLE, _BOUNDARY = 0.5, 1.0, -0.5, 0.5
_SEVERAL = 3.0
"""Evidence from which two parts are requests of their own, and no clauses of one."""


class _Read(NamedTuple):
    """A part with the decision on it alone."""

    part: MessagePart
    decision: Decision
    place: int

    @property
    def best(self) -> Candidate:
        return self.decision.ranked[0]

    @property
    def certainty(self) -> float:
        return _certainty(self.decision)


class _Readings(NamedTuple):
    """The parts that are more than courtesy and tale."""

    asking: Sequence[_Read]
    denying: Sequence[_Read]

    @property
    def matched(self) -> Sequence[_Read]:
        return [one for one in self.asking if one.decision.verdict == "matched"]


def decide_on_parts(message: PartedMessage) -> CheckedDecision:
    """Return the decision on a message with its parts.

    - A part that refuses what it names, or says that nothing is to be done, is asked about if the message as one text
      says so, too, and the utterance that it is nearest to does not.
    - Of several parts, the one that asks for something decides if that is more certain than the whole. Courtesy
      yields to it in any case; a part that may be courtesy ("Ich möchte kündigen.") is none if it is matched with an
      utterance that is none. If the whole is matched with another intent, and gives this one no chance or was decided
      by a reranker, or if a tale says surely what the whole is matched with, both are asked about.
    - Parts that ask for different intents are asked about, if they are as certain as the whole, or clearly apart.
    """
    whole = message.whole
    if not whole.ranked or (whole.verdict == "ambiguous" and len(whole.rivals) == 1):
        return CheckedDecision(whole, None)  # one rival: it was found to refuse that intent
    if message.requests:
        # Cut at each "and", a message may be asked about; a clause of one request decides nothing.
        cut = decide_on_parts(message._replace(parts=message.requests, requests=()))
        if cut.says and len(cut.decision.rivals) > 1:
            return cut
    if len(message.parts) == 1:
        return asked_if_part_denies(message, whole, message.parts[0])
    parts = [_without_doubtful_courtesy(part, message) for part in message.parts]
    message = message._replace(parts=parts)
    read_parts = [_Read(part, message.read(part.read), n) for n, part in enumerate(parts) if not is_beside(part.acts)]
    found = _Readings(
        [one for one in read_parts if one.part.acts.refuses < REFUSES],
        [one for one in read_parts if one.part.acts.refuses >= REFUSES],
    )
    if not read_parts and whole.verdict != "matched":
        return _courtesy_alone(message)
    if not found.matched:
        denied = _without_match(message, found)
        return denied if denied.says else _asked_if_settled(message, alone=not read_parts)
    return _with_match(message, found)


def _without_doubtful_courtesy(part: MessagePart, message: PartedMessage) -> MessagePart:
    """Return a part that may be courtesy as one that asks for something if it is matched with what is no courtesy."""
    if not is_beside(part.acts) or not may_ask(part.acts):
        return part
    decision = message.read(part.read)
    if decision.verdict != "matched" or message.line_acts(decision.ranked[0]).courtesy >= IS_BESIDE:
        return part
    return part._replace(acts=part.acts._replace(courtesy=0.0, tale=0.0, settled=0.0, undecided=0.0))


def _with_match(message: PartedMessage, found: _Readings) -> CheckedDecision:
    """Decide on parts of which at least one asks for an intent."""
    whole, matched, stands = message.whole, found.matched, message.stands
    if _intents(matched) > 1:
        clear = [one for one in matched if not _may_be_courtesy(one, message)]
        if _intents(requests := _requests(clear, message)) > 1:
            return _several(message, requests, answered=not found.denying and _dropped(message, requests[-1]) is None)
        # A thank-you yields to a request beside it, and answers where there is nothing else.
        matched = clear or matched
    first = max(matched, key=lambda one: one.certainty)
    if not _may_decide(first, whole):
        return CheckedDecision(whole, None)
    line = message.line_acts(first.best)
    denies = max(line.refuses, line.settled) >= LINE_DENIES
    if not denies and (taken_back := _taken_back(first, found.denying) or _dropped(message, first)) is not None:
        return taken_back
    # With nothing beside the request, its parts may be clauses of one sentence.
    is_one_sentence = not any(is_beside(part.acts) for part in message.parts)
    if stands and (is_one_sentence or _certainty(whole) >= first.certainty):
        return CheckedDecision(whole, None)
    if first.best.intent != whole.ranked[0].intent:
        contradicts = stands and (message.by_reranker or not _has_chance(first, whole))
        if contradicts or _is_told_too(message):
            return _either(whole, first)
    denied = asked_if_part_denies(message, first.decision, first.part)
    return denied if denied.says else _decided_by(first, "asks for something")


def _is_told_too(message: PartedMessage) -> bool:
    """Whether a tale beside the request says alone, and surely, what the message means as one text.

    "The tap is dripping and the neighbours are loud": the second half sounds like a tale.
    """
    if message.whole.verdict == "out_of_scope":
        return False
    tales = (part for part in message.parts if is_beside(part.acts) and part.acts.courtesy < _CLEAR)
    found = map(message.read, (part.read for part in tales))
    return any(_matches(one, message.whole.ranked[0].intent) and _certainty(one) >= _SURE for one in found)


def _decided_by(one: _Read, does: str) -> CheckedDecision:
    """Return the decision on a part in place of that on the message."""
    reason = when_read(_alone, one.part.text, one.decision)
    return CheckedDecision(replace(one.decision, reason=reason), f"“{one.part.text}” {does}")


def _alone(text: str, decision: Decision) -> str:
    return f"“{text}” decides: {decision.reason}"


def _may_decide(first: _Read, whole: Decision) -> bool:
    """Whether a part may decide in place of a message that is asked about or out of scope as one text."""
    if whole.verdict == "ambiguous":
        return _has_chance(first, whole)
    if whole.verdict == "out_of_scope" and first.part.acts.denies >= MAY_REFUSE:
        return False
    if _is_refused_by_author(whole) and first.best.intent != whole.ranked[0].intent:
        return False
    return whole.verdict == "matched" or first.best.confidence is None or first.certainty >= _INSTEAD


def _has_chance(first: _Read, whole: Decision) -> bool:
    """Whether the message as one text may mean the intent of a part. Without confidences it may mean any."""
    said = next((one for one in whole.ranked if one.intent == first.best.intent), None)
    return said is not None and (said.confidence is None or said.confidence >= _CHANCE)


def _is_refused_by_author(decision: Decision) -> bool:
    """Whether a threshold that the author wrote refuses the message: it never hands the message to another intent."""
    return decision.verdict == "out_of_scope" and decision.cut is not None and decision.cut.on != "in_scope"


def _intents(some: Sequence[_Read]) -> int:
    return len({one.best.intent for one in some})


def _taken_back(first: _Read, denying: Sequence[_Read]) -> CheckedDecision | None:
    """Return the question about a part that asks for an intent, if another part takes that back."""
    for one in denying:
        names_it = one.best.intent == first.best.intent
        if one.place > first.place:
            # "cancel my order. no wait, don't": a part that names nothing denies what was asked.
            takes_back = names_it or one.decision.verdict != "matched"
        else:
            # "I never asked for this newsletter, unsubscribe me": what is asked for last counts, if it is clear.
            takes_back = names_it and one.certainty >= first.certainty
        if takes_back:
            return asked_about_part(first.decision, one.part)
    return None


def _dropped(message: PartedMessage, first: _Read) -> CheckedDecision | None:
    """Return the question about a part that asks for an intent, if a later one names nothing and may refuse it.

    "Cancel it. Oh well, bring it all the same": the message as one text has to sound like a refusal, too.
    """
    later = message.parts[first.place + 1 :] if message.acts.refuses >= MAY_REFUSE else ()
    for part in later:
        if part.acts.refuses >= MAY_REFUSE and message.read(part.read).verdict != "matched":
            return asked_about_part(first.decision, part)
    return None


def _without_match(message: PartedMessage, found: _Readings) -> CheckedDecision:
    """Decide on parts of which none asks for an intent."""
    whole = message.whole
    for one in found.denying:
        if one.decision.verdict == "matched":
            return asked_if_denied(message, one.decision, one.part)
    if whole.verdict == "matched" and found.denying:
        return asked_if_denied(message, whole, found.denying[0].part)
    if whole.verdict == "matched" and found.asking and not message.stands:
        first = max(found.asking, key=lambda one: one.best.rank)
        return _decided_by(first, "asks for something")
    return CheckedDecision(whole, None)


def _asked_if_settled(message: PartedMessage, *, alone: bool) -> CheckedDecision:
    """Ask about a message that is matched because of a part by which nothing is to be done.

    Such as "the timer is set, what happened?". With `alone`, no part asks for anything, and what they say together
    counts as well.
    """
    whole = message.whole
    parts = [*message.parts, MessagePart(message.text, message.acts)] if alone else message.parts
    for part in parts if whole.verdict == "matched" else ():
        asks_nothing = part.acts.settled >= SETTLED or part.acts.undecided >= UNDECIDED
        if asks_nothing and (alone or _matches(message.read(part.read), whole.ranked[0].intent)):
            return asked_if_denied(message, whole, part)
    return CheckedDecision(whole, None)


def _matches(decision: Decision, intent: str) -> bool:
    return decision.verdict == "matched" and decision.ranked[0].intent == intent


def _courtesy_alone(message: PartedMessage) -> CheckedDecision:
    """Decide on a message of courtesy and tales alone: "thanks for your help! I am on the train" is a thank-you."""
    if any(may_ask(part.acts) for part in message.parts):
        return CheckedDecision(message.whole, None)
    only = [_Read(part, message.read(part.read), 0) for part in message.parts if part.acts.courtesy >= _CERTAIN]
    matched = [one for one in only if one.decision.verdict == "matched"]
    first = max(matched, key=lambda one: one.certainty, default=None)
    if first is None or message.line_acts(first.best).courtesy < IS_BESIDE:
        return CheckedDecision(message.whole, None)
    return _decided_by(first, "is courtesy, and nothing is asked for")


def _certainty(decision: Decision) -> float:
    best = decision.ranked[0]
    return best.score if best.confidence is None else best.confidence


def is_beside(acts: Acts) -> bool:
    """Whether a part with these acts stands beside what is asked for."""
    return acts.courtesy + acts.tale + acts.settled + acts.undecided >= IS_BESIDE


def may_ask(acts: Acts) -> bool:
    """Whether a part with these acts may ask for something: it stands beside nothing, or may be courtesy."""
    return acts.courtesy < _CERTAIN and acts.tale + acts.settled + acts.undecided < IS_BESIDE


def _may_be_courtesy(one: _Read, message: PartedMessage) -> bool:
    return one.part.acts.courtesy >= _CLEAR or message.line_acts(one.best).courtesy >= IS_BESIDE


def _requests(parts: Sequence[_Read], message: PartedMessage) -> list[_Read]:
    """Return the surest part with those that are requests of their own beside it, in order."""
    surest = max(parts, key=lambda one: one.certainty, default=None)
    return [one for one in parts if surest and (one is surest or _are_several(surest, one, message))]


def _are_several(surer: _Read, other: _Read, message: PartedMessage) -> bool:
    """Whether two parts are requests of their own: a message that is one request is more certain than its clauses."""
    whole = _log_odds(_certainty(message.whole)) if message.stands else 0.0
    later = max(surer, other, key=lambda one: one.place)
    evidence = _SURER * _log_odds(surer.certainty) + _OTHER * _log_odds(other.certainty)
    return evidence + _WHOLE * whole + _BOUNDARY * later.part.begins >= _SEVERAL


def _log_odds(probability: float) -> float:
    return log(odds(probability))


def _several(message: PartedMessage, matched: Sequence[_Read], *, answered: bool) -> CheckedDecision:
    """Ask which of several requests is meant; `answered` is whether each may be answered, as none is taken back."""
    whole = message.whole
    by_intent: dict[str, _Read] = {}
    for one in matched:
        by_intent.setdefault(one.best.intent, one)
    found = " and ".join(f"“{one.part.text}” for {intent}" for intent, one in by_intent.items())
    named = {intent: one.best for intent, one in by_intent.items()}
    # What the message means as one text comes first: it is more often right than a clause.
    best = whole.ranked[0]
    if best.intent in named or whole.verdict != "out_of_scope":
        named = {best.intent: named.get(best.intent, best)} | named
    question = _question(whole, [*named.values()], f"it asks for several things: {found}.")
    return CheckedDecision(replace(question, requests=_whole_requests(message, matched) if answered else ()), found)


def _whole_requests(message: PartedMessage, matched: Sequence[_Read]) -> tuple[Request, ...]:
    """Return requests with the parts behind them that are none of their own: "cancel AB12 and AB34" is one.

    A tale or courtesy between two requests of one intent keeps them apart.
    """
    asked = {one.place: one for one in matched}
    found: list[Request] = []
    is_open = False
    for place, part in enumerate(message.parts):
        one = asked.get(place)
        if one is not None and not (is_open and found[-1].intent == one.best.intent):
            found.append(Request(part.text, part.text, one.best.intent))
            is_open = True
        elif is_open and (not is_beside(part.acts) or _is_code(part)):
            found[-1] = found[-1]._replace(last=part.text)
        else:
            is_open = False
    return tuple(found)


def _is_code(part: MessagePart) -> bool:
    """Whether a part may be a value alone, which looks like courtesy: "and AB34"."""
    return part.acts.courtesy >= IS_BESIDE and any(map(str.isdigit, part.text))


def _either(whole: Decision, first: _Read) -> CheckedDecision:
    best = whole.ranked[0]
    found = f"“{first.part.text}” alone reads like {first.best.intent}"
    return CheckedDecision(_question(whole, [best, first.best], f"it reads like {best.intent}, but {found}."), found)


def _question(whole: Decision, rivals: Sequence[Candidate], reason: str) -> Decision:
    named = {one.intent for one in rivals}
    ranked = (*rivals, *(one for one in whole.ranked if one.intent not in named))
    return replace(whole, verdict="ambiguous", ranked=ranked, rivals=tuple(rivals), doubtful=True, reason=reason)
