"""Compare intentmatch with other matchers: the same sets on the same machine, each in an environment of its own.

    python tests/benchmarks/bench_peers.py --data FOLDER --model FOLDER --work FOLDER [--picture FILE.svg]
    python tests/benchmarks/bench_peers.py --data FOLDER --model FOLDER --work FOLDER --peer tfidf --set NAME:TRAIN

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_accuracy import read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from metrics import auroc, best_overall, share
from plots import scatter
from rich.console import Console
from tables import print_table

HERE = Path(__file__).parent / "peers"
ROOT = Path(__file__).parents[2]


class Peer(NamedTuple):
    """How one peer is installed and run."""

    title: str
    script: str
    requires: tuple[str, ...]
    """Arguments of pip; a name that ends with .json is a package.json for npm."""
    slow: bool = False
    """Trains for minutes, so only the sets of --slow-set are measured."""


PEERS = {
    "ours": Peer("intentmatch", "ours.py", (str(ROOT),)),
    "ours_onnx": Peer("intentmatch, MiniLM int8", "ours.py", (f"{ROOT}[onnx]",)),
    "ours_minilm": Peer("intentmatch, MiniLM", "ours.py", (f"{ROOT}[torch]", "torch==2.13.0")),
    "router": Peer("semantic-router, MiniLM", "router.py", ("-r", str(HERE / "router.txt"))),
    "nearest": Peer("model2vec of MiniLM, nearest", "nearest.py", ("-r", str(HERE / "nearest.txt"))),
    "tfidf": Peer("scikit-learn TF-IDF + LR", "tfidf.py", ("-r", str(HERE / "tfidf.txt"))),
    "nlpjs": Peer("NLP.js", "nlpjs.js", (str(HERE / "nlpjs.package.json"),)),
    "set_fit": Peer("SetFit of MiniLM, capped", "set_fit.py", ("-r", str(HERE / "set_fit.txt")), slow=True),
}
SETS = ("clinc150:train_5", "clinc150:train_10", "banking77:train_10", "banking77_oos:train")
SLOW_SETS = ("clinc150:train_5",)
_STEPS = 250
_OWN_WEIGHTS = frozenset({"nearest", "ours_onnx"})
"""Peers that need the shared weights in another form."""

COLUMNS = (
    "set", "peer", "first", "AUROC", "overall", "best", "p50 ms", "p99 ms", "build s", "start s", "again s", "MB",
    "install MB",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    return run_benchmark(lambda: _numbers(options), lambda numbers: _show(numbers["rows"], options), options.json)


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    """Return the command and, under `rows`, the numbers of each peer on each set."""
    console = Console(stderr=True, highlight=False, markup=False)
    work = options.work.resolve()
    sets = options.set or SETS
    rows: list[dict[str, Any]] = []
    for name in options.peer or PEERS:
        environment = _environment(name, work, options.model, console)
        for chosen in sets:
            if not PEERS[name].slow or chosen in (options.slow_set or SLOW_SETS):
                rows.append(_measured(name, chosen, environment, options, console))
    rows.sort(key=lambda row: sets.index(row["set"]))
    return {"command": sys.argv, "rows": rows}


def _show(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the table and, if asked for, draw accuracy against latency on the second set."""
    print_table(COLUMNS, [_cells(row) for row in rows], left=2)
    if options.picture:
        sets = options.set or SETS
        drawn = sets[min(1, len(sets) - 1)]
        dots = [(row["p50"], 100 * row["first"], PEERS[row["peer"]].title) for row in rows if row["set"] == drawn]
        picture = scatter(dots, "milliseconds of the processor a message, median", "first candidate right, %", drawn)
        options.picture.write_text(picture, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", required=True, help="a folder of sets")
    parser.add_argument(
        "--model", type=Path, metavar="FOLDER", required=True, help="the transformer that all peers use"
    )
    parser.add_argument("--work", type=Path, metavar="FOLDER", required=True, help="where environments are kept")
    parser.add_argument("--peer", action="append", choices=list(PEERS), help="only this peer, repeatable")
    parser.add_argument("--set", action="append", metavar="NAME:TRAIN", help="only this set, repeatable")
    parser.add_argument(
        "--slow-set", action="append", metavar="NAME:TRAIN", help="sets for peers that train for minutes, repeatable"
    )
    add_json_option(parser)
    parser.add_argument("--picture", type=Path, metavar="OUT.svg", help="draw accuracy against latency")
    return parser


def _environment(name: str, work: Path, model: Path, console: Console) -> Path:
    """Return the folder of a peer's environment, made if missing; `installed.json` describes what was installed."""
    folder = work / name
    if (folder / "installed.json").exists():
        return folder
    console.print(f"{PEERS[name].title}: installing")
    requires = PEERS[name].requires
    if requires[0].endswith(".json"):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(requires[0], folder / "package.json")
        subprocess.run(["npm", "install", "--silent", "--ignore-scripts"], cwd=folder, check=True)
        size = _bytes(folder / "node_modules")
    else:
        size = _pip(folder, requires)
    if name in _OWN_WEIGHTS:
        _pip(work / "weights", ("-r", str(HERE / "weights.txt"), f"{ROOT}[onnx-export]"))
        made = work / f"{name}-{model.name}"
        subprocess.run([work / "weights/bin/python", HERE / "weights.py", name, model.resolve(), made], check=True)
    (folder / "installed.json").write_text(json.dumps({"bytes": size}), encoding="utf-8")
    return folder


def _pip(folder: Path, requires: Sequence[str]) -> int:
    """Install packages; return the bytes that they add to a fresh environment."""
    venv.create(folder, with_pip=True, clear=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    before = _bytes(packages)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *requires], check=True)
    return _bytes(packages) - before


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def _measured(
    name: str, chosen: str, environment: Path, options: argparse.Namespace, console: Console
) -> dict[str, Any]:
    """Measure one peer on one set."""
    set_name, _, train = chosen.partition(":")
    registry, _ = registry_of(read_rows(options.data / set_name / f"{train}.jsonl"))
    rows = [row for row in read_rows(options.data / set_name / "valid.jsonl") if row is not None]
    examples = [[line.text, intent.name] for intent in registry for line in intent.utterances]
    messages = [row.text for row in rows]
    console.print(f"{PEERS[name].title}: {chosen}, {len(examples)} examples, {len(messages)} messages")
    shutil.rmtree(environment / "home", ignore_errors=True)
    said = _ask(name, environment, options.model, examples, messages)
    again = _ask(name, environment, options.model, examples, messages[:1])
    answers = said["answers"]
    inside = [row.intent is not None for row in rows]
    right = [row.intent == first for row, (first, _, _) in zip(rows, answers, strict=True)]
    served = [
        hit and verdict == "matched" if known else verdict == "out_of_scope"
        for hit, known, (_, _, verdict) in zip(right, inside, answers, strict=True)
    ]
    scores = [score for _, score, _ in answers]
    p50, p99 = np.percentile(said["milliseconds"], (50, 99)).tolist()
    return {
        "set": chosen,
        "peer": name,
        "first": share([hit for hit, known in zip(right, inside, strict=True) if known]),
        "auroc": auroc(inside, scores),
        "overall": share(served),
        "best": best_overall(inside, right, scores),
        "p50": p50,
        "p99": p99,
        "build": said["build_seconds"],
        "start": said["load_seconds"] + said["build_seconds"],
        "again": again["load_seconds"] + again["build_seconds"],
        "mb": said["peak_mb"],
        "install_mb": json.loads((environment / "installed.json").read_text())["bytes"] / 1e6,
    }


def _ask(name: str, environment: Path, model: Path, examples: list[list[str]], messages: list[str]) -> dict[str, Any]:
    task, answers = environment / "task.json", environment / "answers.json"
    encoder = environment.parent / f"{name}-{model.name}" if name in _OWN_WEIGHTS else model
    said = {"train": examples, "messages": messages, "encoder": str(encoder.resolve()), "steps": _STEPS}
    task.write_text(json.dumps(said), encoding="utf-8")
    (environment / "home").mkdir(exist_ok=True)
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    home = str(environment / "home")
    script = HERE / PEERS[name].script
    command = ["node", script] if script.suffix == ".js" else [environment / "bin/python", script]
    node = {"NODE_PATH": str(environment / "node_modules")}
    variables = {**kept, **one, **offline, **node, "HOME": home, "XDG_CACHE_HOME": home, "PEER": name}
    subprocess.run([*command, task, answers], cwd=home, env=variables, check=True, stdout=subprocess.DEVNULL)
    return dict(json.loads(answers.read_text(encoding="utf-8")))


def _cells(row: dict[str, Any]) -> list[str]:
    def percent(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.1f}"

    return [
        row["set"],
        PEERS[row["peer"]].title,
        percent(row["first"]),
        "-" if row["auroc"] is None else f"{row['auroc']:.3f}",
        percent(row["overall"]),
        percent(row["best"]),
        f"{row['p50']:.2f}",
        f"{row['p99']:.2f}",
        f"{row['build']:.2f}",
        f"{row['start']:.2f}",
        f"{row['again']:.2f}",
        f"{row['mb']:.0f}",
        f"{row['install_mb']:.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
