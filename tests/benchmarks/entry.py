"""Shared start and end of the benchmark scripts: parse options, report errors, print, write `--json`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from intentmatch import IntentMatchError

_Numbers = TypeVar("_Numbers")


def option_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose `--help` shows a script's docstring as it is."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json OUT`."""
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all numbers to this file")


def run_benchmark(
    measure: Callable[[], _Numbers], show: Callable[[_Numbers], None] | None = None, json_file: Path | None = None
) -> int:
    """Measure, show the numbers and write them to `json_file`; return the exit code.

    An `IntentMatchError` while measuring goes to standard error as one line, and its exit code is returned. The cache
    is empty at first, unless `INTENTMATCH_CACHE` names one: the user's may hold what other code learned.
    """
    with tempfile.TemporaryDirectory() as folder:
        chosen = os.environ.setdefault("INTENTMATCH_CACHE", folder)
        try:
            numbers = measure()
        except IntentMatchError as error:
            sys.stderr.write(f"error: {error}\n")
            return error.exit_code
        finally:
            if chosen == folder:
                del os.environ["INTENTMATCH_CACHE"]
    if show is not None:
        show(numbers)
    write_json(json_file, numbers)
    return 0


def write_json(file: Path | None, numbers: Any) -> None:
    """Write numbers as JSON, objects as their attributes; do nothing without a file."""
    if file is not None:
        file.write_text(json.dumps(numbers, ensure_ascii=False, indent=1, default=vars) + "\n", encoding="utf-8")
