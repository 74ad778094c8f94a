"""Check a decision once more: by values, by single words, by refusals and by what the parts of a message do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.result import Candidate
from intentmatch.matching.batch import MessageEncoder
from intentmatch.matching.fragments import Fragments
from intentmatch.matching.message_parts import Message, decide_on_parts
from intentmatch.matching.negation import CheckedNegation, check_negation
from intentmatch.matching.policy import Decision, Policy, decide
from intentmatch.matching.result_builder import ResultBuilder
from intentmatch.matching.scoring import Scoring
from intentmatch.matching.short_messages import ShortMessages
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts, ReadActs, acts_of
from intentmatch.reading.parts import parts_of
from intentmatch.reading.reader import MessageReader, Reading, only
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean

if TYPE_CHECKING:
    from intentmatch.matching.without_values import WithoutValues

# The rules of refusals need not look at most messages ("payment does not go through"). Of 262 refusals in 30 languages
# that nobody had looked at, one reads like a refusal by so little.
_LEAST_DENIAL = 0.04
"""Probability of a refusal, or of a settled matter, from which a message may refuse something."""


class Evidence(NamedTuple):
    """What else than the meaning of the message led to a decision."""

    spelling: bool = False
    """The message equals an utterance but for typing mistakes."""
    reranker: bool = False
    """A second opinion was asked for, and counts."""
    free_text: bool = False
    """The message equals an utterance but for values that are free text."""


DecideOn = Callable[[str, ResolvedOptions], Decision]
"""Decides on a text beside the message."""


def decides_on(
    reader: MessageReader, messages: MessageEncoder, own: tuple[Policy, Scoring], foreign: tuple[Policy, Scoring]
) -> DecideOn:
    """Return a function that decides on a text beside the message, without trace or reranker.

    No method of the engine, which would hold itself by its checks, so that only the garbage collector could free it.
    `own` and `foreign` decide on messages in the languages of the registry and in others.
    """

    def decide_on(text: str, options: ResolvedOptions) -> Decision:
        policy, scoring = foreign if options.foreign else own
        read = ReadText(text)
        hits, vector = only(reader.hits_of(read), options), messages.vector(read)
        candidates = scoring.candidates(vector, read.known_pieces, hits, options.allowed, hidden=options.hidden)
        return decide(candidates, policy, options.language)

    return decide_on


class Checks:
    """Checks the decisions of one artefact. Safe to use from many threads."""

    def __init__(
        self,
        artefact: Artefact,
        policy: Policy,
        scoring: Scoring,
        messages: MessageEncoder,
        results: ResultBuilder,
        *,
        decide_on: DecideOn,
    ) -> None:
        registry = artefact.registry
        self._policy, self._messages, self._results, self._decide_on = policy, messages, results, decide_on
        self._fragments = Fragments(registry, artefact.trained_head.words if artefact.trained_head else None)
        self._short_messages = ShortMessages(registry)
        self._without_values: WithoutValues | None = None
        if messages.reads_pieces and any(intent.slots for intent in registry):
            from intentmatch.matching.without_values import WithoutValues  # not needed by a registry without slots

            self._without_values = WithoutValues(registry, results.entities, messages.vector, scoring.nearest_rows)
        self._returns_several = artefact.settings.several_intents
        self._acts_of_lines: dict[str, Acts] = {}

    def check(
        self,
        decision: Decision,
        reading: Reading,
        vector: NDArray[np.float32],
        acts: ReadActs | None,
        by: Evidence,
    ) -> Decision:
        """Return the decision after all checks.

        `acts` is what was read of the message in a batch, if it was.
        """
        # A message that equals an utterance but for typing mistakes has no other words that could say something else.
        if not by.spelling:
            decision, says_utterance = self._check_values(decision, reading, vector)
            decision = self._check_fragment(decision, reading)
            if says_utterance:
                return decision
        return self._check_acts(decision, reading, acts, by)

    def _check_values(self, decision: Decision, reading: Reading, vector: NDArray[np.float32]) -> tuple[Decision, bool]:
        """Decide without the values of slots if the message has some; also whether it is an utterance but for these."""
        if self._without_values is None:
            return decision, False
        compared = self._without_values.check(decision, reading.typed.text, vector, reading.options, self._decide_on)
        stages = reading.stages
        if compared.says:
            stages.add("without_values", compared.says)
        return compared.decision, compared.says_utterance

    def _check_fragment(self, decision: Decision, reading: Reading) -> Decision:
        """Return a question or a refusal instead of a match if a word or two do not say which intent is meant."""
        options, text = reading.options, reading.meant
        # A margin alone says when to ask. Messages in other languages share few words with the utterances.
        if decision.verdict != "matched" or options.foreign or self._policy.margin is not None:
            return decision
        stages = reading.stages
        decision, says = self._fragments.check(decision, text, options.allowed, options.hidden)
        if says:
            stages.add("fragment", says)
        # Scores of other encoders are higher or lower.
        elif self._messages.reads_pieces:
            short, says = self._short_messages.check(decision, text, options)
            # The value of a slot, such as a code, is like no line.
            if says and not self._results.entities(reading.message, decision.ranked[0].intent, options):
                stages.add("fragment", says)
                return short
        return decision

    def _check_acts(self, decision: Decision, reading: Reading, read: ReadActs | None, by: Evidence) -> Decision:
        """Return the decision by what the parts of the message do."""
        options, meant, stages = reading.options, reading.meant, reading.stages
        acts, parts = parts_of(meant, reading.typed, read)
        if by.free_text:
            # "Ring up my brother Tom": the utterance says what is to be done, and the value may be of any kind.
            acts = acts._replace(settled=0.0)
            parts = [part._replace(acts=part.acts._replace(settled=0.0)) for part in parts]
        if any(one.denies >= _LEAST_DENIAL for one in (acts, *(part.acts for part in parts))):
            checked = self._check_negation(decision, meant, reading.typed, options)
            decision = checked.decision
            if checked.says:
                stages.add("negation", checked.says)
            if checked.is_clear:
                return decision
        message = Message(
            decision, acts, parts, lambda part: self._decide_on_part(part, options), self._acts_of, by.reranker
        )
        decision, says = decide_on_parts(message, returns_several=self._returns_several)
        if says:
            stages.add("acts", says)
        return decision

    def _decide_on_part(self, text: str, options: ResolvedOptions) -> Decision:
        """Decide on a part of the message as on a message of its own."""
        read = ReadText(text)
        return self._check_negation(self._decide_on(text, options), read, read, options).decision

    def _check_negation(
        self, decision: Decision, meant: ReadText, typed: ReadText, options: ResolvedOptions
    ) -> CheckedNegation:
        def read(clause: str) -> Decision:
            return self._decide_on(clause, options)

        return check_negation(decision, meant, typed, options.language, read, alike=self._alike)

    def _alike(self, one: str, other: str) -> float:
        """Return the cosine similarity of two cleaned texts."""
        return float(self._messages.vector(ReadText(one)).dot(self._messages.vector(ReadText(other))))

    def _acts_of(self, candidate: Candidate) -> Acts:
        """Return what the nearest utterance of a candidate does."""
        line = candidate.utterance
        if line is None:
            return NO_ACTS
        if (found := self._acts_of_lines.get(line.text)) is None:
            found = self._acts_of_lines[line.text] = acts_of(clean(line.text))
        return found
