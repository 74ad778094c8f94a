"""Compare a build on a GPU with sentence-transformers at its best batch size, and time exact search there.

    python tests/benchmarks/bench_gpu.py --model NAME_OR_FOLDER
    python tests/benchmarks/bench_gpu.py --model NAME_OR_FOLDER --device cpu --count 2000

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bench_growth import SOURCE, texts
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table, provenance
from tables import write

from intentmatch.encoders.encode import encode_all
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.index import load_index
from intentmatch.storage.vector_cache import VectorCache

_SEED = 20240501
_BATCHES = (64, 256, 1024)
_EACH, _INTENTS, _COMPARED = 100, 500, 1000
_INDEXES, _QUERIES, _LEADERS, _DIM = ("exact", "torch"), (1, 64, 4096), 15, 256


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    return run_benchmark(lambda: _numbers(options), _print, options.json)


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    encoder = SentenceTransformerEncoder(options.model, device=options.device, precision=options.precision)
    speeds, difference = measured(encoder, _texts(options.count), options)
    return provenance([Path(sys.executable).name, *sys.argv], encoder) | {
        "device": encoder.device,
        "tolerance": encoder.tolerance,
        "texts_per_second": speeds,
        "furthest": difference,
        "search_seconds": search_times(options),
    }


def _print(numbers: dict[str, Any]) -> None:
    speeds, searched = numbers["texts_per_second"], numbers["search_seconds"]
    best = max(speed for name, speed in speeds.items() if name != "build")
    table = [[name, f"{speed:.0f}", f"{speed / best:.2f}"] for name, speed in speeds.items()]
    write(plain_table(["", "texts a second", "of the best"], table))
    write(f"furthest from the CPU's vectors: {numbers['furthest']:.1e}, of {numbers['tolerance']:.0e} allowed\n")
    table = [[str(queries), *(f"{1000 * of[kind]:.1f}" for kind in _INDEXES)] for queries, of in searched.items()]
    write(plain_table(["messages at once", *(f"{kind}, ms" for kind in _INDEXES)], table))


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--model", required=True, metavar="NAME_OR_FOLDER", help="a model of sentence-transformers")
    parser.add_argument("--device", default="cuda", help="the setting `device` (cuda)")
    parser.add_argument("--precision", default="auto", help="the setting `precision` (auto)")
    parser.add_argument("--count", type=int, default=100_000, help="number of distinct texts (100000)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="number of rows to search (1000000)")
    parser.add_argument("--runs", type=int, default=3, help="rounds, of which the median counts (3)")
    add_json_option(parser)
    return parser


def _texts(wanted: int) -> list[str]:
    """Return distinct lines of synthetic intents."""
    lines_of = texts(SOURCE, _INTENTS, random.Random(_SEED))
    lines = (text for number in count() for text, _ in islice(lines_of(number), _EACH))
    return list(islice(dict.fromkeys(islice(lines, 2 * wanted)), wanted))


def measured(
    encoder: SentenceTransformerEncoder, lines: list[str], options: argparse.Namespace
) -> tuple[dict[str, float], float]:
    """Return texts per second of a build and of the library alone, and the largest difference from the CPU."""
    library: Any = encoder.model
    calls: dict[str, Callable[[], object]] = {
        "build": lambda: encode_all(encoder, lines, "utterance", VectorCache(None)),
        **{
            f"encode, batches of {size}": lambda size=size: library.encode(
                lines, batch_size=size, convert_to_tensor=True, normalize_embeddings=True, show_progress_bar=False
            ).cpu()
            for size in _BATCHES
        },
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    # The first round warms up kernels and the allocator.
    for run in range(options.runs + 1):
        for name, call in calls.items():
            start = perf_counter()
            call()
            if run > 0:
                taken[name].append(len(lines) / (perf_counter() - start))
    on_cpu = SentenceTransformerEncoder(options.model, device="cpu")
    some = lines[:_COMPARED]
    difference = float(np.abs(encoder.encode(some) - on_cpu.encode(some)).max())
    return {name: median(speeds) for name, speeds in taken.items()}, difference


def search_times(options: argparse.Namespace) -> dict[int, dict[str, float]]:
    """Return seconds of exact searches among random rows, by number of queries and by index."""
    chance = np.random.default_rng(_SEED)
    rows = chance.normal(size=(options.rows, _DIM)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    owners = np.sort(np.arange(options.rows) % _INTENTS).tolist()
    indexes = {kind: load_index(kind, rows, owners, "mean2", device=options.device) for kind in _INDEXES}
    found: dict[int, dict[str, float]] = {}
    for queries in _QUERIES:
        taken: dict[str, list[float]] = {kind: [] for kind in indexes}
        for run in range(options.runs + 1):
            for kind, index in indexes.items():
                start = perf_counter()
                index.best_owners(rows[:queries], _LEADERS)
                if run > 0:
                    taken[kind].append(perf_counter() - start)
        found[queries] = {kind: median(seconds) for kind, seconds in taken.items()}
    return found


if __name__ == "__main__":
    sys.exit(main())
