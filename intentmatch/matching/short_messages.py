"""Refuse a message of a few words that is like no line: an answer ("10 o'clock"), a name, a greeting."""

from __future__ import annotations

from dataclasses import replace

from intentmatch.core.result import Candidate
from intentmatch.core.types import Registry
from intentmatch.core.when_read import when_read
from intentmatch.matching.policy import NOTHING_LIKE, CheckedDecision, Decision
from intentmatch.reading.answers import answer_of
from intentmatch.reading.dialogue_acts import acts_of
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import fold
from intentmatch.text.scripts import kind

_MOST_WORDS, _MOST_WORDS_OF_VALUE = 2, 4
_SPACED = frozenset(["letter", "digit", "sign"])
# Chosen with right messages of one or two words, from development sets and held-out lines of the shipped intents, and
# with answers, greetings and names. On fresh draws, 60 instead of 103 of 1,841 such messages match in bots without
# intents for them, and 3,415 instead of 3,418 of 4,440 others are right.
_ENOUGH = 0.5
"""Score of the embedded encoder from which a short message is like a line."""
_ENOUGH_OF_SHORT_LINE, _ENOUGH_OF_LINE = 0.45, 0.35
"""The same for a lone word, near a line as short and near a longer one, of which it may be a part."""
_ENOUGH_OF_ANSWER = 0.55
"""Score from which "yes" and "no" are like a line."""
_ENOUGH_OF_VALUE = 0.75
"""Score from which a value in digits is: "500" lies near "pay in 500"."""
_ANSWER, _ANSWER_OF_LINE, _MAY_BE_ELSE = 0.7, 0.8, 0.15
"""Probability from which a message answers a question, from which a line gives the same answer, and from which a
message may be no answer, such as a word that no training saw.

Of 198 right matches of up to three words with such probabilities in eleven development sets, none is refused.
"""
_SURE = 0.9
"""Confidence from which the head knows the words whatever the score."""
_COURTESY = 0.97
"""Probability from which a message is courtesy, and asks for nothing."""


class ShortMessages:
    """Finds short messages that ask for nothing. Safe to use from many threads.

    Held-out utterances are whole requests, and so are most messages that calibrate what is out of scope. A lone word
    shares letters or sense with some line of any registry, and so looks more like a request than it is.
    """

    def __init__(self, registry: Registry) -> None:
        self._own_languages = registry.own_languages
        self._of_short_lines = {
            intent.name
            for intent in registry
            if 2 * sum(len(line.text.split()) <= _MOST_WORDS for line in intent.utterances) >= len(intent.utterances)
        }
        """Intents with mostly short lines, such as "yes" or names of cities: their messages are as short."""

    def check(self, decision: Decision, text: ReadText, options: ResolvedOptions) -> CheckedDecision:
        """Refuse a matched message of a few words if its score is low, by the scores of the embedded encoder.

        Only under a learned threshold. Languages without spaces are left out: there, two words may be a sentence.
        """
        if decision.verdict != "matched" or decision.cut is None or decision.cut.on != "in_scope":
            return CheckedDecision(decision, None)
        says = self._asks_for_nothing(decision.ranked[0], text, options)
        if says is None:
            return CheckedDecision(decision, None)
        reason = when_read(_reason, decision.ranked[0].intent, says)
        return CheckedDecision(replace(decision, verdict="out_of_scope", doubtful=True, reason=reason), says)

    def _asks_for_nothing(self, best: Candidate, text: ReadText, options: ResolvedOptions) -> str | None:
        """Return why a message of a few words is like no line; None if it may be."""
        if len(text.words) > _MOST_WORDS_OF_VALUE or best.score >= _ENOUGH_OF_VALUE:
            return None
        if best.score < _ENOUGH_OF_ANSWER and _is_answer(text, best):
            return f"“{text.key}” is an answer"
        if best.intent in self._of_short_lines:
            return None
        has_digits = any(map(str.isdigit, text.key))
        if (has_digits or best.score < _ENOUGH) and self._is_value(text.text, best, options):
            return f"“{text.key}” is a value alone"
        if best.score < _ENOUGH and _is_like_no_line(text, best):
            return f"“{text.key}” is too short for a score of {best.score:.2f}"
        return None

    def _is_value(self, text: str, best: Candidate, options: ResolvedOptions) -> bool:
        """Whether a message is a value alone, and the nearest utterance is not."""
        from intentmatch.slots.values_alone import is_value_alone  # not needed by most messages

        language = self._own_languages.code(options.language)
        if not is_value_alone(text, language, options.now):
            return False
        return best.utterance is None or not is_value_alone(best.utterance.text, language, options.now)


def _is_answer(text: ReadText, best: Candidate) -> bool:
    """Whether a message says yes, no, or that its writer does not know, and the nearest utterance does not."""
    if not _has_few_words(text) or "?" in text.text:
        return False
    chances = answer_of(text.text)
    probability, said = max((chances.yes, "yes"), (chances.no, "no"), (chances.unsure, "unsure"))
    if probability < _ANSWER or chances.neither + chances.value >= _MAY_BE_ELSE:
        return False
    line = best.utterance.text if best.utterance else ""
    # "Stop" may be "stop the music".
    is_part = text.distinct.issubset(fold(line).split())
    return not is_part and float(getattr(answer_of(line), said)) < _ANSWER_OF_LINE


def _has_few_words(text: ReadText) -> bool:
    return len(text.words) <= _MOST_WORDS and all(kind(char) in _SPACED for char in text.key)


def _is_like_no_line(text: ReadText, best: Candidate) -> bool:
    if not _has_few_words(text) or best.confidence is None or best.confidence >= _SURE:
        return False
    line = fold(best.utterance.text).split() if best.utterance else []
    if text.distinct.issubset(line):
        return False
    enough = _ENOUGH_OF_SHORT_LINE if len(line) <= _MOST_WORDS else _ENOUGH_OF_LINE
    if len(text.words) == 1 and best.score < enough:
        return True
    return acts_of(text.text).courtesy >= _COURTESY


def _reason(intent: str, says: str) -> str:
    return f"{NOTHING_LIKE}: {intent} comes nearest, but {says}."
