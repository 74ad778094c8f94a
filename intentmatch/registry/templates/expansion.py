"""An unexpanded registry, one utterance a line of its author, to one of all the sentences that the lines stand for."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from intentmatch.core.errors import Location, Problem, Severity
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.registry.templates.rules import RuleBook
from intentmatch.registry.templates.sentences import LONGEST, TooLongError, Wordings
from intentmatch.registry.templates.slot_fillers import Fillers
from intentmatch.registry.templates.syntax import Sentence

MOST_SENTENCES = 64
"""Of a line. A template that stands for more is sampled, and the linter says so."""
MOST_CHARACTERS = 10_000_000
"""Of all sentences together; a thousand lines of long rules would fill any memory."""
# Of a line with slots: so many values of them are among its sentences, where there are so many. In six bots whose lines
# name their slots, of held-out messages with a value 61 in 100 led to their intent where the slot's name stood for it,
# 88 with one value a line, 93 with four, and 94 with ten, in a registry of nearly twice the size.
_VALUES = 4
# Beyond, only the magnitude says anything.
_COUNTED = 10**9


def expand(registry: Registry) -> tuple[Registry, list[Problem]]:
    """The registry with the sentences of its templates in their place, and what there is to say of them.

    A rule or a slot that is not there stands for its name: it is for whoever reads the files to complain.
    """
    expansion = _Expansion(registry)
    intents = tuple(map(expansion.intent, registry.intents))
    return replace(registry, intents=intents), [*expansion.problems, *expansion.book.problems()]


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

    def _sentences(self, line: Utterance, fillers: Fillers) -> Iterator[Utterance]:
        """All sentences of a line, or as many of them as a line may have; each text once."""
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
        if self._left < 0:
            yield line
            return
        if wordings.count > MOST_SENTENCES:
            message = f"this line stands for {_many(wordings.count)} sentences, of which {MOST_SENTENCES} are used"
            hint = "write several lines, each with fewer alternatives, if more of them matter"
            self._note(line, "info", "sampled-template", message, hint)
        for text, marks in _distinct(wordings, fillers, line.language):
            yield Utterance(text, line.language, line.location, line.template, marks)
            self._left -= len(text)
        if self._left < 0:
            message = f"the templates up to this one stand for more than {MOST_CHARACTERS:,} characters"
            self._note(line, "error", "oversized-template", message, "use fewer or shorter templates and rules")

    def _note(self, line: Utterance, severity: Severity, rule: str, message: str, hint: str) -> None:
        self.problems.append(Problem(line.location or Location("registry"), severity, rule, message, hint))


def _distinct(wordings: Wordings, fillers: Fillers, language: str | None) -> Iterator[Sentence]:
    """Every wording once and, where there are few of them, again with other values in their slots."""
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
        if not filled or len(texts) == before or len(texts) >= _VALUES:
            return
        # As many wordings as values would each get the same value again.
        ranks.rotate(-1)


def _many(count: int) -> str:
    return f"{count:,}" if count < _COUNTED else f"about 10^{math.log10(count):.0f}"
