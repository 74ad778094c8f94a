"""Measure what a candidate costs: requests a second with a candidate in shadow, beside the same server without one.

    python tests/benchmarks/bench_candidate.py --registry intents

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from bench_latency import distinct, made_up
from bench_server import _drive, _running
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table, provenance

from intentmatch import Matcher

_SEED = 20240501
_MESSAGES = 2000
_KEY = "the-author"
_WITHOUT, _WITH = "without", "shadow"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--registry", default="intents", metavar="PATH", help="a folder of YAML (intents)")
    parser.add_argument("--clients", type=int, default=16, help="connections (16)")
    parser.add_argument("--seconds", type=float, default=3.0, help="seconds per measurement (3)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds, in turns (9)")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return run_benchmark(lambda: _measure(options, Path(folder)), _print, options.json)


def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run both servers on copies of the registry, and drive them in turns; the order changes every round."""
    keys = folder / "keys"
    keys.write_text(f"bench={_KEY}\n", encoding="utf-8")
    commands = {}
    for name in (_WITHOUT, _WITH):
        copied = folder / name / "intents"
        shutil.copytree(options.registry, copied)
        words = ["serve", str(copied), "--authoring", "--author-keys-file", str(keys), "--no-confine"]
        commands[name] = [sys.executable, "-m", "intentmatch", *words]
    matcher = Matcher.load(options.registry)
    messages = distinct(matcher, made_up(matcher, random.Random(_SEED)), _MESSAGES)
    rows: list[dict[str, Any]] = []
    with ExitStack() as servers:
        ports = {name: servers.enter_context(_running(command)) for name, command in commands.items()}
        before = _call(ports[_WITH][0], "GET")
        begun = _call(ports[_WITH][0], "POST", {"path": str(folder / _WITHOUT / "intents")})
        for turn in range(options.rounds):
            for name in (_WITHOUT, _WITH) if turn % 2 == 0 else (_WITH, _WITHOUT):
                port, process = ports[name]
                rows.append(
                    {
                        "server": name,
                        **asyncio.run(_drive(port, process, messages, options.clients, options.seconds)),
                    }
                )
        after = _call(ports[_WITH][0], "GET")
    assert before["state"] == "none"
    return provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | {
        "intents": len(matcher.registry),
        "utterances": len(matcher.registry.utterances),
        "bytes": begun["candidate"]["bytes"],
        "shares_encoder": begun["candidate"]["shares_encoder"],
        "compared": after["comparison"]["compared"],
        "skipped": after["comparison"]["skipped"],
        "measurements": rows,
    }


def _call(port: int, method: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": _KEY, "content-type": "application/json"}
    call = urllib.request.Request(f"http://127.0.0.1:{port}/candidate", data, headers, method=method)
    with urllib.request.urlopen(call, timeout=300) as answer:
        return json.load(answer)


def _print(numbers: dict[str, Any]) -> None:
    rows = numbers["measurements"]
    table = []
    for name in (_WITHOUT, _WITH):
        found = [row for row in rows if row["server"] == name]
        middle = {each: median(row[each] for row in found) for each in ("per_second", "p50", "p99", "work", "memory")}
        table.append(
            [
                name,
                f"{middle['per_second']:.0f}",
                *(f"{middle[each]:.1f}" for each in ("p50", "p99")),
                *(f"{middle[each]:.0f}" for each in ("work", "memory")),
            ]
        )
    pairs = list(zip(*([row for row in rows if row["server"] == name] for name in (_WITH, _WITHOUT)), strict=True))
    for what in ("per_second", "work"):
        ratio = median(one[what] / other[what] for one, other in pairs)
        sys.stdout.write(f"{what}: {ratio:.3f} of the server without a candidate (median of {len(pairs)} pairs)\n")
    sys.stdout.write(plain_table(["candidate", "requests/s", "p50, ms", "p99, ms", "work, µs", "MiB"], table) + "\n")
    seen = numbers["compared"] + numbers["skipped"]
    sys.stdout.write(
        f"{numbers['compared']} of {seen} messages compared ({numbers['compared'] / seen:.1%}), "
        f"{numbers['bytes'] / 1e6:.1f} MB for the candidate\n"
    )


if __name__ == "__main__":
    sys.exit(main())
