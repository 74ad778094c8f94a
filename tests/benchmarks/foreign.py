"""Measure messages in languages that a registry does not have, and messages in its own languages beside them.

The registry holds the English rows of a random two thirds of the intents. Messages of all intents in other languages
are matched; those of the other intents are out of scope. As there are many of them, each counts a tenth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
from bench_accuracy import Row, read_rows, registry_of

from intentmatch import Matcher
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Encoder, Registry
from intentmatch.reading.message_language import MessageLanguage
from intentmatch.reading.text import ReadText
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.normalize import base_language, clean

OUT_OF_SCOPE_WEIGHT = 0.1
"""Weight of a message of an intent that the registry does not have."""
SEEDS = (0, 1, 2)
PART = 2 / 3
"""Share of the intents that the registry has."""
BINS = 10


class Transfer(NamedTuple):
    """A set of rows for the registry, and of messages in other languages."""

    name: str
    train: str
    """Path below the data folder, without `.jsonl`."""
    valid: str
    language: str = "en"
    """Language of the rows that are used for the registry; messages in this language are left out."""


TRANSFERS = (
    Transfer("xsid", "xsid/train", "xsid/valid"),
    Transfer("mtop", "mtop/train", "mtop/valid"),
    Transfer("massive", "massive/train", "massive/valid"),
    Transfer("banking77", "banking77/train_10", "arbanking77/valid"),
)


class Answer(NamedTuple):
    """What became of one message."""

    weight: float
    in_scope: bool
    first_right: bool
    """Whether the first candidate is the message's intent."""
    right: bool
    """Whether the message was matched rightly, or refused and is out of scope."""
    asked: bool
    """Whether the message was ambiguous, with its intent among the rivals."""
    confidence: float
    language: str | None
    """The language that was found."""
    spoken: str | None
    """The language that the message is in."""


def measure_transfer(
    data: Path, encoder: Encoder, settings: Mapping[str, Any], transfers: Sequence[Transfer] = TRANSFERS
) -> dict[str, dict[str, float]]:
    """Return for each set: `overall` at the learned cut, `asked`, `best` at the best cut, `ece`, and `language`.

    `asked` counts a question with the right intent among the rivals as right; `overall` counts it as wrong. `language`
    is the share of messages whose language was found, regions and scripts aside. All are means over `SEEDS`. A set
    without messages in other languages is left out.
    """
    numbers = {}
    for transfer in transfers:
        answers = [list(answers_of(data, transfer, seed, encoder, settings)) for seed in SEEDS]
        if not all(answers):
            continue
        runs = [summary(some) for some in answers]
        numbers[transfer.name] = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    return numbers


def answers_of(
    data: Path, transfer: Transfer, seed: int, encoder: Encoder, settings: Mapping[str, Any]
) -> Iterator[Answer]:
    """Yield the answer to each message of a set in another language."""
    rows = [row for row in read_rows(data / f"{transfer.train}.jsonl") if row is not None]
    registry, _ = registry_of(iter(part_of(rows, seed)), transfer.language)
    messages = [row for row in read_rows(data / f"{transfer.valid}.jsonl") if row is not None and row.text.strip()]
    messages = [row for row in messages if row.language != transfer.language]
    matcher = Matcher.load(registry, encoder=encoder, **settings)
    results = matcher.match_many([row.text for row in messages], top_k=1)
    for row, result in zip(messages, results, strict=True):
        yield judged(result, row, registry)


def part_of(rows: Sequence[Row], seed: int) -> list[Row]:
    """Return the rows of a random `PART` of the intents."""
    names = sorted({row.intent for row in rows if row.intent is not None})
    kept = set(np.random.default_rng(seed).permutation(names)[: round(PART * len(names))].tolist())
    return [row for row in rows if row.intent in kept]


def judged(result: MatchResult, row: Row, registry: Registry) -> Answer:
    """Judge a result; a message of an intent that the registry does not have is out of scope."""
    in_scope = row.intent is not None and row.intent in registry
    first_right = in_scope and bool(result.candidates) and result.candidates[0].intent == row.intent
    return Answer(
        weight=1.0 if in_scope else OUT_OF_SCOPE_WEIGHT,
        in_scope=in_scope,
        first_right=first_right,
        right=result.intent == row.intent if in_scope else result.verdict == "out_of_scope",
        asked=result.verdict == "ambiguous" and row.intent in {rival.intent for rival in result.rivals},
        confidence=result.confidence or 0.0,
        language=result.language,
        spoken=row.language,
    )


def summary(answers: Sequence[Answer]) -> dict[str, float]:
    """Return the shares of `measure_transfer` for the answers of one run."""
    weight = np.array([answer.weight for answer in answers])
    confidence = np.array([answer.confidence for answer in answers])
    first_right = np.array([answer.first_right for answer in answers])
    in_scope = np.array([answer.in_scope for answer in answers])
    known = [answer for answer in answers if answer.spoken]
    return {
        "overall": float(np.average([answer.right for answer in answers], weights=weight)),
        "asked": float(np.average([answer.right or answer.asked for answer in answers], weights=weight)),
        "best": _best(confidence, first_right, in_scope, weight),
        "ece": _calibration_error(confidence, first_right, weight),
        "language": float(np.mean([_same_language(answer) for answer in known])) if known else float("nan"),
    }


def changed_answers(before: Iterable[MatchResult], after: Iterable[MatchResult]) -> float:
    """Return the share of messages that get another verdict or another intent."""
    changes = [
        (one.verdict, one.intent) != (other.verdict, other.intent) for one, other in zip(before, after, strict=True)
    ]
    return float(np.mean(changes))


def language_cost(matcher: Matcher, messages: Sequence[str], rounds: int) -> tuple[float, float]:
    """Return the median microseconds of guessing the language of a message, and of matching it; best of some rounds."""
    guesser = MessageLanguage(matcher.registry, Vocabulary(matcher.registry.folded))
    read = {text: ReadText(clean(text)) for text in messages}
    guesser.find(read[messages[0]], (), None)

    def median(call: Callable[[str], object]) -> float:
        times = []
        for text in messages:
            start = perf_counter_ns()
            call(text)
            times.append((perf_counter_ns() - start) / 1000)
        return float(np.median(times))

    guesses, matches = zip(
        *((median(lambda text: guesser.find(read[text], (), None)), median(matcher.match)) for _ in range(rounds)),
        strict=True,
    )
    return min(guesses), min(matches)


def _same_language(answer: Answer) -> bool:
    return answer.language is not None and base_language(answer.language) == base_language(answer.spoken or "")


def _best(confidence: np.ndarray, right: np.ndarray, in_scope: np.ndarray, weight: np.ndarray) -> float:
    """Return the largest weighted share of right answers and refusals at any threshold."""
    order = np.argsort(-confidence, kind="stable")
    gained = np.cumsum((weight * np.where(in_scope, right, -1.0))[order])
    refused = float(weight[~in_scope].sum())
    return float((max(0.0, gained.max()) + refused) / weight.sum())


def _calibration_error(confidence: np.ndarray, right: np.ndarray, weight: np.ndarray) -> float:
    """Return the weighted mean distance of confidence and accuracy in `BINS` bins of equal width."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weight * (confidence - right), BINS)).sum() / weight.sum())
