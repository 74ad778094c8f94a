"""Measure messages as people write them: mistakes, other languages, noise, out-of-scope messages, negation.

    python tests/benchmarks/bench_messages.py --data FOLDER
    python tests/benchmarks/bench_messages.py --data FOLDER --only typos latency --pictures FOLDER
    python tests/benchmarks/bench_messages.py --data FOLDER --before OUT.json

The tables are Markdown. README.md beside this file explains them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_accuracy import Choice
from entry import add_json_option, option_parser, run_benchmark
from message_tables import PARTS, Cell, Subject, Table
from metrics import provenance
from plots import bars
from rich.console import Console
from tables import write

from intentmatch.core.errors import InputError
from intentmatch.core.settings import resolve
from intentmatch.encoders import load_encoder


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False, emoji=False)
    return run_benchmark(lambda: _numbers(options, progress), lambda numbers: _show(numbers, options), options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets, each a folder of jsonl files"
    )
    parser.add_argument("--registry", default="intents", metavar="PATH", help="the shipped registry (intents)")
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument(
        "--only", nargs="+", action="extend", metavar="PART", help=f"measure only these parts: {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME:TRAIN", help="measure only these of the sets; repeatable"
    )
    parser.add_argument("--noise", type=int, default=300, metavar="N", help="messages of each kind of noise (300)")
    parser.add_argument("--edits", type=int, default=20, metavar="N", help="random edits of each registry (20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything that is drawn at random (0)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write an SVG picture of each table with bars")
    parser.add_argument("--before", type=Path, metavar="FILE", help="an earlier `--json`, shown as before → now")
    add_json_option(parser)
    return parser


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    """Return where the numbers come from and, under `tables`, the tables of each part."""
    options.earlier = _earlier(options.before) if options.before else {}
    names = options.only or list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        raise InputError(f"there is no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    settings = {"encoder": options.encoder} if options.encoder else {}
    encoder = load_encoder(resolve(settings))
    sets = [_choice(name) for name in options.set]
    subject = Subject(
        options.data, encoder, options.registry, options.seed, sets, options.noise, options.edits, progress.print
    )
    tables: list[Table] = []
    seconds = {}
    for name in dict.fromkeys(names):
        start = perf_counter()
        tables += PARTS[name](subject)
        seconds[name] = perf_counter() - start
        progress.print(f"{name}: {seconds[name]:.1f} s")
    command = [Path(sys.executable).name, *sys.argv]
    return provenance(command, encoder) | {"seed": options.seed, "seconds": seconds, "tables": tables}


def _choice(text: str) -> Choice:
    """Read `NAME:TRAIN[@LANGUAGE]`."""
    name, _, files = text.partition(":")
    train, _, language = files.partition("@")
    return Choice(name, train or "train", language or None)


def _show(numbers: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the tables as Markdown, beside earlier ones if given, and write the pictures."""
    encoder, tables = numbers["encoder"], numbers["tables"]
    write(f"intentmatch {numbers['version']}, encoder {encoder['name']} @ {encoder['fingerprint']}")
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    for table in tables:
        before = options.earlier.get(table.title, {})
        write("\n" + markdown(table, before))
        if options.pictures is not None and table.drawn and table.rows:
            file = options.pictures / f"messages-{table.part}.svg"
            file.write_text(picture(table, before), encoding="utf-8")
            write(f"\n![{table.title}]({file.name})")


def markdown(table: Table, before: dict[str, list[Cell]]) -> str:
    """Return a table as Markdown; a number that differs from the row `before` of the same name shows both."""
    lines = [f"**{table.title}.** {table.about}", "", _row(table.header)]
    lines.append("|" + "|".join("---" if digits is None else "--:" for digits in table.digits) + "|")
    for row in table.rows:
        old = before.get(str(row[0]), row)
        old = old if len(old) == len(row) else row
        lines.append(_row([_cell(*both) for both in zip(table.digits, row, old, strict=True)]))
    return "\n".join(lines)


def _cell(digits: int | None, now: Cell, before: Cell) -> str:
    shown, was = _format(digits, now), _format(digits, before)
    return shown if shown == was else f"{was} → {shown}"


def _format(digits: int | None, value: Cell) -> str:
    return "-" if value is None else value if isinstance(value, str) or digits is None else f"{value:.{digits}f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def picture(table: Table, before: dict[str, list[Cell]]) -> str:
    """Return the columns that are drawn as bars: a group for each row, and one for its row of `before`."""
    places = [table.header.index(name) for name in table.drawn]
    groups = {}
    for row in table.rows:
        old = before.get(str(row[0]), ())
        if len(old) == len(row):
            groups[f"{row[0]}, before"] = [old[place] for place in places]
        groups[str(row[0])] = [row[place] for place in places]
    known = {name: [float(value) for value in values] for name, values in groups.items() if None not in values}
    return bars(known, table.drawn, "%", table.title)


def _earlier(path: Path) -> dict[str, dict[str, list[Cell]]]:
    """Return the rows of an earlier run, by the title of their table and by their first cell."""
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
        return {table["title"]: {str(row[0]): row for row in table["rows"]} for table in tables}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} was not written by `--json`: {error!r}") from error


if __name__ == "__main__":
    sys.exit(main())
