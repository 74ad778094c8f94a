"""Measure accuracy, out-of-scope detection and calibration on sets of messages with known intents.

    python tests/benchmarks/bench_accuracy.py --data FOLDER
    python tests/benchmarks/bench_accuracy.py --registry intents --valid messages.jsonl

README.md beside this file says what each column means.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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

# Progress is told after each so many messages.
_AT_ONCE = 500


class Choice(NamedTuple):
    """A set, and the part of it that makes the registry."""

    name: str
    train: str = "train"
    language: str | None = None
    """Only train rows of this language, so that the others measure what crosses over."""
    valid: str = "valid"

    @property
    def train_label(self) -> str:
        """As it is written after `--set`."""
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
"""What `--data` measures when no `--set` is given."""


class Row(NamedTuple):
    """One line of a jsonl file."""

    text: str
    intent: str | None
    """None for a message out of scope."""
    language: str | None


@dataclass(frozen=True)
class Report:
    """One set measured: its own row of the table, and one for each language where it has several."""

    name: str
    train: str
    facts: dict[str, Any]
    rows: dict[str, dict[str, float | None]]
    """Language, or "all", to the numbers of `summarise`."""
    notes: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write; the exit code is 0, or that of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of sets, each a folder of jsonl files")
    source.add_argument("--registry", metavar="PATH", help="a registry in YAML, or an artefact; needs --valid")
    parser.add_argument("--valid", type=Path, metavar="FILE", help="jsonl messages for --registry")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME[:TRAIN[@LANGUAGE][:VALID]]",
        help="a set below --data, its files without .jsonl; NAME alone as in the table of this script",
    )
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="value of the setting `encoder`")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="any other setting")
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
    """Where the numbers come from, and under `sets` a report for each set."""
    settings = dict(map(_setting, options.setting))
    if options.encoder:
        settings["encoder"] = options.encoder
    encoder, used, reports = _measure_all(options, settings, progress)
    about = provenance([Path(sys.executable).name, *sys.argv], encoder)
    return about | {"settings": used.to_dict(), "sets": reports}


def _measure_all(
    options: argparse.Namespace, settings: dict[str, Any], progress: Console
) -> tuple[Encoder, Settings, list[Report]]:
    """The encoder and settings that were used, and a report for each set."""
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
    choices = [choice for text in options.set for choice in _choices(text)] or SETS
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


def _choices(text: str) -> list[Choice]:
    name, *files = text.split(":")
    if not files:
        return [choice for choice in SETS if choice.name == name] or [Choice(name)]
    if len(files) > 2:
        raise InputError(f"--set {text!r}: write NAME[:TRAIN[@LANGUAGE][:VALID]]")
    train, _, language = files[0].partition("@")
    return [Choice(name, train or "train", language or None, *files[1:])]


def read_rows(path: Path) -> Iterator[Row | None]:
    """The lines of a jsonl file; None for one with several intents, which no single answer can be right about."""
    return read_jsonl(path, "text and intent", _row)


def _row(values: Any) -> Row | None:
    text, intent = values["text"], None if values.get("oos") else values["intent"]
    return None if "intents" in values else Row(text, intent, values.get("lang"))


def registry_of(rows: Iterator[Row | None], language: str | None = None) -> tuple[Registry, list[str]]:
    """A registry of train rows, and in words what had to be left out of it.

    Out are rows that a registry must not hold (`intentmatch.registry.checks`): without words, the same line in another
    intent (the first one stays), or again in the same language of its own intent.
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
        raise InputError(f"{valid} holds no message with a single intent")
    notes = [f"messages skipped: {len(read) - len(rows)} with several intents"] if len(rows) < len(read) else []
    unknown = Counter(row.intent for row in rows if row.intent is not None and row.intent not in matcher.registry)
    if unknown:
        some = ", ".join(sorted(unknown)[:3])
        notes.append(f"messages that count as wrong, for the registry lacks their intent: {unknown.total()} ({some})")
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
"""Heading of a column to the number in it and how that is written."""

_HEADER = ("set", "train", "lang", "intents", "cut", *COLUMNS)
_WORDS = 3


def _print(numbers: dict[str, Any]) -> None:
    """The table as rich draws it on a terminal wide enough, as plain text elsewhere; then what was left out."""
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
