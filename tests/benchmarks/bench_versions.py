"""Compare the time of a match, of match_many and of a build with those of another version of intentmatch.

    python tests/benchmarks/bench_versions.py --before FOLDER --registry intents
    python tests/benchmarks/bench_versions.py --before FOLDER --train train.jsonl --messages valid.jsonl

FOLDER is a checkout of the other version. README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter_ns, process_time
from typing import Any

from bench_latency import ONE_THREAD, distinct, made_up
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table

from intentmatch import Matcher
from intentmatch.core.errors import InputError

_HERE = Path(__file__).resolve()
_SEED = 20240501
_ROUNDS = 5
_SECONDS_FOR_A_PROCESS = 1800
_PARTS = {"match": "match, p50 in µs", "match_many": "match_many, µs a message", "build": "build, s"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    if options.alone:
        sys.stdout.write(json.dumps(_measure(options)))
        return 0
    return run_benchmark(lambda: _numbers(options), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="a checkout of the version to compare with")
    parser.add_argument(
        "--registry",
        default="intents",
        metavar="PATH",
        help="YAML; a relative path is looked for in each version (intents)",
    )
    parser.add_argument("--train", type=Path, metavar="FILE", help="jsonl, used instead of --registry")
    parser.add_argument("--messages", type=Path, metavar="FILE", help="jsonl; the default is synthetic messages")
    parser.add_argument("--count", type=int, default=1000, help="messages (1000)")
    parser.add_argument("--runs", type=int, default=3, help="processes of each version, in turns (3)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    add_json_option(parser)
    return parser


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    """Return the quickest of all runs by version, and the ratios."""
    if options.before is None or not (options.before / "intentmatch").is_dir():
        raise InputError("--before needs a checkout of another version: a folder with intentmatch/ in it")
    versions = {"before": options.before.resolve(), "now": _HERE.parents[2]}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
    for _ in range(options.runs):
        for name, folder in versions.items():
            found[name].append(_process(options, folder))
    best = {name: {part: min(run[part] for run in runs) for part in _PARTS} for name, runs in found.items()}
    ratios = {part: best["now"][part] / best["before"][part] for part in _PARTS}
    return {"runs": options.runs, "messages": options.count, **best, "ratio": ratios}


def _process(options: argparse.Namespace, version: Path) -> dict[str, float]:
    """Measure one version in a process of its own, with an empty cache."""
    command = [sys.executable, str(_HERE), "--alone", "--count", str(options.count), "--registry", options.registry]
    for name in ("train", "messages"):
        if getattr(options, name):
            command += [f"--{name}", str(getattr(options, name).resolve())]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(version), "INTENTMATCH_CACHE": cache}
        done = subprocess.run(
            command,
            cwd=version,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS_FOR_A_PROCESS,
            check=False,
        )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise InputError(f"{version}: the measurement ended with exit code {done.returncode}: {said}")
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def _measure(options: argparse.Namespace) -> dict[str, float]:
    """Measure the version that is imported. `match` is the median over messages of the quickest of five rounds."""
    from bench_accuracy import read_rows, registry_of

    source: Any = registry_of(read_rows(options.train))[0] if options.train else options.registry
    start = process_time()
    matcher = Matcher.load(source)
    built = process_time() - start
    given = (row.text for row in read_rows(options.messages) if row is not None) if options.messages else None
    messages = distinct(matcher, given or made_up(matcher, random.Random(_SEED)), options.count)
    matcher.match_many(messages)
    best = [sys.maxsize] * len(messages)
    together = float("inf")
    for _ in range(_ROUNDS):
        _forget_texts()
        for number, message in enumerate(messages):
            start_ns = perf_counter_ns()
            matcher.match(message)
            best[number] = min(best[number], perf_counter_ns() - start_ns)
        _forget_texts()
        start = process_time()
        matcher.match_many(messages)
        together = min(together, process_time() - start)
    return {"match": median(best) / 1e3, "match_many": 1e6 * together / len(messages), "build": built}


def _forget_texts() -> None:
    """Empty the caches of whole texts, so that every round sees new messages."""
    from intentmatch.text import normalize

    try:
        from intentmatch.pieces import unigram
        from intentmatch.pieces.embedded import embedded_tokenizer
    except ImportError:  # 0.2
        from intentmatch.encoders.tokenizer import unigram
        from intentmatch.encoders.tokenizer.embedded import embedded_tokenizer

    embedded_tokenizer()._cached_texts.cache_clear()
    for function in (*vars(normalize).values(), *vars(unigram).values()):
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def _print(numbers: dict[str, Any]) -> None:
    rows = [
        [title, f"{numbers['before'][part]:.1f}", f"{numbers['now'][part]:.1f}", f"{numbers['ratio'][part]:.2f}"]
        for part, title in _PARTS.items()
    ]
    sys.stdout.write(plain_table(["quickest of all runs", "before", "now", "ratio"], rows) + "\n")


if __name__ == "__main__":
    sys.exit(main())
