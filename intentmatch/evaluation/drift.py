"""Drift: what users ask today against the weeks before, with a bound on the number of false alarms.

Each question is of one form: do more, or fewer, messages of the last day have a property than before? Properties are
the verdict, the intent, the language, a low confidence, each word, and a word that hardly any other message has.
Fisher's exact test answers it: if the messages of the last day are exchangeable with those before, the probability of
an alarm is at most the level of the test, whatever the number of messages. The level of a day is 1/31, shared equally
by the six kinds of properties, and by all properties of a kind (Bonferroni). So at most one false alarm a month is
expected, dependent tests and days included. A property that is too rare to be significant at all takes no share of the
level (Tarone).

Sources: Fisher 1935, "The Logic of Inductive Inference"; Tarone 1990, "A Modified Bonferroni Method for Discrete Data".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from intentmatch.core.result import Verdict
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import fold

Kind = Literal["verdict", "intent", "language", "confidence", "rare", "word"]
KINDS: tuple[Kind, ...] = ("verdict", "intent", "language", "confidence", "rare", "word")

FALSE_ALARMS_PER_DAY = 1.0 / 31.0
"""Most false alarms that are expected of one check."""
DAYS_BEFORE = 28
"""Days before the last one that it is compared with."""

# Quantiles of the confidences of all messages, below which a confidence counts as low.
_LOW = (0.1, 0.25, 0.5)
# A word is rare if at most so many of all messages have it. Messages of a new kind need not share a word, but they have
# words that others have not.
_RARE = 2
_EXAMPLES = 3
# Words of a message that are looked at, and words that are told of one day.
_MOST_WORDS, _MOST_TOLD = 50, 5


@dataclass(frozen=True, slots=True)
class Answered:
    """A message with the answer to it."""

    text: str
    time: datetime
    verdict: Verdict
    intent: str | None
    """The intent that was answered; None unless the verdict is `matched`."""
    language: str | None
    confidence: float | None
    """Confidence of the first candidate."""


class Finding(NamedTuple):
    """A property that the messages of the last day have more or less often."""

    kind: Kind
    name: str
    """The verdict, intent, language or word; for "confidence" the bound; for "rare" empty."""
    now: int
    """Messages of the last day with the property."""
    before: int
    """Messages of the days before with the property."""
    share_now: float
    share_before: float
    p: float
    """Probability of such a difference by chance, before it is corrected for the number of tests."""
    examples: tuple[str, ...]
    """Messages of the last day with the property, the most frequent first; none for one that became rarer."""

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        what = {
            "verdict": f"the verdict {self.name} is given",
            "intent": f"{self.name} is asked",
            "language": f"messages come in {self.name}",
            "confidence": f"a confidence below {self.name} occurs",
            "rare": "a word that hardly any other message has is said",
            "word": f"“{self.name}” is said",
        }[self.kind]
        share = f"{self.share_now:.1%} of the messages, {self.share_before:.1%} before"
        such = ", ".join(f"“{example}”" for example in self.examples)
        return f"{what} {self._often} ({share})" + (f", by messages such as {such}" if such else "")

    @property
    def _often(self) -> str:
        if not self.before:
            return "for the first time"
        if not self.now:
            return "no longer"
        ratio = self.share_now / self.share_before
        if ratio >= 1.0:
            return f"{ratio:.1f} times as often"
        return f"only {ratio:.0%} as often" if ratio >= 0.01 else "hardly any more"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**self._asdict(), "examples": list(self.examples), "text": self.text}


@dataclass(frozen=True, slots=True)
class Drift:
    """The comparison of one day with the days before."""

    now: int
    """Messages of the last day."""
    before: int
    """Messages of the days before."""
    findings: tuple[Finding, ...]
    """What differs more than by chance: words last, otherwise the least likely first. Empty: no drift."""


def answered(matcher: Matcher, messages: Sequence[tuple[str, datetime]]) -> list[Answered]:
    """Answer logged messages, each with its time, with the registry in use: an edit in between is no drift."""
    texts = list(dict.fromkeys(text for text, _ in messages))
    # Each text once, since many users write the same.
    results = dict(zip(texts, matcher.match_many(texts), strict=True))
    return [
        Answered(text, time, result.verdict, result.intent, result.language, result.confidence)
        for text, time in messages
        for result in (results[text],)
    ]


def split_last_day(
    answers: Iterable[Answered], days: int = DAYS_BEFORE, end: datetime | None = None
) -> tuple[list[Answered], list[Answered]]:
    """Return the answers of the 24 hours up to `end` or the last one, and those of the `days` before these."""
    answers = [answer for answer in answers if end is None or answer.time <= end]
    if not answers:
        return [], []
    start = (end or max(answer.time for answer in answers)) - timedelta(days=1)
    oldest = start - timedelta(days=days)
    last = [answer for answer in answers if answer.time > start]
    return last, [answer for answer in answers if oldest < answer.time <= start]


def find_drift(
    last: Sequence[Answered], before: Sequence[Answered], *, false_alarms: float = FALSE_ALARMS_PER_DAY
) -> Drift:
    """Compare the messages of the last day with those before.

    `false_alarms` is the level: the probability that anything is found if nothing has changed is at most that.
    """
    found: list[Finding] = []
    if last and before:
        properties = _properties([*last, *before])
        for kind in KINDS:
            now, was = properties[kind][: len(last)], properties[kind][len(last) :]
            found += _findings(kind, last, now, was, false_alarms / len(KINDS))
    # One new request brings many words, which would hide all other findings.
    found.sort(key=lambda finding: (finding.kind == "word", finding.p, finding.name))
    words = [finding for finding in found if finding.kind == "word"][:_MOST_TOLD]
    return Drift(len(last), len(before), tuple(f for f in found if f.kind != "word" or f in words))


_Names = Sequence[frozenset[str]]
"""The properties of one kind of each message."""


def _findings(kind: Kind, last: Sequence[Answered], now: _Names, was: _Names, level: float) -> list[Finding]:
    sizes = len(now), len(was)
    counts, earlier = (Counter(name for names in part for name in names) for part in (now, was))
    totals = counts + earlier
    share = _share_of_level(Counter(totals.values()), sizes, level)
    found = []
    for name in totals:
        both = counts[name], earlier[name]
        rates = both[0] / sizes[0], both[1] / sizes[1]
        rises = rates[0] > rates[1]
        # Each property is tested in both directions, and only the one in which it has changed can be significant.
        p = _tail(*both, *sizes) if rises else _tail(*both[::-1], *sizes[::-1])
        if p <= share:
            texts = Counter(one.text for one, names in zip(last, now, strict=True) if name in names)
            examples = tuple(text for text, _ in texts.most_common(_EXAMPLES)) if rises else ()
            found.append(Finding(kind, name, *both, *rates, p, examples))
    return found


def _properties(answers: Sequence[Answered]) -> dict[Kind, list[frozenset[str]]]:
    """Return the properties of each message, by kind.

    They depend on all messages together, and never on which of them are those of the last day.
    """
    words = [frozenset(fold(answer.text).split()[:_MOST_WORDS]) for answer in answers]
    counts = Counter(word for names in words for word in names)
    rare = {word for word, count in counts.items() if count <= _RARE}
    values = sorted(answer.confidence for answer in answers if answer.confidence is not None)
    # Quantiles of all days together, as the test needs; see above.
    low = sorted({values[int(share * len(values))] for share in _LOW}) if values else []
    return {
        "verdict": [frozenset([answer.verdict]) for answer in answers],
        "intent": [frozenset([answer.intent] if answer.intent else []) for answer in answers],
        "language": [frozenset([answer.language] if answer.language else []) for answer in answers],
        "confidence": [frozenset(f"{bound:.0%}" for bound in low if _below(answer, bound)) for answer in answers],
        "rare": [frozenset([""] if names & rare else []) for names in words],
        "word": words,
    }


def _below(answer: Answered, bound: float) -> bool:
    return answer.confidence is not None and answer.confidence < bound


def _share_of_level(totals: Mapping[int, int], sizes: tuple[int, int], level: float) -> float:
    """Return the level of one test in one direction, by Tarone's method.

    `totals` counts the properties by the number of messages that have them. A property is left out if the least
    probability that its total allows is above the level: the number of tests is the least one for which that holds.
    """
    least: list[float] = []
    for total, count in totals.items():
        rising, falling = min(total, sizes[0]), min(total, sizes[1])
        least += [_tail(rising, total - rising, *sizes)] * count
        least += [_tail(falling, total - falling, *sizes[::-1])] * count
    least.sort()
    tests = 1
    while tests < len(least) and least[tests] <= level / tests:
        tests += 1
    return level / tests


def _tail(with_it: int, others: int, size: int, other_size: int) -> float:
    """Return the probability that at least `with_it` of `size` messages have a property that `others` have too.

    The upper tail of the hypergeometric distribution: of `size + other_size` messages, `with_it + others` have it.
    """
    total, every = with_it + others, size + other_size
    most = min(total, size)
    whole = _log_choose(every, size)
    # In logarithms, since factorials of thousands of messages are no floats.
    terms = [
        _log_choose(total, drawn) + _log_choose(every - total, size - drawn) - whole
        for drawn in range(with_it, most + 1)
        if size - drawn <= every - total
    ]
    # The sum of all terms may exceed 1 by rounding.
    return min(1.0, math.fsum(map(math.exp, terms)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
