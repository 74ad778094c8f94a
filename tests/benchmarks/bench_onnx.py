"""Compare an exported transformer with sentence-transformers: single messages, batches, threads and start-up.

    python tests/benchmarks/bench_onnx.py --model NAME_OR_FOLDER

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import bench_latency  # noqa: F401 - limits numpy to one thread, so it comes before the import of numpy

# isort: split
import numpy as np
from entry import add_json_option, option_parser, run_benchmark
from metrics import compiling, plain_table, provenance

from intentmatch import IntentMatchError, Matcher
from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.onnx_export import export_onnx
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.registry import read_registry
from intentmatch.text.normalize import clean

PRECISIONS = ("float32", "int8")
_WARM_UP = 20
_REPEATS = 3
_SECONDS_FOR_A_PROCESS = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        return run_benchmark(lambda: _measure(options, Path(work)), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--model", required=True, metavar="NAME_OR_FOLDER", help="a model of sentence-transformers")
    parser.add_argument(
        "--registry",
        default="intents",
        metavar="PATH",
        help="the registry whose English utterances are encoded (intents)",
    )
    parser.add_argument("--count", type=int, default=300, help="number of distinct texts (300)")
    parser.add_argument("--runs", type=int, default=5, help="starts of each kind (5); 0 skips them")
    add_json_option(parser)
    return parser


def _measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    utterances = read_registry(options.registry).utterances
    # A word is added, because utterances of the author are matched without a vector.
    texts = list(dict.fromkeys(f"so {clean(u.text)}" for u in utterances if u.language in {None, "en"}))
    texts = texts[:: max(1, len(texts) // options.count)][: options.count]
    original = SentenceTransformerEncoder(options.model, device="cpu")
    folders = {precision: work / precision for precision in PRECISIONS}
    exported = {p: export_onnx(options.model, folder, p) for p, folder in folders.items()}
    onnx = {precision: OnnxEncoder(folder) for precision, folder in folders.items()}
    encoders = {"sentence_transformer": original, **{f"onnx {p}": encoder for p, encoder in onnx.items()}}
    calls = {f"{name}, match": _match(options.registry, encoder) for name, encoder in encoders.items()}
    calls |= {f"{name}, encode": _encode(encoder) for name, encoder in encoders.items()}
    bare = {"sentence_transformer, bare": _forward(original), **{f"onnx {p}, bare": _run(e) for p, e in onnx.items()}}
    numbers = provenance([Path(sys.executable).name, *sys.argv], original) | {
        "cores": os.cpu_count(),
        "texts": len(texts),
        "pieces": median(len(original.model.tokenizer(text)["input_ids"]) for text in texts),
        "megabytes": {precision: done.megabytes for precision, done in exported.items()},
        "difference": {precision: done.difference for precision, done in exported.items()},
        "similarity": {precision: done.similarity for precision, done in exported.items()},
        "milliseconds": one_by_one(calls | bare, texts),
        "texts_per_second": {name: throughput(encoder.encode, texts) for name, encoder in encoders.items()},
        "threads": {p: threads(folder, texts, os.cpu_count() or 1) for p, folder in folders.items()},
    }
    if options.runs > 0:
        named = {f"onnx {p}": f"onnx:{folder}" for p, folder in folders.items()}
        settings = {"static": "static", **named, "sentence_transformer": f"sentence_transformer:{options.model}"}
        numbers["start_milliseconds"] = starts(settings, options.registry, texts[0], options.runs)
    return numbers


def _encode(encoder: Any) -> Callable[[str], Callable[[], Any]]:
    return lambda text: lambda: encoder.encode([text], kind="query")


def _match(registry: str, encoder: Any) -> Callable[[str], Callable[[], Any]]:
    matcher = Matcher.load(registry, encoder=encoder, cache="off")
    return lambda text: lambda: matcher.match(text)


def _forward(encoder: SentenceTransformerEncoder) -> Callable[[str], Callable[[], Any]]:
    """The model alone; texts are tokenized before."""
    import torch

    def prepare(text: str) -> Callable[[], Any]:
        pieces = dict(encoder.model.tokenizer([text], return_tensors="pt"))

        def call() -> Any:
            with torch.inference_mode():
                return encoder.model(dict(pieces))

        return call

    return prepare


def _run(encoder: OnnxEncoder) -> Callable[[str], Callable[[], Any]]:
    """onnxruntime alone; its inputs are prepared before."""

    def prepare(text: str) -> Callable[[], Any]:
        ids = np.array([encoder._pieces(text)], dtype=np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        given = {name: values[name] for name in encoder._inputs}
        return lambda: encoder._session.run(encoder._outputs, given)

    return prepare


def one_by_one(calls: dict[str, Callable[[str], Callable[[], Any]]], texts: Sequence[str]) -> dict[str, Any]:
    """Return the median processor time of each call over the texts, in milliseconds, one kind after the other.

    Calls of one kind alternate, in changing order, so that what a call adds to another is measured at the same time.
    """
    kinds = [[name for name in calls if name.startswith(f"{kind},")] for kind in dict.fromkeys(map(_kind, calls))]
    times: dict[str, list[float]] = {name: [] for name in calls}
    warm_up = texts[:_WARM_UP]
    for names in kinds:
        for number, text in enumerate([*warm_up, *texts]):
            for name in names if number % 2 else reversed(names):
                call = calls[name](text)
                start = thread_time()
                call()
                if number >= len(warm_up):
                    times[name].append(1000 * (thread_time() - start))
    return {name: median(taken) for name, taken in times.items()}


def _kind(name: str) -> str:
    return name.partition(",")[0]


def throughput(encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """Return texts per processor second, all of them in one call; the median of three runs."""
    speeds = []
    for _ in range(_REPEATS):
        start = thread_time()
        encode(texts)
        speeds.append(len(texts) / (thread_time() - start))
    return median(speeds)


def threads(folder: Path, texts: Sequence[str], cores: int) -> list[dict[str, float]]:
    """Run several streams of single messages at once, by threads per call; return messages per second and latency."""
    rows = []
    for streams, each in ((1, 1), (1, cores), (cores, 1), (cores, cores)):
        encoder = OnnxEncoder(folder, threads=each)
        encoder.encode(texts[:_WARM_UP])
        times: list[float] = []

        def stream(encoder: OnnxEncoder = encoder, times: list[float] = times) -> None:
            for text in texts:
                start = perf_counter()
                encoder.encode([text])
                times.append(1000 * (perf_counter() - start))

        workers = [threading.Thread(target=stream) for _ in range(streams)]
        start, used = perf_counter(), _processor_seconds()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        taken, used = perf_counter() - start, _processor_seconds() - used
        rows.append(
            {
                "streams": streams,
                "threads": each,
                "per_second": len(times) / taken,
                "milliseconds": median(times),
                "p99": float(np.percentile(times, 99)),
                "processor_milliseconds": 1000 * used / len(times),
            }
        )
    return rows


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system


def starts(encoders: dict[str, str], registry: str, message: str, runs: int) -> dict[str, float]:
    """Time whole processes of `intentmatch match`, in turns, with a warm cache; the first round is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in encoders}
    with tempfile.TemporaryDirectory() as cache:
        for run in range(runs + 1):
            for name, setting in encoders.items():
                environment = compiling(Path(cache)) | {"INTENTMATCH_ENCODER": setting, "INTENTMATCH_CACHE": cache}
                command = [sys.executable, "-m", "intentmatch", "match", f"so {message}", "--intents", registry]
                start = perf_counter()
                done = subprocess.run(
                    command, env=environment, capture_output=True, timeout=_SECONDS_FOR_A_PROCESS, check=False
                )
                if done.returncode not in {0, 3, 4}:
                    raise IntentMatchError(done.stderr.decode("utf-8", "replace").strip())
                if run > 0:
                    taken[name].append(1000 * (perf_counter() - start))
    return {name: median(times) for name, times in taken.items()}


def _print(numbers: dict[str, Any]) -> None:
    one = numbers["milliseconds"]
    rows = []
    for kind in dict.fromkeys(map(_kind, one)):
        bare, encode, match = (one[f"{kind}, {what}"] for what in ("bare", "encode", "match"))
        more = [f"{100 * (of / bare - 1):.1f} %" for of in (encode, match)]
        speed = f"{numbers['texts_per_second'][kind]:.0f}"
        rows.append([kind, f"{bare:.2f}", f"{encode:.2f}", more[0], f"{match:.2f}", more[1], speed])
    lines = [
        f"{numbers['texts']} texts of {numbers['pieces']:.0f} pieces (median), {numbers['cores']} cores",
        *(
            f"{p}: {numbers['megabytes'][p]:.0f} MB, off by {numbers['difference'][p]:.1e} at most, "
            f"least cosine {numbers['similarity'][p]:.4f}"
            for p in PRECISIONS
        ),
        "",
        plain_table(["one core", "bare call, ms", "encode", "more", "match", "more", "in batches, texts/s"], rows),
    ]
    streams = [
        [p, f"{row['streams']}", f"{row['threads']}", f"{row['per_second']:.0f}"]
        + [f"{row[name]:.2f}" for name in ("milliseconds", "p99", "processor_milliseconds")]
        for p in PRECISIONS
        for row in numbers["threads"][p]
    ]
    header = ["streams at once", "streams", "threads", "messages/s", "ms, p50", "ms, p99", "processor ms"]
    lines += ["", plain_table(header, streams)]
    if "start_milliseconds" in numbers:
        rows = [[name, f"{milliseconds:.0f}"] for name, milliseconds in numbers["start_milliseconds"].items()]
        lines += ["", plain_table(["intentmatch match, warm cache", "ms"], rows)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
