"""Measure questions beside the intent: how well they are answered, and the time of a match with and without them.

    python tests/benchmarks/bench_questions.py --data FOLDER --ask 'massive:train@en=^([a-z]+)_' --lines 5 10 20

The name of a message's intent gives the answer: the first group of the expression, as in `alarm_set`. A message whose
intent does not fit says nothing. README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from bench_accuracy import choices_of, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table

from intentmatch import Matcher, Registry, Utterance
from intentmatch.core.result import Trait
from intentmatch.core.types import TraitQuestion

SEED, NONE = 44, "none"
UTTERANCES, TIMED = 10, 300


@dataclass(frozen=True)
class Measured:
    """The numbers of one question; shares of messages."""

    ask: str
    lines: int
    language: str
    messages: int
    likeliest: float
    """Of the messages with an answer: it is the likeliest one, given or not."""
    right: float
    wrong: float
    false: float | None
    """Of the messages that say nothing: an answer is given."""
    ece: float


@dataclass(frozen=True)
class Timed:
    """Medians in microseconds, on the same matcher, in turns."""

    questions: int
    match: float
    more: float
    """By which matching and reading all traits takes longer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", required=True, help="a folder of sets")
    parser.add_argument(
        "--ask", action="append", default=[], metavar="NAME[:TRAIN[@LANGUAGE]]=REGEX", help="a set, and its question"
    )
    parser.add_argument("--lines", type=int, nargs="+", default=[10], help="lines of an answer; 10")
    parser.add_argument("--none", action="store_true", help="add an answer `none` with messages that say nothing")
    parser.add_argument("--above", type=float, default=0.5, help="confidence that an answer takes; 0.5")
    parser.add_argument("--seeds", type=int, nargs="+", default=[SEED], help="draws of lines, whose mean is shown")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: list(_measure(options)), _show, options.json)


def _measure(options: argparse.Namespace) -> Iterator[Measured | Timed]:
    for ask in options.ask:
        name, _, pattern = ask.partition("=")
        (choice,) = choices_of(name)
        train = registry_of(read_rows(options.data / choice.name / f"{choice.train}.jsonl"), choice.language)[0]
        valid = [row for row in read_rows(options.data / choice.name / f"{choice.valid}.jsonl") if row and row.intent]
        for lines in options.lines:
            drawn = [_asking(train, re.compile(pattern), lines, seed, none=options.none) for seed in options.seeds]
            matchers = [Matcher.load(registry) for registry in drawn]
            for language in sorted({row.language or "" for row in valid}):
                some = [row for row in valid if (row.language or "") == language]
                expected = [_answer(re.compile(pattern), str(row.intent)) for row in some] * len(matchers)
                texts = [row.text for row in some]
                traits = [result.traits["q"] for matcher in matchers for result in matcher.match_many(texts)]
                yield _measured(ask, lines, language, traits, expected, options.above)
                sys.stderr.write(f"{ask} {lines} {language}\n")
    (name, *_) = options.ask
    choice = choices_of(name.partition("=")[0])[0]
    train = registry_of(read_rows(options.data / choice.name / f"{choice.train}.jsonl"), choice.language)[0]
    texts = [row.text for row in read_rows(options.data / choice.name / f"{choice.valid}.jsonl") if row][:TIMED]
    yield from (_timed(train, count, texts) for count in (1, 3, 10))


def _answer(pattern: re.Pattern[str], intent: str) -> str | None:
    found = pattern.search(intent)
    return found and found[1]


def _asking(train: Registry, pattern: re.Pattern[str], lines: int, seed: int, *, none: bool) -> Registry:
    """Return a registry with a question; the lines of its answers are no utterances."""
    chance = random.Random(seed)
    nothing: list[Utterance] = []
    answers: dict[str, list[Utterance]] = {}
    intents = []
    for intent in train:
        drawn = chance.sample(intent.utterances, len(intent.utterances))
        intents.append(replace(intent, utterances=tuple(drawn[:UTTERANCES])))
        answer = _answer(pattern, intent.name)
        (nothing if answer is None else answers.setdefault(answer, [])).extend(drawn[UTTERANCES:])
    some = {name: tuple(chance.sample(of, min(lines, len(of)))) for name, of in sorted(answers.items()) if of}
    if none:
        some[NONE] = tuple(chance.sample(nothing, lines))
    return Registry(tuple(intents), questions=(TraitQuestion("q", some),))


def _measured(
    ask: str, lines: int, language: str, traits: Sequence[Trait], expected: Sequence[str | None], above: float
) -> Measured:
    # The answer `none` is none.
    said_of = [{name: value for name, value in trait.confidences.items() if name != NONE} for trait in traits]
    likeliest = [max(confidences, key=confidences.__getitem__) for confidences in said_of]
    best = np.array([found == wanted for found, wanted in zip(likeliest, expected, strict=True)])
    said = np.array([wanted is not None for wanted in expected])
    confidence = np.array([max(confidences.values()) for confidences in said_of])
    given = confidence > above
    parts = np.array_split(np.argsort(confidence, kind="stable"), 10)
    return Measured(
        ask,
        lines,
        language,
        len(traits),
        float(best[said].mean()),
        float((given & best)[said].mean()),
        float((given & ~best)[said].mean()),
        float(given[~said].mean()) if not said.all() else None,
        float(sum(abs(confidence[part].mean() - best[part].mean()) * len(part) for part in parts) / len(traits)),
    )


def _timed(train: Registry, count: int, texts: Sequence[str]) -> Timed:
    answers = [intent.utterances[:UTTERANCES] for intent in train.intents[: 2 * count]]
    questions = tuple(TraitQuestion(str(n), {"yes": answers[2 * n], "no": answers[2 * n + 1]}) for n in range(count))
    kept = tuple(replace(intent, utterances=intent.utterances[:UTTERANCES]) for intent in train)
    matcher = Matcher.load(Registry(kept, questions=questions))
    engine = matcher._engine
    reader, without, more = engine._traits, [], []
    for text in [*texts[:20], *texts]:
        seconds = []
        for one in (None, reader, None, reader):
            engine._traits = one
            start = perf_counter()
            matcher.match(text).traits  # noqa: B018 - computed when it is read
            seconds.append(perf_counter() - start)
        without.append(seconds[2] * 1e6)
        more.append((seconds[3] - seconds[2]) * 1e6)
    return Timed(count, median(without), median(more))


def _show(found: Sequence[Measured | Timed]) -> None:
    percent = [
        [
            f"{one.ask} {one.language}",
            str(one.lines),
            str(one.messages),
            *map(_shown, (one.likeliest, one.right, one.wrong, one.false, one.ece)),
        ]
        for one in found
        if isinstance(one, Measured)
    ]
    print_table(["%", "lines", "messages", "likeliest", "right", "wrong", "false", "ECE"], percent, 1)
    times = [
        [
            str(one.questions),
            f"{one.match:.0f}",
            f"{one.more:.1f}",
            f"{one.more / one.questions:.1f}",
            f"{1 + one.more / one.match:.3f}",
        ]
        for one in found
        if isinstance(one, Timed)
    ]
    print_table(["questions", "match, µs", "more, µs", "a question", "ratio"], times, 0)


def _shown(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


if __name__ == "__main__":
    sys.exit(main())
