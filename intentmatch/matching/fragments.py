"""Ask about a message of one or two words that utterances of several intents share: "order"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from intentmatch.core.types import Registry
from intentmatch.learning.calibration import RIVALS
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.matching.policy import LEAST_OFFERED, CheckedDecision, Decision, in_scope
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.text import ReadText
from intentmatch.text.stop_words import stop_words

# A message with more words, stop words aside, says what it wants. Languages without spaces are limited by pieces.
_MOST_WORDS, _MOST_PIECES = 2, 4
# An intent is meant if it has this share of confidences and lines, or this share of the confidences alone. Of the short
# messages of development sets that lines of several intents share, 12 of 13 mean the first intent if it has more of the
# confidences, and 17 of 41 others.
_ENOUGH, _SURE = 0.61, 0.95


class Fragments:
    """Finds the intents whose utterances have the words of a short message. Safe to use from many threads.

    Held-out utterances are whole requests. So the confidence of a lone word is too high: the head knows which intent's
    utterances have the word most often, but the word alone does not ask for that intent.
    """

    def __init__(self, registry: Registry, words: WordAlignment | None) -> None:
        self._intents = [intent.name for intent in registry]
        self._owners, self._lines = registry.owners, registry.lines
        self._words = words
        # Asked for no language, `stop_words` returns those of all.
        self._stop_words = stop_words(registry.languages_as_read) if registry.languages else frozenset[str]()

    def check(
        self, decision: Decision, text: ReadText, allowed: Collection[int] | None = None, hidden: Collection[int] = ()
    ) -> CheckedDecision:
        """Turn a match or a refusal into a question if the words of a message do not say which intent is meant.

        `text` is the message without its typing mistakes, which is no utterance; `allowed` holds the positions of the
        intents that may answer, None for all; the `hidden` rows do not count. Each intent's share is the mean of
        two: its share of the confidences, and its share of the lines that have all words of the message. The bot asks
        if none is large enough, and the head is not sure. On development sets 0.1% of the messages are asked about for
        this reason.
        """
        total = in_scope(decision.ranked)
        if not total or not (decision.verdict == "matched" or _is_refused_by_little(decision, total)):
            return CheckedDecision(decision, None)
        if len(lines := self._lines_with(text, allowed, hidden)) < 2:
            return CheckedDecision(decision, None)
        of_lines = sum(lines.values())
        shares = {
            c.intent: ((c.confidence or 0.0) / total + lines.get(c.intent, 0) / of_lines) / 2.0 for c in decision.ranked
        }
        first, *others = decision.ranked
        offered = {c.intent for c in sorted(others, key=lambda c: -shares[c.intent])[: RIVALS - 1]}
        rivals = (first, *(c for c in others if c.intent in offered and shares[c.intent] >= LEAST_OFFERED))
        sure = (first.confidence or 0.0) >= _SURE * total or max(shares.values()) >= _ENOUGH
        if sure or len(rivals) < 2:
            return CheckedDecision(decision, None)
        count = f"“{text.key}” is in lines of {len(lines)} intents"
        reason = f"{count}, and does not say which is meant."
        return CheckedDecision(
            replace(decision, verdict="ambiguous", rivals=rivals, doubtful=True, reason=reason), count
        )

    def _lines_with(
        self, text: ReadText, allowed: Collection[int] | None, hidden: Collection[int]
    ) -> Mapping[str, int]:
        """Return by intent how many lines have all words of a short message; empty for a long one."""
        content = [word for word in text.words if word not in self._stop_words]
        if not 0 < len(content) <= _MOST_WORDS or self._words is None:
            return {}
        rows = self._words.rows_with(known_pieces(" ".join(content)), _MOST_PIECES)
        # The sentences of one template are one line: they would outvote the lines of other intents.
        found = {(self._owners[row], self._lines[row]) for row in rows if row not in hidden}
        return Counter(self._intents[owner] for owner, _ in found if allowed is None or owner in allowed)


def _is_refused_by_little(decision: Decision, total: float) -> bool:
    """Whether a learned threshold refuses a message that is more likely in scope than not."""
    is_learned = decision.cut is not None and decision.cut.on == "in_scope"
    return decision.verdict == "out_of_scope" and is_learned and total >= 0.5
