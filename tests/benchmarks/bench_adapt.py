"""Measure what adapting an encoder to a registry gains on messages that were not trained on.

    python tests/benchmarks/bench_adapt.py --data FOLDER --encoder sentence_transformer:NAME --work FOLDER

The encoder is trained on all utterances, without the proof of `intentmatch adapt`: messages of a separate file decide.
An interrupted run continues in the same work folder. README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_accuracy import Choice, named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from metrics import Outcome, provenance, summarise
from rich.console import Console
from tables import print_table, write

from intentmatch import Matcher, Registry
from intentmatch.adaptation import EncoderRecipe
from intentmatch.adaptation.encoder_adaptation import load_base
from intentmatch.adaptation.encoder_training import train_encoder
from intentmatch.adaptation.languages import anchor_texts, lacking
from intentmatch.core.settings import resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.runtime import steps

SETS = (
    Choice("clinc150", "train_10"),
    Choice("banking77", "train_10"),
    Choice("clinc150", "train_5"),
    Choice("banking77", "train_5"),
)
_STEPS_BETWEEN_LINES = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets")
    parser.add_argument("--set", action="append", default=[], metavar="NAME[:TRAIN[:VALID]]", help="repeatable")
    parser.add_argument("--encoder", required=True, metavar="sentence_transformer:NAME", help="the encoder to train")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="keeps models and training states")
    parser.add_argument("--steps", type=int, default=EncoderRecipe().steps)
    parser.add_argument("--seed", type=int, action="append", default=[], help="repeatable; the default is 0")
    add_json_option(parser)
    return parser


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    settings = resolve({"encoder": options.encoder})
    base = load_base(settings)
    rows: list[dict[str, Any]] = []
    for choice in named_choices(options.set) or SETS:
        registry, _ = registry_of(read_rows(options.data / choice.name / f"{choice.train}.jsonl"), choice.language)
        valid = options.data / choice.name / f"{choice.valid}.jsonl"
        named = {"set": choice.name, "train": choice.train}
        rows.append({**named, "seed": None, "seconds": None, **_measured(registry, base.encoder, valid)})
        anchors = anchor_texts(lacking(registry, base.encoder))
        for seed in options.seed or [0]:
            work = options.work / f"{choice.name}-{choice.train}-{seed}"
            began = perf_counter()
            with steps.listening(shows_progress(progress)):
                recipe = EncoderRecipe(seed=seed, steps=options.steps)
                model = train_encoder(registry, base, recipe, work=work, anchors=anchors)
            seconds = perf_counter() - began
            model.save_pretrained(str(work / "model"), create_model_card=False)
            adapted = SentenceTransformerEncoder(str(work / "model"), device=settings.device)
            rows.append({**named, "seed": seed, "seconds": seconds, **_measured(registry, adapted, valid)})
    return provenance([Path(sys.executable).name, *sys.argv], base.encoder) | {"rows": rows}


def shows_progress(progress: Console) -> Callable[[steps.Step], None]:
    """Return a listener that prints every 25th step of a training."""

    def show(step: steps.Step) -> None:
        if step.done % _STEPS_BETWEEN_LINES == 0:
            progress.print(f"{step.name}: {step.done} of {step.total}")

    return show


def _measured(registry: Registry, encoder: Encoder, valid: Path) -> dict[str, Any]:
    """Return the numbers of `summarise` for a matcher with this encoder on all messages of a file."""
    messages = [row for row in read_rows(valid) if row is not None]
    matcher = Matcher.load(registry, encoder=encoder)
    results = matcher.match_many([row.text for row in messages], top_k=1)
    return summarise([Outcome.from_result(result, row.intent) for result, row in zip(results, messages, strict=True)])


def _print(numbers: dict[str, Any]) -> None:
    write(f"intentmatch {numbers['version']}, encoder {numbers['encoder']['name']}")
    print_table(("set", "train", "model", "first", "AUROC", "overall", "seconds"), [*_cells(numbers["rows"])], left=3)


def _cells(rows: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    for row in rows:
        auroc = row["auroc_confidence"]
        yield [
            row["set"],
            row["train"],
            "unadapted" if row["seed"] is None else f"adapted, seed {row['seed']}",
            f"{100 * row['first']:.1f}",
            "-" if auroc is None else f"{auroc:.3f}",
            f"{100 * row['overall']:.1f}",
            "-" if row["seconds"] is None else f"{row['seconds']:.0f}",
        ]


if __name__ == "__main__":
    sys.exit(main())
