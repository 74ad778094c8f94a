"""Measure a cross-encoder trained on a registry's own utterances: by torch, and exported in 32 and 8 bits.

    python tests/benchmarks/bench_reranker.py --data FOLDER --encoder sentence_transformer:NAME --work FOLDER

Messages of a separate file decide, without the proof of `intentmatch adapt --reranker`. An interrupted training
continues in the same work folder. README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_accuracy import Choice, named_choices, read_rows, registry_of
from bench_adapt import shows_progress
from entry import add_json_option, option_parser, run_benchmark
from metrics import Outcome, provenance, share
from rich.console import Console
from tables import print_table, write

from intentmatch import Matcher, Registry
from intentmatch.adaptation import RerankerRecipe
from intentmatch.adaptation.reranker_training import cross_encoder_of, train_reranker
from intentmatch.core.settings import resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import hub, load_encoder
from intentmatch.encoders.cross_encoder_export import export_cross_encoder
from intentmatch.encoders.encode import encode_all
from intentmatch.runtime import steps
from intentmatch.text.normalize import clean

SETS = (Choice("clinc150", "train_10"), Choice("banking77", "train_10"))
_EXPORTS = ("float32", "int8")
_NO_HURRY = 3600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets")
    parser.add_argument("--set", action="append", default=[], metavar="NAME[:TRAIN[:VALID]]", help="repeatable")
    parser.add_argument("--encoder", required=True, metavar="sentence_transformer:NAME", help="encoder of the bot")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="keeps models and training states")
    parser.add_argument("--steps", type=int, default=RerankerRecipe().steps)
    parser.add_argument("--seed", type=int, default=0)
    add_json_option(parser)
    return parser


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    settings = resolve({"encoder": options.encoder})
    encoder = load_encoder(settings)
    rows: list[dict[str, Any]] = []
    for choice in named_choices(options.set) or SETS:
        registry, _ = registry_of(read_rows(options.data / choice.name / f"{choice.train}.jsonl"), choice.language)
        work = options.work / f"{choice.name}-{choice.train}-{options.seed}"
        began = perf_counter()
        with steps.listening(shows_progress(progress)):
            _train(registry, encoder, settings.encoder.partition(":")[2], options, work)
        seconds = perf_counter() - began
        rerankers = {"torch": f"cross_encoder:{work / 'model'}"}
        for precision in _EXPORTS:
            export_cross_encoder(str(work / "model"), work / precision, precision)
            rerankers[precision] = f"onnx:{work / precision}"
        valid = options.data / choice.name / f"{choice.valid}.jsonl"
        named = {"set": choice.name, "train": choice.train, "seconds": seconds}
        rows += [named | row for row in _measured(registry, encoder, rerankers, valid)]
    return provenance([Path(sys.executable).name, *sys.argv], encoder) | {"rows": rows}


def _train(registry: Registry, encoder: Encoder, model: str, options: argparse.Namespace, work: Path) -> None:
    """Write a cross-encoder that starts from the weights of the bot's encoder to `work / "model"`."""
    recipe = RerankerRecipe(seed=options.seed, steps=options.steps)
    vectors = encode_all(encoder, [clean(utterance.text) for utterance in registry.utterances], "utterance")
    start = str(cross_encoder_of(model, "cpu", work / "base", recipe.seed))

    def load() -> Any:
        return hub.load("CrossEncoder", start, "cpu", what="A cross-encoder").model

    trained = train_reranker(registry, vectors, load, recipe, work=work)
    trained.save_pretrained(str(work / "model"), create_model_card=False)


def _measured(registry: Registry, encoder: Encoder, rerankers: dict[str, str], valid: Path) -> Iterator[dict[str, Any]]:
    """Yield right answers to all messages and to the doubtful ones, without a reranker and with each."""
    messages = [row for row in read_rows(valid) if row is not None]
    texts, expected = [row.text for row in messages], [row.intent for row in messages]
    right: dict[str, list[bool]] = {}
    doubtful: list[int] = []
    for name, reranker in {"none": "none", **rerankers}.items():
        matcher = Matcher.load(registry, encoder=encoder, reranker=reranker, reranker_seconds=_NO_HURRY)
        results = matcher.match_many(texts, top_k=1)
        pairs = zip((Outcome.from_result(*each) for each in zip(results, expected, strict=True)), expected, strict=True)
        right[name] = [one.refused if intent is None else one.answered for one, intent in pairs]
        doubtful = doubtful or [row for row, each in enumerate(results) if each.trace.decided_by == "reranker"]
    for name, one in right.items():
        yield {
            "reranker": name,
            "messages": len(one),
            "overall": share(one),
            "doubtful": len(doubtful),
            "doubtful_right": share([one[row] for row in doubtful]),
        }


def _print(numbers: dict[str, Any]) -> None:
    write(f"intentmatch {numbers['version']}, encoder {numbers['encoder']['name']}")
    heads = ("set", "train", "reranker", "overall", "doubtful", "of these right", "training, s")
    print_table(heads, [*_cells(numbers["rows"])], left=3)


def _cells(rows: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    for row in rows:
        yield [
            row["set"],
            row["train"],
            row["reranker"],
            f"{100 * row['overall']:.2f}",
            f"{row['doubtful']}",
            "-" if row["doubtful_right"] is None else f"{100 * row['doubtful_right']:.1f}",
            f"{row['seconds']:.0f}",
        ]


if __name__ == "__main__":
    sys.exit(main())
