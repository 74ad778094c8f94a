"""Measure what each share of out-of-scope messages and each target cost, to choose the defaults of both.

    python tests/benchmarks/bench_defaults.py --data FOLDER
    python tests/benchmarks/bench_defaults.py --data FOLDER --share 0.2 --target balance --set clinc150

Each set is built and cross-validated once; only the calibration is fitted again. A set with out-of-scope messages is
measured as it is. Of the other sets, a third of the intents is left out, and the messages of these weigh a tenth of the
messages in scope. README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_accuracy import SETS, Choice, Row, named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from metrics import best_weighed, provenance
from numpy.typing import NDArray
from rich.console import Console
from tables import print_table, write

from intentmatch import Matcher, Registry
from intentmatch.core.settings import Settings, parse, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.learning.calibration import calibrate
from intentmatch.learning.training import TrainingData, background_for, cross_validate_registry
from intentmatch.matching.pipeline import Engine
from intentmatch.reading.resolved_options import ResolvedOptions

SHARES = (1 / 11, 0.15, 0.2, 0.25, 0.3, 0.4)
PLAIN_TARGETS = ("precision=0.95,give_up=0.005", "precision=0.95,give_up=0.02", "balance")

# Weight of all messages of the intents that are left out, if those in scope weigh 1.
_LEFT_OUT_WEIGHT = 0.1
_SEED = 0


class Measured(NamedTuple):
    """One set under one share and one target; shares of all messages, weighed."""

    name: str
    strangers: bool
    """Whether the set has out-of-scope messages of its own."""
    share: float
    target: str
    overall: float
    best: float
    """At the best threshold on the confidence."""
    ece: float

    @property
    def gap(self) -> float:
        return self.best - self.overall


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets, as bench_accuracy"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME", help="as bench_accuracy: only these sets, repeatable"
    )
    parser.add_argument("--share", action="append", default=[], type=float, help="a share to try, repeatable")
    parser.add_argument(
        "--target", action="append", default=[], help="a target to try, as of --set target=, repeatable"
    )
    parser.add_argument("--encoder", default=Settings.encoder, metavar="KIND[:MODEL]", help="the setting `encoder`")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    encoder = load_encoder(resolve({"encoder": options.encoder}))
    shares, targets = options.share or SHARES, options.target or PLAIN_TARGETS
    rows: list[Measured] = []
    for choice in named_choices(options.set) or SETS:
        rows += _measure(options.data, choice, encoder, shares, targets)
        progress.print(f"{choice.name} {choice.train_label}")
    about = provenance([Path(sys.executable).name, *sys.argv], encoder)
    return about | {"rows": [row._asdict() for row in rows]}


def _measure(
    data: Path, choice: Choice, encoder: Encoder, shares: Sequence[float], targets: Sequence[str]
) -> Iterator[Measured]:
    registry, _ = registry_of(read_rows(data / choice.name / f"{choice.train}.jsonl"), choice.language)
    messages = [row for row in read_rows(data / choice.name / f"{choice.valid}.jsonl") if row is not None]
    strangers = any(row.intent is None for row in messages)
    if not strangers:
        registry = _two_thirds(registry)
    matcher = Matcher.load(registry, encoder=encoder)
    artefact = matcher.artefact
    data = TrainingData(
        registry,
        artefact.wide_vectors,
        artefact.label_vectors,
        artefact.settings,
        encoder.name,
        background_for(registry, artefact.settings, encoder),
    )
    held_out = cross_validate_registry(data).held_out
    names, languages = [i.name for i in registry], [u.language for u in registry.utterances]
    known = np.array([row.intent is not None and row.intent in registry for row in messages])
    weights = _weights(messages, registry, strangers=strangers)
    options = ResolvedOptions(top_k=1)
    engine = Engine(artefact, encoder)
    precomputed = engine.precompute([engine.read(row.text, options) for row in messages])
    for share in shares:
        for text in targets:
            target = parse("target", text)
            settings = replace(artefact.settings, target=target, out_of_scope_share=share)
            calibration = calibrate(held_out, target, names, languages, share)
            engine = Engine(replace(artefact, settings=settings, calibration=calibration), encoder)
            readings = [engine.read(row.text, options) for row in messages]
            results = [engine.answer(reading, precomputed.__getitem__) for reading in readings]
            first = np.array(
                [
                    bool(r.candidates) and r.candidates[0].intent == row.intent
                    for r, row in zip(results, messages, strict=True)
                ]
            )
            refused = np.array([r.verdict == "out_of_scope" for r in results])
            answered = np.array(
                [r.verdict == "matched" and r.intent == row.intent for r, row in zip(results, messages, strict=True)]
            )
            confidence = np.array([r.confidence or 0.0 for r in results])
            correct = np.where(known, answered, refused)
            yield Measured(
                f"{choice.name} {choice.train_label}",
                strangers,
                share,
                text,
                float(weights @ correct),
                best_weighed(confidence, known & first, known, weights),
                _ece(confidence, known & first, weights),
            )


def _two_thirds(registry: Registry) -> Registry:
    """Return the registry without a random third of its intents."""
    kept = np.random.default_rng(_SEED).permutation(len(registry))[: 2 * len(registry) // 3]
    return replace(registry, intents=tuple(registry.intents[number] for number in sorted(kept.tolist())))


def _weights(messages: Sequence[Row], registry: Registry, *, strangers: bool) -> NDArray[np.float64]:
    """Return the weights of the messages, which add up to 1."""
    known = np.array([row.intent is not None and row.intent in registry for row in messages])
    if strangers:
        return np.full(len(messages), 1 / len(messages))
    weights = np.where(known, 1.0, _LEFT_OUT_WEIGHT * known.sum() / max(1, (~known).sum()))
    return weights / weights.sum()


def _ece(confidence: NDArray[np.float64], right: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """Return the expected calibration error in ten bins of equal width (Naeini et al. 2015)."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    return float(np.abs(np.bincount(bins, weights * (confidence - right))).sum())


def _print(numbers: dict[str, Any]) -> None:
    rows = [Measured(**row) for row in numbers["rows"]]
    write(f"intentmatch {numbers['version']}, encoder {numbers['encoder']['name']}")
    for strangers, title in ((True, "Sets with out-of-scope messages"), (False, "Two thirds of the intents")):
        some = [row for row in rows if row.strangers is strangers]
        if some:
            write(f"\n{title}: {len({row.name for row in some})}")
            print_table(_HEADER, list(_cells(some)), left=2)


_HEADER = ("share", "target", "overall", "best", "gap", "worst gap", "of", "ECE")


def _cells(rows: Sequence[Measured]) -> Iterator[list[str]]:
    groups: dict[tuple[float, str], list[Measured]] = {}
    for row in rows:
        groups.setdefault((row.share, row.target), []).append(row)
    for (share, target), some in groups.items():
        worst = max(some, key=lambda row: row.gap)
        means: Mapping[str, float] = {
            name: float(np.mean([getattr(row, name) for row in some])) for name in ("overall", "best", "gap", "ece")
        }
        points = [f"{100 * means[name]:.1f}" for name in ("overall", "best", "gap")]
        yield [f"{share:.2f}", target, *points, f"{100 * worst.gap:.1f}", worst.name, f"{means['ece']:.3f}"]


if __name__ == "__main__":
    sys.exit(main())
