"""Measure how long intentmatch takes and how much memory it needs, on one thread.

    python tests/benchmarks/bench_latency.py --registry intents
    python tests/benchmarks/bench_latency.py --train train.jsonl --messages valid.jsonl

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns, process_time
from typing import Any

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set before the imports, because numpy, torch and tokenizers read them when they are imported."""
os.environ.update(ONE_THREAD)

from bench_accuracy import read_rows, registry_of  # noqa: E402 - see ONE_THREAD
from entry import add_json_option, option_parser, run_benchmark  # noqa: E402
from jsonl import read_jsonl  # noqa: E402
from metrics import compiling, percentiles, plain_table, provenance  # noqa: E402

from intentmatch import Matcher, save_artefact  # noqa: E402
from intentmatch.core.errors import InputError  # noqa: E402
from intentmatch.text.normalize import clean, fold  # noqa: E402

_SEED = 20240501
_WARM_UP = 50
_REPEATS = 3
# Attempts per synthetic message; a small registry runs out of new ones.
_ATTEMPTS = 50
_SECONDS_FOR_A_PROCESS = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    return run_benchmark(lambda: _numbers(options), _print, options.json)


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        learned = _learn(options, Path(folder, "train.intentmatch")) if options.train else {}
        return _measure(options) | learned


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--registry", default="intents", metavar="PATH", help="YAML or an artefact (intents)")
    parser.add_argument(
        "--train", type=Path, metavar="FILE", help="jsonl with text and intent, used instead of --registry"
    )
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument(
        "--messages", type=Path, metavar="FILE", help="jsonl with a field text; the default is synthetic messages"
    )
    parser.add_argument("--runs", type=int, default=5, help="cold starts of each kind (5); 0 skips them")
    parser.add_argument("--count", type=int, default=2000, help="number of distinct messages (2000)")
    add_json_option(parser)
    return parser


def _learn(options: argparse.Namespace, artefact: Path) -> dict[str, Any]:
    """Build a registry of train rows into an artefact, which is then measured; return how long the build took."""
    registry, _ = registry_of(read_rows(options.train))
    settings = {"encoder": options.encoder} if options.encoder else {}
    _report_progress(f"building {len(registry.utterances)} utterances")
    start, began = perf_counter(), process_time()
    matcher = Matcher.load(registry, cache="off", **settings)
    taken = {"wall": perf_counter() - start, "processor": process_time() - began}
    save_artefact(matcher.artefact, artefact)
    options.registry = artefact
    return {"build_seconds": taken}


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    memory = {"imports": _peak_mebibytes()}
    settings = {"encoder": options.encoder} if options.encoder else {}
    matcher = Matcher.load(options.registry, **settings)
    memory["loaded"] = _peak_mebibytes()
    given = options.messages and read_jsonl(options.messages, "a text", lambda values: str(values["text"]))
    messages = distinct(matcher, given or made_up(matcher, random.Random(_SEED)), options.count)
    if not messages:
        raise InputError("no message differs from every utterance of the registry")
    _report_progress(f"{len(messages)} messages, one at a time")
    one_by_one = _latency(matcher, messages)
    _report_progress(f"{len(messages)} messages at once")
    at_once = _throughput(matcher, messages)
    memory["matched"] = _peak_mebibytes()
    results = matcher.match_many(messages, top_k=1)
    numbers = provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | {
        "settings": matcher.settings.to_dict(),
        "threads": ONE_THREAD,
        "intents": len(matcher.registry),
        "utterances": len(matcher.registry.utterances),
        "messages": len(messages),
        "verdicts": dict(Counter(result.verdict for result in results)),
        "decided_by": dict(Counter(result.trace.decided_by for result in results)),
        "microseconds": one_by_one,
        "messages_per_second": at_once,
        "peak_memory_mebibytes": memory,
    }
    if options.runs > 0:
        # A message that matches, because the command's exit code is not 0 for others.
        message = next((r.message for r in results if r.verdict == "matched"), messages[0])
        with tempfile.TemporaryDirectory() as folder:
            numbers["cold_start_milliseconds"] = _cold_starts(options, matcher, message, Path(folder))
    return numbers


def made_up(matcher: Matcher, chance: random.Random) -> Iterator[str]:
    """Yield utterances of the registry with a word dropped or two neighbouring words swapped, without end."""
    lines = [u.text.split() for u in matcher.registry.utterances]
    lines = [words for words in lines if len(words) > 1]
    while lines:
        words = list(chance.choice(lines))
        place = chance.randrange(len(words) - 1)
        if chance.random() < 0.5:
            del words[chance.choice((place, place + 1))]
        else:
            words[place : place + 2] = words[place + 1], words[place]
        yield " ".join(words)


def distinct(matcher: Matcher, texts: Iterator[str], count: int) -> list[str]:
    """Return the first `count` texts that differ from each other and from every utterance, also when folded."""
    seen = {fold(u.text) for u in matcher.registry.utterances} | {""}
    found: list[str] = []
    for _, text in zip(range(count * _ATTEMPTS), texts, strict=False):
        if (key := fold(text)) not in seen:
            seen.add(key)
            found.append(text)
        if len(found) == count:
            break
    return found


def _latency(matcher: Matcher, messages: Sequence[str]) -> dict[str, Any]:
    """Time `Matcher.match` and the encoder alone, in alternating order.

    So neither of them always profits from the tokenizer's cache or from a cooler processor.
    """
    encoder = matcher.encoder
    matching, encoding = [], []
    for message in messages[:_WARM_UP]:
        matcher.match(message)
    for number, message in enumerate(messages):
        texts = [clean(message)]
        if number % 2:
            encoding.append(_nanoseconds(lambda texts=texts: encoder.encode(texts, kind="query")))
            matching.append(_nanoseconds(lambda message=message: matcher.match(message)))
        else:
            matching.append(_nanoseconds(lambda message=message: matcher.match(message)))
            encoding.append(_nanoseconds(lambda texts=texts: encoder.encode(texts, kind="query")))
    match, encode = (
        dict(zip(("p50", "p99"), (time / 1000 for time in percentiles(times, 50, 99)), strict=True))
        for times in (matching, encoding)
    )
    return {"match": match, "encode": encode, "ratio": {p: match[p] / encode[p] for p in match}}


def _nanoseconds(call: Callable[[], object]) -> int:
    start = perf_counter_ns()
    call()
    return perf_counter_ns() - start


def _throughput(matcher: Matcher, messages: Sequence[str]) -> dict[str, float]:
    speeds = []
    for _ in range(_REPEATS):
        start = perf_counter()
        matcher.match_many(messages)
        speeds.append(len(messages) / (perf_counter() - start))
    return {"median": median(speeds), "min": min(speeds), "max": max(speeds)}


def _peak_mebibytes() -> float:
    """Return the largest memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _cold_starts(options: argparse.Namespace, matcher: Matcher, message: str, folder: Path) -> dict[str, Any]:
    """Time whole processes in turns, so that a slow moment of the machine affects all of them.

    A first round is not counted: it compiles bytecode, as an installation does, and fills the system's file cache.
    """
    artefact = folder / "registry.intentmatch"
    save_artefact(matcher.artefact, artefact)
    environment = compiling(folder)
    if options.encoder:
        environment["INTENTMATCH_ENCODER"] = options.encoder
    match = [sys.executable, "-m", "intentmatch", "match", message, "--intents"]
    lines = {"pass": "pass", "numpy": "import numpy", "intentmatch": "import numpy, intentmatch"}
    commands = {
        **{name: [sys.executable, "-c", line] for name, line in lines.items()},
        "empty": [*match, str(options.registry)],
        "warm": [*match, str(options.registry)],
        "artefact": [*match, str(artefact)],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(options.runs + 1):
        _report_progress(f"cold starts, round {run} of {options.runs}")
        with tempfile.TemporaryDirectory() as cache:
            for name, command in commands.items():
                milliseconds = _process(command, environment | {"INTENTMATCH_CACHE": cache})
                if run > 0:
                    taken[name].append(milliseconds)
    return {name: {"median": median(t), "min": min(t), "max": max(t)} for name, t in taken.items()}


def _process(command: Sequence[str], environment: dict[str, str]) -> float:
    start = perf_counter()
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_SECONDS_FOR_A_PROCESS, check=False
    )
    milliseconds = 1000 * (perf_counter() - start)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise InputError(f"{' '.join(command[1:4])} ... ended with exit code {done.returncode}: {said}")
    return milliseconds


def _report_progress(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def _print(numbers: dict[str, Any]) -> None:
    encoder, memory = numbers["encoder"], numbers["peak_memory_mebibytes"]
    lines = [
        f"intentmatch {numbers['version']}, encoder {encoder['name']} @ {encoder['fingerprint']}",
        f"{numbers['intents']} intents, {numbers['utterances']} utterances, {numbers['messages']} distinct messages "
        f"that are not among them ({_counts(numbers['decided_by'])}; {_counts(numbers['verdicts'])})",
        f"one thread: {' '.join(f'{name}={value}' for name, value in numbers['threads'].items())}",
    ]
    if "cold_start_milliseconds" in numbers:
        names = {
            "pass": "python -c pass",
            "numpy": 'python -c "import numpy"',
            "intentmatch": 'python -c "import numpy, intentmatch"',
            "empty": "intentmatch match, empty cache",
            "warm": "intentmatch match, warm cache",
            "artefact": "intentmatch match, artefact",
        }
        rows = [
            [names.get(name, name), *(f"{times[key]:.0f}" for key in ("median", "min", "max"))]
            for name, times in numbers["cold_start_milliseconds"].items()
        ]
        lines += ["", plain_table(["whole process, ms", "median", "min", "max"], rows)]
    one = numbers["microseconds"]
    rows = [
        ["Matcher.match", *(f"{one['match'][p]:.0f}" for p in ("p50", "p99"))],
        ["encode([text])", *(f"{one['encode'][p]:.0f}" for p in ("p50", "p99"))],
        ["ratio", *(f"{one['ratio'][p]:.2f}" for p in ("p50", "p99"))],
    ]
    lines += ["", plain_table(["one message, µs", "p50", "p99"], rows)]
    speed = numbers["messages_per_second"]
    lines += ["", f"match_many: {speed['median']:.0f} messages a second ({speed['min']:.0f} to {speed['max']:.0f})"]
    if "build_seconds" in numbers:
        built = numbers["build_seconds"]
        lines += [
            f"built, with head and thresholds, in {built['wall']:.1f} s ({built['processor']:.1f} s of processor)"
        ]
    lines += [
        f"peak memory: {memory['imports']:.0f} MiB after imports, {memory['loaded']:.0f} with the registry loaded, "
        f"{memory['matched']:.0f} after matching"
    ]
    sys.stdout.write("\n".join(lines) + "\n")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda pair: -pair[1]))


if __name__ == "__main__":
    sys.exit(main())
