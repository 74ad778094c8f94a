"""Measure how often intentmatch is right, on sets of messages with known intents.

    python tests/benchmarks/bench_accuracy.py --data FOLDER
    python tests/benchmarks/bench_accuracy.py --registry intents --valid messages.jsonl

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from entry import add_json_option, option_parser, run_benchmark
from jsonl import read_jsonl
from metrics import Outcome, provenance, summarise
from rich.console import Console
from tables import print_table, write

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.text.normalize import fold

# Messages between two progress reports.
_AT_ONCE = 500


class Choice(NamedTuple):
    """A set, and the part of it that becomes the registry."""

    name: str
    train: str = "train"
    language: str | None = None
    """Use only train rows of this language, so that messages in other languages measure cross-lingual transfer."""
    valid: str = "valid"

    @property
    def train_label(self) -> str:
        """The train file and language, as written after `--set`."""
        return f"{self.train}@{self.language}" if self.language else self.train


SETS = (
    Choice("clinc150", "train_5"),
    Choice("clinc150", "train_10"),
    Choice("clinc150"),
    Choice("banking77", "train_5"),
    Choice("banking77", "train_10"),
    Choice("banking77"),
    Choice("banking77_oos"),
    Choice("massive", language="en"),
    Choice("massive"),
    Choice("mtop", language="en"),
    Choice("xsid", language="en"),
    Choice("arbanking77"),
    Choice("msskills_general"),
    Choice("msskills_calendar"),
    Choice("rasa_ar_helpdesk"),
    Choice("rasa_carbon"),
    Choice("rasa_financial"),
    Choice("rasa_helpdesk"),
    Choice("rasa_nlutd_banking"),
    Choice("rasa_ru_cadaxapy"),
    Choice("rasa_zh_faq"),
)
"""The sets that `--data` measures without `--set`."""


class Row(NamedTuple):
    """One line of a jsonl file."""

    text: str
    intent: str | None
    """None for an out-of-scope message."""
    language: str | None


@dataclass(frozen=True)
class Report:
    """The results of one set: its own row of the table, and one per language if it has several."""

    name: str
    train: str
    facts: dict[str, Any]
    rows: dict[str, dict[str, float | None]]
    """Numbers of `summarise` by language, or for "all"."""
    notes: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of sets, each a folder of jsonl files")
    source.add_argument("--registry", metavar="PATH", help="a registry in YAML or an artefact; needs --valid")
    parser.add_argument("--valid", type=Path, metavar="FILE", help="jsonl messages for --registry")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME[:TRAIN[@LANGUAGE][:VALID]]",
        help="a set below --data, files without .jsonl; NAME alone uses the files listed in this script",
    )
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument(
        "--setting", action="append", default=[], metavar="NAME=VALUE", help="any other setting, repeatable"
    )
    add_json_option(parser)
    return parser


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--setting {text!r}: write NAME=VALUE")
    try:
        return name, json.loads(value) if value.startswith("{") else value
    except ValueError as error:
        raise InputError(f"--setting {text!r}: {error}") from None


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    """Return where the numbers come from and, under `sets`, a report per set."""
    settings = dict(map(_setting, options.setting))
    if options.encoder:
        settings["encoder"] = options.encoder
    encoder, used, reports = _measure_all(options, settings, progress)
    about = provenance([Path(sys.executable).name, *sys.argv], encoder)
    return about | {"settings": used.to_dict(), "sets": reports}


def _measure_all(
    options: argparse.Namespace, settings: dict[str, Any], progress: Console
) -> tuple[Encoder, Settings, list[Report]]:
    """Return the encoder and settings in use, and a report per set."""
    if options.registry is not None:
        if options.valid is None:
            raise InputError("--registry needs --valid FILE.jsonl")
        start = perf_counter()
        matcher = Matcher.load(options.registry, **settings)
        built = perf_counter() - start
        report = _measure(matcher, options.registry, "-", options.valid, progress)
        report.facts["build_seconds"] = built
        return matcher.encoder, matcher.settings, [report]
    reports = []
    resolved = resolve(settings)
    encoder = load_encoder(resolved)
    others = {name: value for name, value in settings.items() if name != "encoder"}
    choices = named_choices(options.set) or SETS
    for choice in choices:
        registry, notes = registry_of(read_rows(options.data / choice.name / f"{choice.train}.jsonl"), choice.language)
        start = perf_counter()
        matcher = Matcher.load(registry, encoder=encoder, **others)
        built = perf_counter() - start
        valid = options.data / choice.name / f"{choice.valid}.jsonl"
        report = _measure(matcher, choice.name, choice.train_label, valid, progress)
        report.facts["build_seconds"] = built
        report.notes[:0] = notes
        reports.append(report)
    return encoder, resolved, reports


def named_choices(texts: Iterable[str]) -> list[Choice]:
    """Return the sets that the values of `--set` name. Raises `InputError`."""
    return [choice for text in texts for choice in choices_of(text)]


def choices_of(text: str) -> list[Choice]:
    """Return the sets that a value of `--set` names. Raises `InputError`."""
    name, *files = text.split(":")
    if not files:
        return [choice for choice in SETS if choice.name == name] or [Choice(name)]
    if len(files) > 2:
        raise InputError(f"--set {text!r}: write NAME[:TRAIN[@LANGUAGE][:VALID]]")
    train, _, language = files[0].partition("@")
    return [Choice(name, train or "train", language or None, *files[1:])]


def read_rows(path: Path) -> Iterator[Row | None]:
    """Read the lines of a jsonl file; None for a line with several intents, which no single answer can match."""
    return read_jsonl(path, "text and intent", _row)


def _row(values: Any) -> Row | None:
    text, intent = values["text"], None if values.get("oos") else values["intent"]
    return None if "intents" in values else Row(text, intent, values.get("lang"))


def registry_of(rows: Iterator[Row | None], language: str | None = None) -> tuple[Registry, list[str]]:
    """Build a registry of train rows; return it with notes on the rows that were left out.

    Left out are rows that a registry must not contain (`intentmatch.registry.checks`): rows without words, texts that
    another intent already has, and duplicates within an intent and language.
    """
    owners: dict[str, str] = {}
    utterances: dict[str, dict[tuple[str, str | None], Utterance]] = {}
    dropped: Counter[str] = Counter()
    for row in rows:
        if row is None:
            dropped["with several intents"] += 1
        elif row.intent is None:
            dropped["out of scope"] += 1
        elif language is not None and row.language != language:
            dropped[f"not {language}"] += 1
        elif not (key := fold(row.text)):
            dropped["empty"] += 1
        elif owners.setdefault(key, row.intent) != row.intent:
            dropped["conflicting"] += 1
        elif (key, row.language) in (known := utterances.setdefault(row.intent, {})):
            dropped["duplicate"] += 1
        else:
            known[key, row.language] = Utterance(row.text, row.language)
    intents = tuple(Intent(name, tuple(known.values())) for name, known in utterances.items())
    said = ", ".join(f"{count} {why}" for why, count in sorted(dropped.items()))
    return Registry(intents), [f"train rows left out: {said}"] if said else []


def _measure(matcher: Matcher, name: str, train: str, valid: Path, progress: Console) -> Report:
    read = list(read_rows(valid))
    rows = [row for row in read if row is not None]
    if not rows:
        raise InputError(f"{valid} has no message with a single intent")
    notes = [f"messages skipped: {len(read) - len(rows)} with several intents"] if len(rows) < len(read) else []
    unknown = Counter(row.intent for row in rows if row.intent is not None and row.intent not in matcher.registry)
    if unknown:
        some = ", ".join(sorted(unknown)[:3])
        notes.append(f"messages counted as wrong because the registry lacks their intent: {unknown.total()} ({some})")
    start = perf_counter()
    results = []
    for first in range(0, len(rows), _AT_ONCE):
        results += matcher.match_many([row.text for row in rows[first : first + _AT_ONCE]], top_k=1)
        if progress.is_terminal:
            progress.print(f"{name} {train}: {len(results)} of {len(rows)} messages", end="\r")
    seconds = perf_counter() - start
    outcomes = [Outcome.from_result(result, row.intent) for result, row in zip(results, rows, strict=True)]
    numbers = {"all": summarise(outcomes)}
    languages = sorted({row.language for row in rows if row.language})
    for language in languages if len(languages) > 1 else ():
        spoken = [outcome for outcome, row in zip(outcomes, rows, strict=True) if row.language == language]
        numbers[language] = summarise(spoken)
    right = numbers["all"]["overall"]
    progress.print(f"{name} {train}: {len(rows)} messages in {seconds:.1f} s, {_percent(right)} % right")
    cut, calibration = matcher.policy.default, matcher.artefact.calibration
    facts = {
        "intents": len(matcher.registry),
        "utterances": sum(len(intent.utterances) for intent in matcher.registry),
        "threshold": cut.value,
        "threshold_origin": cut.origin,
        "calibration": calibration.to_dict(),
        "decided_by": dict(Counter(result.trace.decided_by for result in results)),
        "match_seconds": seconds,
    }
    return Report(name, train, facts, numbers, notes)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _count(value: float | None) -> str:
    return f"{value:.0f}"


COLUMNS: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "rows": ("rows", _count),
    "oos": ("out_of_scope_rows", _count),
    "first": ("first", _percent),
    "AUROC c": ("auroc_confidence", _three),
    "AUROC s": ("auroc_score", _three),
    "right": ("right", _percent),
    "wrong": ("wrong", _percent),
    "lost": ("lost", _percent),
    "refused": ("refused", _percent),
    "ambig": ("ambiguous", _percent),
    "overall": ("overall", _percent),
    "best": ("best", _percent),
    "+asked": ("overall_asked", _percent),
    "ECE": ("ece", _three),
}
"""By heading of a column: its number, and the function that formats it."""

_HEADER = ("set", "train", "lang", "intents", "cut", *COLUMNS)
_WORDS = 3


def _print(numbers: dict[str, Any]) -> None:
    """Print the table, as rich draws it on a wide terminal or as plain text elsewhere, and the notes."""
    encoder, reports = numbers["encoder"], numbers["sets"]
    write(f"intentmatch {numbers['version']}, encoder {encoder['name']} @ {encoder['fingerprint']}")
    rows = [cells for report in reports for cells in _cells(report)]
    print_table(_HEADER, rows, left=_WORDS)
    for report in reports:
        for note in report.notes:
            write(f"{report.name} {report.train}: {note}")


def _cells(report: Report) -> Iterator[list[str]]:
    for language, numbers in report.rows.items():
        whole = language == "all"
        facts = [str(report.facts["intents"]), f"{report.facts['threshold']:.2f}"] if whole else ["", ""]
        cells = [write(numbers[name]) for name, write in COLUMNS.values()]
        yield [report.name if whole else "", report.train if whole else "", language, *facts, *cells]


if __name__ == "__main__":
    sys.exit(main())
