"""Expand the templates of a registry into sentences."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from intentmatch.core.errors import Location, Problem, Severity
from intentmatch.core.types import Intent, Registry, TraitQuestion, Utterance
from intentmatch.registry.templates.rules import RuleBook
from intentmatch.registry.templates.sentences import LONGEST, TooLongError, Wordings
from intentmatch.registry.templates.slot_fillers import Fillers
from intentmatch.registry.templates.syntax import Sentence

MOST_SENTENCES = 64
"""Sentences per line. A template with more is sampled, and the problem `sampled-template` reports it."""
MOST_CHARACTERS = 10_000_000
"""Characters of all sentences together: a thousand lines of long rules could fill any memory."""
# Slot values per line with slots. Cross-validation on six bots, share of messages with a slot value that matched their
# intent: 61% with the slot's name in place of a value, 88% with one value a line, 93% with four, 94% with ten (which
# nearly doubles the registry).
_VALUES = 4
# Larger counts are shown as a power of ten.
_COUNTED = 10**9


def expand(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Return the registry with every template replaced by its sentences, and the problems found.

    An unknown rule or slot is replaced by its name; the reader of the files reports it.
    """
    expansion = _Expansion(registry)
    intents = tuple(map(expansion.intent, registry.intents))
    questions = tuple(map(expansion.question, registry.questions))
    return replace(registry, intents=intents, questions=questions), [*expansion.problems, *expansion.book.problems()]


class _Expansion:
    def __init__(self, registry: Registry) -> None:
        self.book = RuleBook(registry.rules)
        self.problems: list[Problem] = []
        self._left = MOST_CHARACTERS

    def intent(self, intent: Intent) -> Intent:
        if not any(line.template for line in (*intent.utterances, *intent.negatives)):
            return intent
        fillers = Fillers(intent.slots)
        utterances = tuple(sentence for line in intent.utterances for sentence in self._sentences(line, fillers))
        negatives = tuple(sentence for line in intent.negatives for sentence in self._sentences(line, fillers))
        return replace(intent, utterances=utterances, negatives=negatives)

    def question(self, question: TraitQuestion) -> TraitQuestion:
        if not any(line.template for line in question.lines):
            return question
        fillers = Fillers(())
        answers = {
            name: tuple(sentence for line in lines for sentence in self._sentences(line, fillers))
            for name, lines in question.answers.items()
        }
        return replace(question, answers=answers)

    def _sentences(self, line: Utterance, fillers: Fillers) -> Iterator[Utterance]:
        """Yield the distinct sentences of a line, at most `MOST_SENTENCES`."""
        if line.template is None or line.text != line.template:
            yield line
            return
        try:
            wordings = self.book.wordings(line)
        except TooLongError:
            message = f"a sentence of this template is longer than {LONGEST:,} characters"
            self._note(line, "error", "oversized-template", message, "use fewer rules and groups in it")
            yield line
            return
        # Reported by the line that used up the rest; the lines after it stay as they are.
        if self._left < 0:
            yield line
            return
        if wordings.count > MOST_SENTENCES:
            message = f"this template has {_many(wordings.count)} sentences, of which {MOST_SENTENCES} are used"
            hint = "to use more of them, write several lines with fewer alternatives each"
            self._note(line, "info", "sampled-template", message, hint)
        for text, marks in _distinct(wordings, fillers, line.language):
            yield Utterance(text, line.language, line.location, line.template, marks)
            self._left -= len(text)
        if self._left < 0:
            message = f"the templates up to this line expand to more than {MOST_CHARACTERS:,} characters"
            self._note(line, "error", "oversized-template", message, "use fewer or shorter templates and rules")

    def _note(self, line: Utterance, severity: Severity, rule: str, message: str, hint: str) -> None:
        self.problems.append(Problem(line.location or Location("registry"), severity, rule, message, hint))


def _distinct(wordings: Wordings, fillers: Fillers, language: str | None) -> Iterator[Sentence]:
    """Yield every wording once; if there are few, again with other slot values."""
    filled = False

    def fill(slot: str) -> str:
        nonlocal filled
        filled = True
        return fillers.next(slot, language)

    ranks = deque(wordings.ranks(MOST_SENTENCES))
    texts: set[str] = set()
    while True:
        before = len(texts)
        for rank in ranks:
            sentence = wordings.sentence(rank, fill)
            if sentence.text not in texts:
                texts.add(sentence.text)
                yield sentence
        # A round that adds nothing has met only values that were used before.
        if not filled or len(texts) == before or len(texts) >= _VALUES:
            return
        # Without this, a wording could get the same value again in every round.
        ranks.rotate(-1)


def _many(count: int) -> str:
    return f"{count:,}" if count < _COUNTED else f"about 10^{math.log10(count):.0f}"
