"""Measure small registries: strangers accepted, held-out lines right, and the threshold that suits them best.

    python tests/benchmarks/bench_small_registries.py                 # subsets of the shipped intents
    python tests/benchmarks/bench_small_registries.py --data FOLDER   # and registries drawn from development sets
    python tests/benchmarks/bench_small_registries.py --data FOLDER --encoder sentence_transformer:FOLDER

Strangers of the shipped intents are the development half of the everyday messages in English. Strangers of a drawn
registry are messages of the other sets; its own left-out intents are near strangers.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from bench_accuracy import read_rows
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

from intentmatch import Intent, Matcher, MatchResult, Registry, Utterance
from intentmatch.core.errors import RegistryError
from intentmatch.core.settings import resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.matching.thresholds import FALLBACK_MARGIN
from intentmatch.registry import read_registry

SHIPPED = Path(__file__).parents[2] / "intents"
SMALL_TALK = {"greeting", "goodbye", "thanks", "yes", "no"}
SIZES, LINES, DRAWS = (3, 5, 10, 20), (4, 8, 14), 6
DRAWN_SIZES, DRAWN_LINES = (3, 5, 8, 12, 20, 40, 80), (3, 4, 6, 8, 12, 16, 25)
TINY_SIZES, TINY_LINES = range(2, 11), range(2, 9)
SCORES = tuple(np.arange(0.2, 0.45, 0.02).round(2).tolist())
BINS = (0, 30, 60, 120, 250, 500, 5000)
_MOST_KNOWN, _MOST_STRANGE = 60, 30
_AT = 0.04


class Small(NamedTuple):
    """Subsets of the shipped intents with the same numbers of intents and lines; shares of messages."""

    intents: int
    lines: int
    accepted: float
    asked: float
    right: float
    wrong: float


class Best(NamedTuple):
    """The threshold on the in-scope probability that gains most in registries with so many utterances."""

    utterances: str
    registries: int
    threshold: float
    right: float
    far: float
    near: float


class AtScore(NamedTuple):
    """Registries too small for a confidence, under a threshold on the score; a fifth of the messages are strangers."""

    registries: int
    threshold: float
    right: float
    wrong: float
    near: float
    far: float
    right_above: float
    """Share of the matched messages that are right."""
    right_at: float
    """The same of those whose score is at most `_AT` above the threshold."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of sets, as bench_accuracy")
    parser.add_argument("--registries", type=int, default=300, metavar="N", help="how many are drawn; 300")
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    add_json_option(parser)
    options = parser.parse_args(arguments)

    def rows() -> list[Small | Best | AtScore]:
        encoder = load_encoder(resolve({"encoder": options.encoder} if options.encoder else {}))
        sets = {folder.name: found for folder in _folders(options.data) if (found := _english(folder))}
        numbers = range(options.registries if sets else 0)
        return [*_shipped(encoder), *_drawn(numbers, sets, encoder), *_at_scores(numbers, sets, encoder)]

    return run_benchmark(rows, _show, options.json)


def _shipped(encoder: Encoder) -> Iterator[Small]:
    """Yield rows of subsets of the shipped intents in English."""
    listed = [intent for intent in read_registry(SHIPPED).intents if intent.name not in SMALL_TALK]
    strangers = [case.text for case in everyday_messages({"en"}, half="development")]
    for size in SIZES:
        for lines in LINES:
            shares = []
            for seed in range(DRAWS):
                draw = random.Random(f"{size} {lines} {seed}")
                intents, held_out = [], []
                for intent in draw.sample(listed, size):
                    own = [utterance for utterance in intent.utterances if utterance.language == "en"]
                    draw.shuffle(own)
                    kept = min(lines, max(2, len(own) - 2))
                    intents.append(Intent(intent.name, tuple(own[:kept])))
                    held_out += [(utterance.text, intent.name) for utterance in own[kept:]]
                matcher = Matcher.load(Registry(tuple(intents)), encoder=encoder, cache="off")
                strange = [result.verdict for result in matcher.match_many(strangers)]
                found = zip(matcher.match_many([text for text, _ in held_out]), held_out, strict=True)
                answers = [(result.intent, own) for result, (_, own) in found]
                shares.append(
                    (
                        strange.count("matched") / len(strange),
                        strange.count("ambiguous") / len(strange),
                        mean(intent == own for intent, own in answers),
                        mean(intent not in (None, own) for intent, own in answers),
                    )
                )
            yield Small(size, lines, *(mean(column) for column in zip(*shares, strict=True)))


class _Case(NamedTuple):
    utterances: int
    registry: int
    kind: str
    in_scope: float
    right: bool


def _folders(data: Path | None) -> list[Path]:
    return sorted(data.iterdir()) if data else []


def _drawn(numbers: Sequence[int], sets: Mapping[str, _Set], encoder: Encoder) -> Iterator[Best]:
    """Yield the best threshold by number of utterances; `numbers` are those of the drawn registries."""
    cases = [case for number in numbers for case in _cases(number, sets, encoder)]
    for low, high in pairwise(BINS):
        some = [case for case in cases if low <= case.utterances < high]
        if some:
            yield _best(f"{low} to {high - 1}", some)


def _at_scores(numbers: Sequence[int], sets: Mapping[str, _Set], encoder: Encoder) -> Iterator[AtScore]:
    """Yield what thresholds on the score do to registries that have no confidence."""
    cases: list[tuple[int, str, float, bool]] = []
    for number in numbers:
        if (drawn := _draw(number, sets, TINY_SIZES, TINY_LINES, encoder)) is None:
            continue
        for which, own, result in drawn.answers():
            scores = [candidate.score for candidate in result.candidates if candidate.confidence is None]
            if scores:
                clear = len(scores) < 2 or scores[0] - scores[1] >= FALLBACK_MARGIN
                cases.append((number, which, scores[0] if clear else 0.0, result.candidates[0].intent == own))
    if not cases:
        return
    kind = np.array([case[1] for case in cases])
    score = np.array([case[2] for case in cases])
    right = np.array([case[3] for case in cases])
    known, near, far = kind == "known", kind == "near", kind == "far"
    weight = 0.8 * known / known.sum() + 0.1 * near / near.sum() + 0.1 * far / far.sum()
    for threshold in SCORES:
        passes = score >= threshold
        at = passes & (score < threshold + _AT)
        yield AtScore(
            len({case[0] for case in cases}),
            threshold,
            *(float(of.mean()) for of in (passes[known] & right[known], passes[known] & ~right[known])),
            *(float(passes[of].mean()) for of in (near, far)),
            *(float(np.average(right[of], weights=weight[of])) if of.any() else 0.0 for of in (passes, at)),
        )


class _Set(NamedTuple):
    train: Mapping[str, Sequence[str]]
    valid: Sequence[tuple[str, str]]


def _english(folder: Path) -> _Set | None:
    """Read the English lines of a set; None if it has too few intents."""
    files = [folder / "train.jsonl", folder / "valid.jsonl"]
    if not all(file.is_file() for file in files):
        return None
    lines, valid = (
        [
            (row.text, row.intent)
            for row in read_rows(file)
            if row is not None and row.intent is not None and row.language in (None, "en")
        ]
        for file in files
    )
    train: dict[str, list[str]] = defaultdict(list)
    for text, intent in lines:
        train[intent].append(text)
    return _Set(train, valid) if len(train) > 3 and valid else None


class _Drawn(NamedTuple):
    matcher: Matcher
    messages: Mapping[str, Sequence[tuple[str, str]]]
    """Known messages, near strangers and far ones, each with its intent."""

    def answers(self) -> Iterator[tuple[str, str, MatchResult]]:
        """Yield the kind of each message, its intent and what the bot answers."""
        for kind, some in self.messages.items():
            for result, (_, own) in zip(self.matcher.match_many([text for text, _ in some]), some, strict=True):
                yield kind, own, result


def _draw(
    number: int, sets: Mapping[str, _Set], sizes: Sequence[int], lines: Sequence[int], encoder: Encoder
) -> _Drawn | None:
    """Draw a registry and messages for it; None if two of its intents have the same line."""
    draw = random.Random(number)
    name = draw.choice([*sets])
    train, valid = sets[name]
    size, most_lines = min(draw.choice(sizes), len(train) * 3 // 4), draw.choice(lines)
    chosen = draw.sample([*train], size)
    intents = tuple(
        Intent(intent, tuple(Utterance(text, "en") for text in draw.sample(own, min(most_lines, len(own)))))
        for intent in chosen
        if (own := [text for text in dict.fromkeys(train[intent]) if any(map(str.isalpha, text))])
    )
    try:
        matcher = Matcher.load(Registry(intents), encoder=encoder, cache="off")
    except RegistryError:
        return None
    known = [(text, own) for text, own in valid if own in chosen]
    near = [(text, "") for text, own in valid if own not in chosen]
    far = [(text, "") for text, _ in sets[draw.choice([other for other in sets if other != name])].valid]
    kinds = (("known", known, _MOST_KNOWN), ("near", near, _MOST_STRANGE), ("far", far, _MOST_STRANGE))
    return _Drawn(matcher, {kind: draw.sample(some, min(most, len(some))) for kind, some, most in kinds})


def _cases(number: int, sets: Mapping[str, _Set], encoder: Encoder) -> Iterator[_Case]:
    """Draw a registry, and yield its messages and its strangers."""
    if (drawn := _draw(number, sets, DRAWN_SIZES, DRAWN_LINES, encoder)) is None:
        return
    utterances = len(drawn.matcher.registry.utterances)
    for kind, own, result in drawn.answers():
        if result.in_scope is not None:
            right = bool(result.candidates) and result.candidates[0].intent == own
            yield _Case(utterances, number, kind, result.in_scope, right)


def _best(utterances: str, cases: Sequence[_Case]) -> Best:
    """Return the threshold at which accepting a far stranger costs as much as losing a right answer."""
    in_scope = np.array([case.in_scope for case in cases])
    right = np.array([case.right for case in cases])
    kind = np.array([case.kind for case in cases])

    def rates(threshold: float) -> tuple[float, float, float]:
        passes = in_scope >= threshold
        some = [passes[kind == which] for which in ("known", "far", "near")]
        return float((some[0] & right[kind == "known"]).mean()), *(float(one.mean()) for one in some[1:])  # type: ignore[return-value]

    thresholds = np.linspace(0.5, 0.96, 24).round(2).tolist()
    best = max(thresholds, key=lambda threshold: rates(threshold)[0] - rates(threshold)[1])
    return Best(utterances, len({case.registry for case in cases}), best, *rates(best))


def _show(rows: Sequence[Small | Best | AtScore]) -> None:
    small = [row for row in rows if isinstance(row, Small)]
    best = [row for row in rows if isinstance(row, Best)]
    at = [row for row in rows if isinstance(row, AtScore)]
    percent = "{:.0%}".format
    write("Subsets of the shipped intents in English: everyday messages accepted, asked; held-out lines right, wrong")
    shown = [[str(row.intents), str(row.lines), *map(percent, row[2:])] for row in small]
    print_table(["intents", "lines", "accepted", "asked", "right", "wrong"], shown, left=0)
    if best:
        write("\nRegistries drawn from development sets: the best threshold, and what it accepts")
        shown = [[row.utterances, str(row.registries), f"{row.threshold:.2f}", *map(percent, row[3:])] for row in best]
        print_table(["utterances", "registries", "threshold", "right", "far", "near"], shown, left=1)
    if at:
        write(
            f"\n{at[0].registries} registries of 2 to 10 intents, too small for a confidence: thresholds on the score"
        )
        shown = [[f"{row.threshold:.2f}", *map(percent, row[2:])] for row in at]
        print_table(["threshold", "right", "wrong", "near", "far", "right above", "right just above"], shown, left=0)


if __name__ == "__main__":
    sys.exit(main())
