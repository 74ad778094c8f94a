"""Measure how a one-line edit of a registry moves its threshold and its answers.

    python tests/benchmarks/stability.py --data FOLDER --set clinc150:train_10
    python tests/benchmarks/stability.py --registry intents

Each edit is made to the same registry: a line is added, changed or removed. An added line is a message of the set, or a
line of the registry with its words in another order. A changed line has one word less, or two words swapped. After each
edit the registry is trained again and answers the same messages. An answer *rests on the edit* if the edited intent
ranks first before or after it; the others should not change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from bench_accuracy import read_rows, registry_of
from entry import option_parser, run_benchmark
from metrics import provenance
from rich.console import Console
from tables import print_table, write

from intentmatch import Matcher, Registry, Utterance
from intentmatch.artefact.build import build, known_vectors
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.pipeline import Engine
from intentmatch.text.normalize import fold

EDITS, MESSAGES = 200, 1000
KINDS = ("add", "change", "remove")
NEAR, FAR = 0.01, 0.03
"""Bounds of the movement of the threshold that the table counts."""


class Edit(NamedTuple):
    """One edited registry."""

    kind: str
    intent: str
    registry: Registry


class Answer(NamedTuple):
    """What counts as the answer to a message, and its first intent."""

    verdict: str
    intent: str | None
    first: str | None


@dataclass(frozen=True)
class Stability:
    """How edits moved the default threshold and the answers; one entry an edit."""

    kinds: list[str]
    moves: list[float]
    """Absolute change of the default threshold."""
    changed: list[float]
    """Share of all messages whose answer changed without resting on the edit."""
    rested: list[float]
    """Share of all messages whose answer changed and rests on the edit."""

    def numbers(self) -> dict[str, float]:
        """Return the numbers of a row of the table."""
        moves = np.array(self.moves)
        return {
            "edits": len(moves),
            "near": float((moves <= NEAR).mean()),
            "p95": float(np.quantile(moves, 0.95)),
            "largest": float(moves.max()),
            "changed": float(np.mean(self.changed)),
            "most_changed": float(np.max(self.changed)),
            "rested": float(np.mean(self.rested)),
        }


def stability(
    registry: Registry,
    messages: Sequence[str],
    encoder: Encoder,
    settings: Settings,
    *,
    extra: Sequence[tuple[str, str]] = (),
    edits: int = EDITS,
    seed: int = 0,
    progress: Callable[[int], object] = lambda done: None,
) -> Stability:
    """Edit a registry `edits` times, each time from the start, and compare thresholds and answers.

    `extra` holds messages with their intents that an edit may add as lines.
    """
    original = build(registry, encoder, settings)
    known = known_vectors(original)
    before = Engine(original, encoder)
    answers = answers_of(before, messages)
    found = Stability([], [], [], [])
    random = Random(seed)
    for number in range(edits):
        edit = edited(registry, KINDS[number % len(KINDS)], extra, random)
        engine = Engine(build(edit.registry, encoder, settings, known=known), encoder)
        now = answers_of(engine, messages)
        moved = [
            edit.intent in (old.first, new.first)
            for old, new in zip(answers, now, strict=True)
            if (old.verdict, old.intent) != (new.verdict, new.intent)
        ]
        found.kinds.append(edit.kind)
        found.moves.append(abs(engine.policy.default.value - before.policy.default.value))
        found.changed.append(moved.count(False) / len(messages))
        found.rested.append(moved.count(True) / len(messages))
        progress(number + 1)
    return found


def answers_of(engine: Engine, messages: Sequence[str]) -> list[Answer]:
    """Return the answers of an engine to messages."""
    results = engine.match_many(messages, engine.resolve(MatchOptions(top_k=1)))
    return [Answer(r.verdict, r.intent, r.candidates[0].intent if r.candidates else None) for r in results]


def edited(registry: Registry, kind: str, extra: Sequence[tuple[str, str]], random: Random) -> Edit:
    """Return a registry with one line added, changed or removed. Lines stay different from all others."""
    taken = set(registry.folded)
    while True:
        place = random.randrange(len(registry.intents))
        intent = registry.intents[place]
        lines = [*intent.utterances]
        row = random.randrange(len(lines))
        if kind == "remove":
            if len(lines) < 2:
                continue
            del lines[row]
            return Edit(kind, intent.name, _with(registry, place, lines))
        own = [text for text, name in extra if name == intent.name]
        text = random.choice(own) if kind == "add" and own else disturbed(lines[row].text, kind, random)
        if not fold(text) or fold(text) in taken or "{" in lines[row].text:
            continue
        line = Utterance(text, lines[row].language)
        lines[row : row + (kind == "change")] = [line]
        return Edit(kind, intent.name, _with(registry, place, lines))


def disturbed(text: str, kind: str, random: Random) -> str:
    """Return a line with its words in another order (to add), or with one word less or two swapped (to change)."""
    words = text.split()
    if len(words) < 2:
        return text[:-1] if kind == "change" else text + text[-1:]
    if kind == "add":
        random.shuffle(words)
    elif random.random() < 0.5:
        del words[random.randrange(len(words))]
    else:
        at = random.randrange(len(words) - 1)
        words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


def messages_of(registry: Registry, count: int = MESSAGES, seed: int = 0) -> list[str]:
    """Return messages for a registry without any: its lines with one word less or two swapped."""
    random = Random(seed)
    lines = random.sample(registry.utterances, min(count, len(registry.utterances)))
    return [disturbed(line.text, "change", random) for line in lines]


def _with(registry: Registry, place: int, lines: Sequence[Utterance]) -> Registry:
    intents = [*registry.intents]
    intents[place] = replace(intents[place], utterances=tuple(lines))
    return Registry(tuple(intents), slots=registry.slots, rules=registry.rules)


HEADER = ("registry", "edits", "cut", f"moves <= {NEAR}", "95%", "largest", "changed", "most", "rests on the edit")


def cells(name: str, cut: float, numbers: dict[str, float]) -> list[str]:
    """Return a row of the table."""
    shares = [f"{100 * numbers[key]:.2f}" for key in ("changed", "most_changed", "rested")]
    moves = [f"{100 * numbers['near']:.1f}", f"{numbers['p95']:.4f}", f"{numbers['largest']:.4f}"]
    return [name, f"{numbers['edits']:.0f}", f"{cut:.3f}", *moves, *shares]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of sets, each a folder of jsonl files")
    parser.add_argument("--set", action="append", default=[], metavar="NAME:TRAIN", help="a set below --data")
    parser.add_argument("--registry", metavar="PATH", help="a registry in YAML")
    parser.add_argument("--edits", type=int, default=EDITS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all numbers to this file")
    return parser


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    settings = resolve({})
    encoder = load_encoder(settings)
    rows = []
    for name, registry, messages, extra in _subjects(options):

        def report(done: int, name: str = name) -> None:
            if progress.is_terminal:
                progress.print(f"{name}: {done} of {options.edits} edits", end="\r")

        found = stability(
            registry, messages, encoder, settings, extra=extra, edits=options.edits, seed=options.seed, progress=report
        )
        cut = build(registry, encoder, settings).calibration.cut
        rows.append({"name": name, "cut": cut.value if cut else 0.0, "numbers": found.numbers(), "edits": found})
    return provenance([Path(sys.executable).name, *sys.argv], encoder) | {"rows": rows}


def _subjects(options: argparse.Namespace) -> list[tuple[str, Registry, list[str], list[tuple[str, str]]]]:
    if options.set and options.data is None:
        raise InputError("--set needs --data FOLDER")
    found = []
    for chosen in options.set:
        name, _, train = chosen.partition(":")
        registry, _ = registry_of(read_rows(options.data / name / f"{train or 'train'}.jsonl"))
        valid = [row for row in read_rows(options.data / name / "valid.jsonl") if row is not None]
        messages = Random(options.seed).sample(valid, min(MESSAGES, len(valid)))
        extra = [(row.text, row.intent) for row in valid if row.intent is not None]
        found.append((chosen, registry, [row.text for row in messages], extra))
    if options.registry is not None:
        registry = Matcher.load(options.registry).registry
        found.append((options.registry, registry, messages_of(registry, seed=options.seed), []))
    return found


def _print(numbers: dict[str, Any]) -> None:
    write(f"intentmatch {numbers['version']}, encoder {numbers['encoder']['name']}; shares in percent")
    print_table(HEADER, [cells(row["name"], row["cut"], row["numbers"]) for row in numbers["rows"]], left=1)


if __name__ == "__main__":
    sys.exit(main())
