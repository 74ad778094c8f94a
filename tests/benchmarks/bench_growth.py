"""Measure what grows with a registry: build, rebuild after an edit, matching, memory and the artefact.

    python tests/benchmarks/bench_growth.py
    python tests/benchmarks/bench_growth.py --size 1000000x1000 --runs 1

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import process_time, thread_time_ns
from typing import Any

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ.update(ONE_THREAD)

import numpy as np  # noqa: E402 - see ONE_THREAD
import yaml  # noqa: E402
from entry import add_json_option, option_parser, write_json  # noqa: E402
from metrics import percentiles, plain_table, provenance  # noqa: E402
from plots import panels  # noqa: E402

from intentmatch import Matcher, Registry, load_artefact, read_registry, save_artefact  # noqa: E402
from intentmatch.artefact.build import build, known_vectors  # noqa: E402
from intentmatch.core.settings import Settings, resolve  # noqa: E402
from intentmatch.core.types import Intent, Utterance  # noqa: E402
from intentmatch.encoders import load_encoder  # noqa: E402
from intentmatch.index import load_index  # noqa: E402
from intentmatch.learning.training import PreviousTraining  # noqa: E402
from intentmatch.matching.pipeline import Engine  # noqa: E402
from intentmatch.storage.vector_cache import VectorCache  # noqa: E402
from intentmatch.text.normalize import clean, fold  # noqa: E402

SIZES = ("1000x10", "1000x100", "10000x10", "10000x100", "10000x1000", "100000x100", "100000x1000", "100000x10000")
SOURCE = Path(__file__).parents[2] / "intents"
_SEED = 20240501
_OWN_WORDS, _INTENTS_A_FILE = 6, 20
_WARM_UP, _ATTEMPTS = 20, 50
_LOOKS, _LEADERS, _SEARCHED = 9, 15, 200
_SECONDS = 14_400
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if a process failed, otherwise 0."""
    options = _parser().parse_args(arguments)
    if options.phase:
        sys.stdout.write(json.dumps(_PHASES[options.phase](options.folder, options)) + "\n")
        return 0
    rows = [row for file in options.add for row in json.loads(file.read_text(encoding="utf-8"))["sizes"]]
    for size in options.size or (() if options.add else SIZES):
        utterances, _, intents = size.partition("x")
        sys.stderr.write(f"{size}\n")
        rows.append(_measured(int(utterances), int(intents), options))
        sys.stdout.write(_table(rows[-1:]) + "\n")
    rows.sort(key=lambda row: (row["utterances"], row["intents"]))
    sys.stdout.write("\n" + _table(rows) + "\n")
    if options.picture:
        options.picture.write_text(_picture(rows), encoding="utf-8")
    if options.json:
        about = provenance([Path(sys.executable).name, *sys.argv], load_encoder(_settings(options)))
        write_json(options.json, about | {"sizes": rows})
    return 0 if all("p50" in row for row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--size", action="append", metavar="UTTERANCESxINTENTS", help=f"({' '.join(SIZES)})")
    parser.add_argument("--runs", type=int, default=3, help="runs of each process, of which the median counts (3)")
    parser.add_argument("--count", type=int, default=500, help="number of messages (500)")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="any setting, repeatable")
    add_json_option(parser)
    parser.add_argument("--picture", type=Path, metavar="SVG", help="draw the numbers as SVG")
    parser.add_argument(
        "--add",
        type=Path,
        action="append",
        default=[],
        metavar="JSON",
        help="add the numbers of another run, repeatable",
    )
    parser.add_argument("--phase", choices=sorted(_PHASES), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


def texts(source: Path, intents: int, chance: random.Random) -> Callable[[int], Iterator[tuple[str, str]]]:
    """Return a function from the number of an intent to its endless lines, each with its language.

    An intent borrows the lines of a source intent in four of its languages. A few words of the source's vocabulary
    replace words in them, and some lines continue like another line of the language.
    """
    frames = [_by_language(intent) for intent in read_registry(source)]
    said: dict[str, list[list[str]]] = {}
    for frame in frames:
        for language, lines in frame.items():
            said.setdefault(language, []).extend(lines)
    vocabulary = {language: sorted({word for line in lines for word in line}) for language, lines in said.items()}

    def of(number: int) -> Iterator[tuple[str, str]]:
        frame = frames[number % len(frames)]
        languages = chance.sample(sorted(frame), min(4, len(frame)))
        own = {language: chance.sample(vocabulary[language], _OWN_WORDS) for language in languages}
        while True:
            language = chance.choice(languages)
            words = list(chance.choice(frame[language]))
            for _ in range(chance.randint(1, 3)):
                words.insert(chance.randint(0, len(words)), chance.choice(own[language]))
            if chance.random() < 0.4:
                other = chance.choice(said[language])
                words += other[: chance.randint(1, 4)]
            yield " ".join(words), language

    return of


def _by_language(intent: Intent) -> dict[str, list[list[str]]]:
    frame: dict[str, list[list[str]]] = {}
    for utterance in intent.utterances:
        frame.setdefault(utterance.language or "en", []).append(utterance.text.split())
    return frame


def made_up(folder: Path, utterances: int, intents: int, count: int) -> None:
    """Write YAML files with synthetic utterances, and `messages.json` with `count` other messages."""
    chance = random.Random(_SEED)
    lines_of = texts(SOURCE, intents, chance)
    each = max(1, utterances // intents)
    asked = {chance.randrange(intents) for _ in range(count)}
    messages: list[tuple[str, str]] = []
    seen: set[str] = set()
    folder.mkdir()
    for start in range(0, intents, _INTENTS_A_FILE):
        found = {}
        for number in range(start, min(start + _INTENTS_A_FILE, intents)):
            wanted = each + (-(-count // len(asked)) if number in asked else 0)
            new = _new(lines_of(number), wanted, seen)
            messages += [(text, f"intent_{number}") for text, _ in new[each:]]
            by_language: dict[str, list[str]] = {}
            for text, language in new[:each]:
                by_language.setdefault(language, []).append(text)
            found[f"intent_{number}"] = {"utterances": by_language}
        with (folder / f"{start:05}.yaml").open("w", encoding="utf-8") as file:
            # One utterance per line, as authors write them.
            yaml.dump({"intents": found}, file, _DUMPER, allow_unicode=True, sort_keys=False, width=10_000)
    chance.shuffle(messages)
    folder.with_name("messages.json").write_text(json.dumps(messages[:count], ensure_ascii=False), encoding="utf-8")


def _new(lines: Iterator[tuple[str, str]], wanted: int, seen: set[str]) -> list[tuple[str, str]]:
    new = []
    for _, (text, language) in zip(range(wanted * _ATTEMPTS), lines, strict=False):
        key = fold(text)
        if key and key not in seen:
            seen.add(key)
            new.append((text, language))
        if len(new) == wanted:
            break
    return new


def _measured(utterances: int, intents: int, options: argparse.Namespace) -> dict[str, Any]:
    """Run every phase in a process of its own, so that none inherits the memory or caches of another."""
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as temporary:
        folder = Path(temporary)
        made_up(folder / "intents", utterances, intents, options.count)
        row: dict[str, Any] = {"utterances": utterances, "intents": intents}
        for phase in _PHASES:
            runs = []
            for _ in range(options.runs):
                command = [sys.executable, __file__, "--phase", phase, "--folder", str(folder)]
                command += [f"--setting={setting}" for setting in options.setting]
                done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
                if done.returncode:
                    says = done.stderr.strip().rpartition("\n")[2]
                    sys.stderr.write(f"{phase} failed with exit code {done.returncode}: {says}\n")
                    return row
                runs.append(json.loads(done.stdout))
            row |= {name: median(run[name] for run in runs) for name in runs[0]}
        return row


def _settings(options: argparse.Namespace) -> Settings:
    return resolve({"cache": "off"} | dict(setting.split("=", 1) for setting in options.setting))


def _build(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Read, build without a cache, and write the artefact; leaves a full cache behind."""
    settings = _settings(options)
    encoder = load_encoder(settings)
    encoder.encode(["a"])
    began = process_time()
    registry = read_registry(folder / "intents")
    read = process_time()
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        artefact = build(registry, encoder, settings, cache=VectorCache(Path(cache)))
        built = process_time()
        if not (folder / "cache").exists():
            shutil.copytree(cache, folder / "cache")
    save_artefact(artefact, folder / "built.intentmatch")
    return {
        "read": read - began,
        "build": built - read,
        "head": float(artefact.trained_head is not None),
        "build_memory": _peak_mebibytes(),
        "artefact": (folder / "built.intentmatch").stat().st_size / 2**20,
    }


def _rebuild(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Build again after an edit of one line, as `Matcher.watch` does."""
    settings = _settings(options)
    encoder = load_encoder(settings)
    old = load_artefact(folder / "built.intentmatch")
    before, known = PreviousTraining(old.calibration, old.trained_head, old.foreign, old.registry), known_vectors(old)
    registry = read_registry(folder / "intents")
    first = registry.intents[0]
    edited = Utterance(f"{first.utterances[0].text} {os.getpid()}", first.utterances[0].language)
    changed = Intent(first.name, (edited, *first.utterances[1:]))
    registry = Registry((changed, *registry.intents[1:]))
    began = process_time()
    artefact = build(registry, encoder, settings, cache=VectorCache(folder / "cache"), provisional=before, known=known)
    Engine(artefact, encoder).self_test()
    return {"rebuild": process_time() - began}


def _serve(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Load the artefact and match messages one at a time."""
    began = process_time()
    matcher = Matcher.load(folder / "built.intentmatch", **dict(s.split("=", 1) for s in options.setting))
    loaded = process_time() - began
    messages = json.loads((folder / "messages.json").read_text(encoding="utf-8"))
    for text, _ in messages[:_WARM_UP]:
        matcher.match(text)
    taken, right = [], 0
    for text, intent in messages:
        start = thread_time_ns()
        result = matcher.match(text)
        taken.append((thread_time_ns() - start) / 1e6)
        right += bool(result.candidates) and result.candidates[0].intent == intent
    p50, p99 = percentiles(taken, 50, 99)
    anonymous, mapped = _resident_mebibytes()
    return {
        "load": loaded,
        "p50": p50,
        "p99": p99,
        "right": right / len(messages),
        "memory": anonymous,
        "mapped": mapped,
        **_searched(matcher, [text for text, _ in messages[:_SEARCHED]]),
    }


def _searched(matcher: Matcher, messages: Sequence[str]) -> dict[str, float]:
    """Time an exact search in units of reading all rows once, and measure the recall of an approximate index."""
    artefact, vectors = matcher.artefact, matcher.artefact.vectors
    queries = matcher.encoder.encode([clean(message) for message in messages], kind="query")
    exact = load_index("exact", vectors, artefact.registry.owners, artefact.settings.aggregation)
    exact.best_owners(queries[:1], _LEADERS)
    numbers = vectors.view(np.int32).reshape(-1)
    ratios = []
    for query in queries[:_LOOKS]:
        start = thread_time_ns()
        np.bitwise_or.reduce(numbers)
        read = thread_time_ns()
        exact.best_owners(query[None, :], _LEADERS)
        ratios.append((thread_time_ns() - read) / (read - start))
    found = {"search_to_read": median(ratios)}
    if artefact.graph is not None:
        index = load_index(
            "usearch", vectors, artefact.registry.owners, artefact.settings.aggregation, graph=artefact.graph
        )
        hits = sum(len({*index.search(q, 10)[0].tolist()} & {*exact.search(q, 10)[0].tolist()}) for q in queries)
        found["recall"] = hits / (10 * len(queries))
    return found


_PHASES: dict[str, Callable[[Path, argparse.Namespace], dict[str, float]]] = {
    "build": _build,
    "rebuild": _rebuild,
    "serve": _serve,
}


def _peak_mebibytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _resident_mebibytes() -> tuple[float, float]:
    """Return the resident memory of this process, and that of mapped files, which the system shares; Linux only."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return _peak_mebibytes(), 0.0
    sizes = {
        name: float(rest.split()[0])
        for name, _, rest in (line.partition(":") for line in status.splitlines())
        if name.startswith("Rss")
    }
    return sizes["RssAnon"] / 1024, sizes["RssFile"] / 1024


_COLUMNS = {
    "utterances": ("utterances", "{:.0f}"),
    "intents": ("intents", "{:.0f}"),
    "read": ("read YAML, s", "{:.1f}"),
    "build": ("build, s", "{:.1f}"),
    "rebuild": ("after an edit, s", "{:.1f}"),
    "build_memory": ("peak, MiB", "{:.0f}"),
    "artefact": ("artefact, MiB", "{:.1f}"),
    "load": ("load, s", "{:.2f}"),
    "p50": ("match p50, ms", "{:.2f}"),
    "p99": ("match p99, ms", "{:.2f}"),
    "memory": ("memory, MiB", "{:.0f}"),
    "mapped": ("mapped, MiB", "{:.0f}"),
    "search_to_read": ("search / read", "{:.2f}"),
    "recall": ("recall at 10", "{:.4f}"),
    "head": ("head", "{:.0f}"),
    "right": ("right", "{:.3f}"),
}


def _table(rows: Sequence[dict[str, Any]]) -> str:
    cells = [[form.format(row[key]) if key in row else "-" for key, (_, form) in _COLUMNS.items()] for row in rows]
    return plain_table([title for title, _ in _COLUMNS.values()], cells)


def _picture(rows: Sequence[dict[str, Any]]) -> str:
    """Draw a panel per number against utterances, with a line per number of intents."""
    of: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for key in ("build", "rebuild", "p50", "p99", "memory", "artefact"):
        lines = of.setdefault(_COLUMNS[key][0], {})
        for row in rows:
            if row.get(key):
                lines.setdefault(f"{row['intents']:,} intents", []).append((row["utterances"], row[key]))
    return panels({title: lines for title, lines in of.items() if lines}, "utterances")


if __name__ == "__main__":
    sys.exit(main())
