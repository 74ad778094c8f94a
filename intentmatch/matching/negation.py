"""Ask about a message that reads like an utterance but for a negation: "please don't cancel my order"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from intentmatch.core.result import Candidate
from intentmatch.matching.policy import CheckedDecision, Decision
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean
from intentmatch.text.refusals import Refusal, refusal

# How much lower the score may be without the negation: the message may read a little worse, and a word that loses a
# prefix may fall into other pieces. Chosen with the development half of `tests/matching/negation.yaml`, the requests of
# `negation_forms.yaml` and the development rows of clinc150, banking77 and massive.
_WORSE, _WORSE_WITHOUT_AFFIX = 0.05, 0.1
# How much better the text without it must read where more than the score decides.
_BETTER = 0.01

_Alike = Callable[[str, str], float]


def check_negation(
    decision: Decision,
    meant: ReadText,
    typed: ReadText,
    language: str | None,
    read: Callable[[str], Decision],
    *,
    alike: _Alike,
) -> CheckedDecision:
    """Turn a match into a question if only a negation keeps the message from reading like the intent.

    `meant` is the message, `typed` the same before its spelling was corrected ("annule pas" may become "annuler pas",
    which refuses nothing); `read` decides on another text as the pipeline would, and `alike` compares two texts. The
    message refuses the intent if one of its clauses has a negation that refuses ("don't", "I don't want to",
    `intentmatch.text.refusals`), and the clause without the negation is in scope, nearest to an utterance without such
    a negation, and

    - scores about as high as the message. A negation that belongs to the intent ("I don't want the lamp" for "cancel")
      lowers the score when it is left out.
    - is of the same intent, whose utterance nearest to the message has no such negation; other utterances may have one.
    - If it is of another intent, nothing but the negation speaks for the first one: the clause is the whole message, or
      the utterance nearest to the message refuses as well ("please don't ship it" for "please don't refund me").

    An intent may have utterances with such a negation and without: "I no longer need the visit", "cancel my visit".
    Then "please don't cancel the visit" refuses it, which is nearer to the second without its negation than it is to
    the first; "I don't need the visit" is not.

    A clause that names little itself ("I found my card, don't block it") is read behind the clauses before it. It
    refuses the intent of a matched message, or the one nearest to the clause, if the score is higher without the
    negation and neither utterance has one. If both are the same intent, an equal score is enough.

    A message out of scope refuses an intent only if the clause would be matched. A match stays if the clauses after the
    negation ask for the intent themselves ("I never asked for this newsletter, unsubscribe me").

    Other negations ("my order should not be cancelled") are left to `message_parts`.
    """
    if decision.verdict == "ambiguous" or not decision.ranked:
        return CheckedDecision(decision, None)
    found = refusal(meant.text, language, meant.words)
    if found is None and typed.text != meant.text:
        found = refusal(typed.text, language, typed.words)
    if found is None:
        return CheckedDecision(decision, None)
    best = decision.ranked[0]
    without = read(found.without)
    # A message that nobody understands is not asked about because of a negation in it.
    if decision.verdict == "out_of_scope" and without.verdict != "matched":
        return CheckedDecision(decision, None)
    refused = _refused(best, without, found, language, alike)
    if refused is None and found.with_before is not None and decision.verdict == "matched":
        refused = _refused_later(best, without, read(found.with_before), language)
    if refused is None:
        as_line = _refuses(best, language)
        what = (
            f", as does the nearest utterance of {best.intent}" if as_line else f" something other than {best.intent}"
        )
        return CheckedDecision(decision, f"“{found.words}” refuses{what}")
    if decision.verdict == "matched" and _is_asked_for_later(best, found, language, read):
        says = f"“{found.words}” refuses something, but “{found.after}” asks for {best.intent}"
        return CheckedDecision(decision, says, is_final=True)
    return _asked(decision, refused, found)


def _asked(decision: Decision, refused: Candidate, found: Refusal) -> CheckedDecision:
    best = decision.ranked[0]
    says = f"“{found.words}” refuses {refused.intent}, which “{found.without}” would be"
    line = f"“{refused.utterance.text}”" if refused.utterance else "an utterance"
    reason = f"it reads like {line} of {refused.intent} but for the negation “{found.words}”."
    rivals = (best,) if refused.intent == best.intent else (best, refused)
    return CheckedDecision(replace(decision, verdict="ambiguous", rivals=rivals, reason=reason), says)


def _refused(
    best: Candidate, without: Decision, found: Refusal, language: str | None, alike: _Alike
) -> Candidate | None:
    """Return what the message refuses, as its clause reads without the negation; None for nothing that is in scope."""
    first = without.ranked[0]
    if without.verdict == "out_of_scope" and first.intent != best.intent:
        return None
    line_refuses, first_refuses = _refuses(best, language), _refuses(first, language)
    if first.intent == best.intent and (line_refuses or first_refuses):
        return best if _is_nearer_without(best, first, found, alike) else None
    worse = 0.0 if line_refuses else _WORSE_WITHOUT_AFFIX if found.is_affix else _WORSE
    if first_refuses or first.score < best.score - worse:
        return None
    if first.intent == best.intent:
        return best
    return first if found.is_whole or line_refuses else None


def _is_nearer_without(best: Candidate, first: Candidate, found: Refusal, alike: _Alike) -> bool:
    """Whether the clause is more like an utterance without its negation than with it like one that refuses.

    Scores would not tell: most of them are means over several utterances.
    """
    # What is left of a request that is taken back, such as "my order", is like most utterances.
    if found.retracts or best.utterance is None or first.utterance is None:
        return False
    with_it = alike(found.clause, clean(best.utterance.text))
    return alike(found.without, clean(first.utterance.text)) >= with_it + _BETTER


def _refused_later(best: Candidate, without: Decision, behind: Decision, language: str | None) -> Candidate | None:
    """Return what a clause refuses that the clauses before it name: "I found my card, don't block it"."""
    if behind.verdict == "out_of_scope":
        return None
    first = behind.ranked[0]
    is_same, is_named = first.intent == best.intent, first.intent == without.ranked[0].intent
    if not (is_same or is_named) or first.score < best.score + (0 if is_same and is_named else _BETTER):
        return None
    return None if any(_refuses(one, language) for one in (first, best)) else first


def _is_asked_for_later(best: Candidate, found: Refusal, language: str | None, read: Callable[[str], Decision]) -> bool:
    """Whether the clauses after the negation ask for the intent, at least as clearly as the message as a whole."""
    if found.after is None or refusal(found.after, language) is not None:
        return False
    asked = read(found.after)
    return asked.verdict == "matched" and asked.ranked[0].intent == best.intent and asked.ranked[0].rank >= best.rank


def _refuses(candidate: Candidate, language: str | None) -> bool:
    line = candidate.utterance
    return line is not None and refusal(clean(line.text), line.language or language) is not None
