"""Check a decision once more: by values, by single words, by refusals and by what the parts of a message do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.result import Candidate, CheckName, DecidedBy
from intentmatch.core.types import Utterance
from intentmatch.matching.batch import MessageEncoder, Precomputed
from intentmatch.matching.denied_parts import REFUSES
from intentmatch.matching.fragments import Fragments
from intentmatch.matching.message_parts import decide_on_parts
from intentmatch.matching.negation import check_negation
from intentmatch.matching.parted_message import IS_BESIDE, PartedMessage
from intentmatch.matching.policy import CheckedDecision, Decision, Policy, decide
from intentmatch.matching.precedence import Precedence
from intentmatch.matching.result_builder import ResultBuilder
from intentmatch.matching.scoring import Scoring
from intentmatch.matching.short_messages import ShortMessages
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts, acts_of, odds
from intentmatch.reading.parts import MessagePart, parts_of
from intentmatch.reading.reader import Hits, MessageReader, Reading, only
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText
from intentmatch.reading.trace import TraceRecorder
from intentmatch.text.normalize import base_language, clean, fold

if TYPE_CHECKING:
    from intentmatch.matching.other_values import OtherValues
    from intentmatch.matching.without_values import WithoutValues

# The rules of refusals need not look at most messages ("payment does not go through"). Of 262 refusals in 30 languages
# that nobody had looked at, one reads like a refusal by so little.
_LEAST_DENIAL = 0.04
"""Probability of a refusal, or of a settled matter, from which a message may refuse something."""
# Utterances of an intent among which one in the language of the message is looked for.
_NEAREST = 100
# Intents that chat or answer have at least 20% of such utterances, the others of the shipped and of two small bots at
# most 10% ("this is an emergency" reads like courtesy alone).
_COURTEOUS, _MOST_READ = 0.15, 32
"""Share of courtesy among the utterances of an intent from which they are taken for it, and how many are read."""

# From a lower one on, problems of a shop ("my parcel is not here yet") are asked about: 6 of 566 lines held out.
_SURELY_REFUSES = 0.98
"""Probability of a refusal from which a part is compared with all utterances of an intent."""


class Evidence(NamedTuple):
    """What else than the meaning of the message led to a decision."""

    spelling: bool = False
    """The message equals an utterance but for typing mistakes."""
    reranker: bool = False
    """A second opinion was asked for, and counts."""
    free_text: bool = False
    """The message equals an utterance but for values that are free text."""


class Decided(NamedTuple):
    """A decision and the stage that led to it."""

    decision: Decision
    by: DecidedBy

    def after(self, stage: CheckName, checked: CheckedDecision, stages: TraceRecorder) -> Decided:
        """Return the decision after a stage, which may have left it as it is; what it says goes into the trace."""
        if checked.says:
            stages.add(stage, checked.says)
        return self if checked.decision is self.decision else Decided(checked.decision, stage)


class Checks:
    """Checks the decisions of one artefact. Safe to use from many threads."""

    def __init__(
        self,
        artefact: Artefact,
        reader: MessageReader,
        messages: MessageEncoder,
        results: ResultBuilder,
        *,
        own: tuple[Policy, Scoring],
        foreign: tuple[Policy, Scoring],
        others: OtherValues | None,
        precedence: Precedence,
    ) -> None:
        """`own` and `foreign` decide on messages in the languages of the registry and in others."""
        registry = artefact.registry
        self._own, self._foreign = own, foreign
        self._others, self._precedence = others, precedence
        policy, scoring = own
        self._intents, self._utterances, self._scoring = registry.intents, registry.utterances, scoring
        self._numbers = registry.positions
        self._policy, self._messages, self._results, self._reader = policy, messages, results, reader
        self._fragments = Fragments(registry, artefact.trained_head.words if artefact.trained_head else None)
        self._short_messages = ShortMessages(registry)
        self._without_values: WithoutValues | None = None
        if messages.reads_pieces and any(intent.slots for intent in registry):
            from intentmatch.matching.without_values import WithoutValues  # not needed by a registry without slots

            self._without_values = WithoutValues(registry, results.entities, messages.vector, scoring.nearest_rows)
        self._languages = frozenset(map(base_language, registry.languages))
        self._read_acts = cache(lambda line: acts_of(clean(line)))
        self._some_acts: dict[str, Sequence[Acts]] = {}

    def decide_on(self, text: ReadText, options: ResolvedOptions, found: Precomputed | None = None) -> Decision:
        """Decide on a text beside the message, without trace or reranker; `found` is what was found for it."""
        policy, scoring = self._foreign if options.foreign else self._own
        hits = only(self._reader.hits_of(text), options)
        vector, shortlist, *_ = found or Precomputed(self._messages.vector(text))
        pieces, allowed = text.known_pieces, options.allowed
        candidates = scoring.candidates(vector, pieces, hits, allowed, shortlist, hidden=options.hidden)
        return decide(candidates, policy, options.language)

    def exact(self, equal: Hits, options: ResolvedOptions) -> Decision:
        """Decide by the utterances that a text equals."""
        # Certain, and divided among the intents that have the same utterance.
        certain = 1.0 / len(equal)
        candidates = [
            self._scoring.candidate(intent, 1.0, hit.row, confidence=certain) for intent, hit in equal.items()
        ]
        return self._precedence.asked(decide(candidates, self._policy, options.language), exact=True)

    def check(
        self,
        decided: Decided,
        reading: Reading,
        found: Precomputed,
        by: Evidence,
    ) -> Decided:
        """Return the decision after all checks; `found` is what was found for the message."""
        # A message that equals an utterance but for typing mistakes has no other words that could say something else.
        if not by.spelling:
            compared = CheckedDecision(decided.decision, None)
            if self._without_values is not None:
                text, options = reading.typed.text, reading.options
                compared = self._without_values.check(decided.decision, text, found.vector, options, self.decide_on)
            decided = decided.after("without_values", compared, reading.stages)
            may_ask = compared.says is None and not by.reranker
            checked = self._check_fragment(decided.decision, reading, may_ask=may_ask)
            decided = decided.after("fragment", checked, reading.stages)
            if compared.is_final:
                return decided
        return self._check_acts(decided, reading, found, by)

    def _check_fragment(self, decision: Decision, reading: Reading, *, may_ask: bool) -> CheckedDecision:
        """Return a question or a refusal instead of a match if a word or two do not say which intent is meant.

        `may_ask` is whether a refusal is that of a threshold, which a question may replace.
        """
        options, text = reading.options, reading.meant
        # A margin alone says when to ask. Messages in other languages share few words with the utterances.
        if decision.verdict == "ambiguous" or options.foreign or self._policy.margin is not None:
            return CheckedDecision(decision, None)
        if decision.verdict == "out_of_scope" and not may_ask:
            return CheckedDecision(decision, None)
        checked = self._fragments.check(decision, text, options.allowed, options.hidden)
        # Scores of other encoders are higher or lower.
        if checked.says is None and self._messages.reads_pieces:
            short = self._short_messages.check(decision, text, options)
            # The value of a slot, such as a code, is like no line.
            if short.says and not self._results.entities(reading.message, decision.ranked[0].intent, options):
                return short
        return checked

    def _check_acts(self, decided: Decided, reading: Reading, found: Precomputed, by: Evidence) -> Decided:
        """Return the decision by what the parts of the message do."""
        options, meant = reading.options, reading.meant
        typed = reading.written_out or reading.typed
        acts, parts, requests = (found.said or parts_of(meant, options.language)).refusing_as(typed)
        if by.free_text:
            # "Ring up my brother Tom": the utterance says what is to be done, and the value may be of any kind.
            acts = acts._replace(settled=0.0)
            parts = [part._replace(acts=part.acts._replace(settled=0.0)) for part in parts]
        if acts.denies >= _LEAST_DENIAL or any(part.acts.denies >= _LEAST_DENIAL for part in parts):
            checked = self._check_negation(decided.decision, meant, typed, options)
            decided = decided.after("negation", checked, reading.stages)
            if checked.is_final:
                return decided
        # A part may be looked at several times.
        decisions: dict[str, Decision] = {}

        def read(part: ReadText) -> Decision:
            if (decision := decisions.get(part.text)) is None:
                decision = decisions[part.text] = self._decide_on_part(part, options, found.parts.get(part.text))
            return decision

        message = PartedMessage(
            meant,
            decided.decision,
            acts,
            parts,
            requests,
            read=read,
            line_acts=lambda candidate: self._acts_of(candidate.utterance, candidate.intent),
            denied_acts=lambda candidate, part: self._denied_acts(candidate, part, options),
            is_foreign=options.foreign,
            by_reranker=by.reranker,
        )
        return decided.after("acts", decide_on_parts(message), reading.stages)

    def _decide_on_part(self, part: ReadText, options: ResolvedOptions, found: Precomputed | None) -> Decision:
        """Decide on a part of the message as on a message of its own."""
        if self._others and (equal := self._others.hits(part.text, options)):
            return self.exact(equal, options)
        return self._check_negation(self.decide_on(part, options, found), part, part, options).decision

    def _check_negation(
        self, decision: Decision, meant: ReadText, typed: ReadText, options: ResolvedOptions
    ) -> CheckedDecision:
        def read(clause: str) -> Decision:
            return self.decide_on(ReadText(clause), options)

        return check_negation(decision, meant, typed, options.language, read, alike=self._alike)

    def _alike(self, one: str, other: str) -> float:
        """Return the cosine similarity of two cleaned texts."""
        return float(self._messages.vector(ReadText(one)).dot(self._messages.vector(ReadText(other))))

    def _acts_of(self, line: Utterance | None, intent: str) -> Acts:
        """Return what an utterance of an intent does; it is no courtesy where hardly any of the others is."""
        acts = NO_ACTS if line is None else self._read_acts(line.text)
        return acts if acts.courtesy < IS_BESIDE or self._is_courteous(intent) else acts._replace(courtesy=0.0)

    def _is_courteous(self, intent: str) -> bool:
        some = self._acts_of_some(intent)
        return sum(acts.courtesy >= IS_BESIDE for acts in some) >= _COURTEOUS * len(some)

    def _acts_of_some(self, intent: str) -> Sequence[Acts]:
        """Return what utterances of an intent do, at most `_MOST_READ` of them."""
        if (found := self._some_acts.get(intent)) is None:
            lines = self._intents[self._numbers[intent]].all_utterances
            some = lines[:: -(-len(lines) // _MOST_READ)]
            found = self._some_acts[intent] = [self._read_acts(line.text) for line in some]
        return found

    def _denied_acts(self, candidate: Candidate, part: MessagePart, options: ResolvedOptions) -> Acts:
        """Return what the utterance does that a part may deny: a candidate's nearest, or its nearest in the language.

        The network knows some languages better than others, and compared in one it errs alike on both sides: the one
        that refuses more counts. It may misread an utterance ("I agree to share my data"), and hardly all of an intent:
        where none of these surely refuses, they count as much as the one if the part does. What has no word that the
        utterance lacks ("absagen") refuses nothing of it.
        """
        line, read = candidate.utterance, part.read
        language = options.language and base_language(options.language)
        acts = self._acts_of(line, candidate.intent)
        if line is not None and language in self._languages and not _has_language(line, language):
            number = self._numbers[candidate.intent]
            rows = self._scoring.nearest_rows(self._messages.vector(read), number, _NEAREST, options.hidden)
            lines = map(self._utterances.__getitem__, rows)
            line = next((one for one in lines if _has_language(one, language)), line)
            acts = max(acts, self._acts_of(line, candidate.intent), key=lambda one: one.refuses)
        if line is not None and read.distinct.issubset(fold(line.text).split()):
            return acts._replace(refuses=part.acts.refuses)
        some = [one.refuses for one in self._acts_of_some(candidate.intent)]
        if part.acts.refuses < _SURELY_REFUSES or max(some) >= REFUSES:
            return acts
        return acts._replace(refuses=_halfway(acts.refuses, some))


def _halfway(probability: float, others: Sequence[float]) -> float:
    """Return the probability whose log odds are halfway between those of one and the mean of those of others."""
    mean = sum(log(odds(one)) for one in others) / len(others)
    return 1 / (1 + exp(-(log(odds(probability)) + mean) / 2))


def _has_language(line: Utterance, language: str) -> bool:
    return line.language is not None and base_language(line.language) == language
