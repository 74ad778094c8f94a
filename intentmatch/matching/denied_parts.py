"""Ask about a part of a message that denies what it is matched with: "please don't cancel it", "it has arrived"."""

from __future__ import annotations

from dataclasses import replace

from intentmatch.core.result import Candidate
from intentmatch.matching.parted_message import IS_BESIDE, PartedMessage
from intentmatch.matching.policy import CheckedDecision, Decision
from intentmatch.reading.dialogue_acts import Acts, odds
from intentmatch.reading.parts import MessagePart
from intentmatch.reading.refusing_word import refusing_word
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import fold

# From 84% on, three of 240 short plain requests in 15 languages read like refusals; from 90% on, none. From 80%
# on for settled matters 1% fewer of Amazon's negations are carried out in clinc150 and 4% fewer in banking77, and
# requests such as "forgot my password again" are asked about.
REFUSES, SETTLED = 0.9, 0.95
"""Probability from which a part refuses, and from which it says that nothing is to be done."""
_LINE_ODDS = 16.0
"""A part denies something if the odds of that are so many times those of the utterance that it is nearest to.

Words that both share ("the parcel has arrived") may sound settled, and say nothing about what the author wants. A
refusal is compared with how much the utterance refuses: "my card was stolen" sounds settled, and "my card was not
stolen" is none of it. Compared with that, too, 54 more of 5,600 negations were carried out, and 5 fewer of 16,300
right messages asked about.
"""
# "There is no fee" reads like a refusal by 70 to 90%, as some requests do: the utterance tells them apart. From 60% on,
# 17 fewer of 5,600 negations are carried out, and 28 more of 9,400 right messages in languages without lines are asked
# about; from 80% on, 26 more negations are carried out, and 18 fewer such messages are asked about.
MAY_REFUSE, _MAY_REFUSE_ODDS = 0.7, 128.0
"""Probability from which a part that is much more of a refusal than the utterance refuses, and how much more."""
# With these, 0.6% fewer of Amazon's negations are carried out in clinc150 and 1.2% fewer in banking77, and 4 more of
# 3,328 right messages of seven sets are asked about, half of them in a tale. Whatever the score, 0.7 and 2.0% fewer are
# carried out, and "habe schon wieder das Passwort vergessen" is asked about; from 75% on, 1.0 and 2.7%, and 10 more.
_MAY_BE_SETTLED, _MAY_BE_SETTLED_ODDS = 0.85, 64.0
"""The same for a part that says that nothing is to be done: "I have already booked for Thursday"."""
_NEARLY_SAID = 0.75
"""Score from which a message nearly is an utterance, and only surely settled: "I have forgotten my password again"."""
# From a lower probability on, "cancel my order" counts as a denial itself, and excuses every refusal near it. From 80%
# on, "no, non voglio" is asked about beside the answers of the intent "no".
LINE_DENIES = 0.7
"""Probability from which an utterance of the registry does so itself."""
UNDECIDED, _LINE_UNDECIDED = 0.4, 0.25
"""Probability from which a part only considers what it names, and from which an utterance may do so itself."""
# "The card worked until today, please check it": a clause of a request may sound settled. Without this, 198 of 27,000
# right messages to seven bots were asked about, with it 118, and 25 more of 5,600 negations are carried out.
_WHOLE_DENIES = 0.8
"""Probability from which the message as a whole denies something, too."""
# Chosen with the limits of `reading.refusing_word`: of 162 negatives with a new word of negation that were carried out
# all the same (Amazon's, clinc150 and banking77), 59 are asked about, and of 9,553 right messages of seven sets 14.
_MAY_HAVE_WORD, _LINE_REFUSES, _SETTLED_WITHOUT = 0.1, 0.3, 0.7
"""Probability from which a word may make a part a refusal, up to which its utterance may be one, and up to which the
part may be settled without the word: "my card does not work" tells of a problem."""


def asked_if_denied(message: PartedMessage, decision: Decision, part: MessagePart) -> CheckedDecision:
    """Ask if a part denies what is matched, and the message as one text denies something, too."""
    whole = max(message.acts.denies, message.acts.undecided)
    if len(message.parts) > 1 and whole < _WHOLE_DENIES:
        return CheckedDecision(decision, None)
    return asked_if_part_denies(message, decision, part)


def asked_if_part_denies(message: PartedMessage, decision: Decision, part: MessagePart) -> CheckedDecision:
    """Ask if a part denies what it is matched with."""
    best, acts = decision.ranked[0], part.acts
    if decision.verdict != "matched":
        return CheckedDecision(decision, None)
    if acts.undecided >= UNDECIDED and message.line_acts(best).undecided < _LINE_UNDECIDED:
        return asked_about_part(decision, part)
    if acts.denies >= MAY_REFUSE:
        line = message.denied_acts(best, part)
        # Courtesy ("no thanks") can be meant with any words of refusal.
        is_courtesy = max(acts.courtesy, line.courtesy) >= IS_BESIDE
        if not is_courtesy and _denies_more(acts, line, best):
            return asked_about_part(decision, part)
    return _asked_if_a_word_refuses(message, decision, part)


def asked_about_part(decision: Decision, part: MessagePart) -> CheckedDecision:
    """Ask about the first intent, and say what a part denies."""
    acts = part.acts
    probability, what = max(
        (acts.refuses, "refuses what it names"),
        (acts.settled, "says that nothing is to be done"),
        (acts.undecided, "only considers it"),
    )
    found = f"“{part.text}” {what} ({probability:.0%})"
    return _asked_about_first(decision, f", but {found}", found)


def _asked_if_a_word_refuses(message: PartedMessage, decision: Decision, part: MessagePart) -> CheckedDecision:
    """Ask if one word alone keeps a part that is matched from reading like the intent: "my card was not stolen"."""
    best, acts = decision.ranked[0], part.acts
    line = best.utterance
    # The network knows some languages better than others: a text is compared with one in its own.
    if line is None or message.is_foreign or acts.refuses < _MAY_HAVE_WORD or acts.courtesy >= IS_BESIDE:
        return CheckedDecision(decision, None)
    found = refusing_word(part.text, acts.refuses)
    if found is None or found.acts.settled >= _SETTLED_WITHOUT or message.line_acts(best).refuses >= _LINE_REFUSES:
        return CheckedDecision(decision, None)
    if fold(found.word) in fold(line.text).split():
        return CheckedDecision(decision, None)
    without = message.read(ReadText(found.without)).ranked
    if not without or without[0].intent != best.intent or without[0].score < best.score:
        return CheckedDecision(decision, None)
    says = f"“{found.word}” refuses {best.intent}, which “{found.without}” would be"
    return _asked_about_first(decision, f" but for “{found.word}”", says)


def _denies_more(acts: Acts, line: Acts, best: Candidate) -> bool:
    """Whether a part denies something that the utterance it is nearest to does not deny."""
    least = _LINE_ODDS if acts.refuses >= REFUSES else _MAY_REFUSE_ODDS
    if acts.refuses >= MAY_REFUSE and _outweighs(acts, line.refuses, least):
        return True
    # A bot without confidences is too small to be contradicted by a statement of a state.
    least = _LINE_ODDS if acts.denies >= SETTLED else _MAY_BE_SETTLED_ODDS
    enough = SETTLED if best.score >= _NEARLY_SAID else _MAY_BE_SETTLED
    says_all_is_well = best.confidence is not None and acts.denies >= enough
    # A matter that is surely settled is none that the author's line refuses: "pay the bill" may sound like a refusal.
    denied_by_line = line.settled if acts.settled >= enough else max(line.refuses, line.settled)
    return says_all_is_well and _outweighs(acts, denied_by_line, least)


def _outweighs(acts: Acts, line: float, least: float) -> bool:
    """Whether the odds that a part denies something are at least so many times those of an utterance that does not."""
    return line < LINE_DENIES and odds(acts.denies) >= least * odds(line)


def _asked_about_first(decision: Decision, but: str, says: str) -> CheckedDecision:
    """Ask about the first intent: a text reads like it, `but` for what it denies."""
    best = decision.ranked[0]
    line = f"“{best.utterance.text}” of {best.intent}" if best.utterance else best.intent
    reason = f"it reads like {line}{but}."
    return CheckedDecision(replace(decision, verdict="ambiguous", rivals=(best,), reason=reason), says)
