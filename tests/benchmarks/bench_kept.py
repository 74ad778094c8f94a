"""Check that the hot paths are as fast as a recorded baseline, in units of fixed work in the same process.

    python tests/benchmarks/bench_kept.py
    python tests/benchmarks/bench_kept.py --record

README.md beside this file explains the method.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import process_time

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import numpy as np
from entry import option_parser
from metrics import plain_table

from intentmatch import Intent, Matcher, Registry, Utterance, load_artefact, read_registry, save_artefact

BASELINE = Path(__file__).with_name("kept.json")
WORSE = 2.0
"""A path slower than its baseline by this factor has regressed. Unchanged code was 1.46 to 1.83 times the baseline of
`match`, and up to 1.55 times that of reading YAML, within some hours on one machine."""
_ROUNDS, _ATTEMPTS = 15, 3
_MORE_ATTEMPTS = 9
"""Attempts with a path that is slow: for minutes, a machine may be slower with memory than with the fixed work."""
_SEED = 20240501
_INTENTS, _UTTERANCES, _SMALL = 70, 65, (12, 12)
_WORDS = """
order parcel invoice refund cancel track ship address password login account card bill price stock size colour broken
late missing gift voucher coupon delivery store hours phone agent help complaint subscribe newsletter data light room
kitchen music song volume alarm timer weather rain flight train ticket hotel seat table pizza recipe exchange rate tax
""".split()  # noqa: SIM905 - a list with one word per line is harder to read


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and compare, or record; return 1 for a regression, otherwise 0."""
    parser = option_parser(__doc__)
    parser.add_argument("--record", action="store_true", help="record a new baseline where it is faster")
    parser.add_argument(
        "--baseline", type=Path, default=BASELINE, metavar="FILE", help=f"the recorded baseline ({BASELINE.name})"
    )
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"rounds, of which the median counts ({_ROUNDS})")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as folder:
        paths = hot_paths(Path(folder))
        if options.record:
            attempts = [costs(paths, options.rounds) for _ in range(_ATTEMPTS)]
            return record({name: min(cost[name] for cost in attempts) for name in paths}, options.baseline)
        baseline = json.loads(options.baseline.read_text(encoding="utf-8"))
        # Only a regression makes a path slow in every attempt.
        least = dict.fromkeys(baseline, float("inf"))
        for _ in range(_MORE_ATTEMPTS):
            slow = {name: paths[name] for name, cost in least.items() if cost > WORSE * baseline[name]}
            least |= {name: min(cost, least[name]) for name, cost in costs(slow, options.rounds).items()}
    return _judge(least, baseline)


def record(measured: Mapping[str, float], file: Path) -> int:
    """Write a baseline in which no path is slower than in the one before; return 1 and write nothing if one has to be.

    A path that is slower by less than `WORSE` keeps its value: other and busy machines differ by as much.
    """
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    slower = [name for name, cost in measured.items() if cost > WORSE * before.get(name, float("inf"))]
    if slower:
        sys.stderr.write(
            f"not recorded: {', '.join(slower)} is slower than {WORSE:g} times the baseline, and a baseline only ever "
            "becomes faster. Find out why it is slower\n"
        )
        return 1
    least = {name: min(cost, before.get(name, cost)) for name, cost in measured.items()}
    file.write_text(json.dumps(least, indent=1) + "\n", encoding="utf-8")
    return 0


def hot_paths(folder: Path) -> dict[str, Callable[[], object]]:
    """Return what bots do all day and what authors wait for; each call takes some milliseconds."""
    chance = random.Random(_SEED)
    large, small = made_up(chance, _INTENTS, _UTTERANCES), made_up(chance, *_SMALL)
    bot = Matcher.load(large, cache="off")
    save_artefact(bot.artefact, folder / "bot.intentmatch")
    lines = {intent.name: {"utterances": [u.text for u in intent.utterances]} for intent in large}
    # JSON is also YAML.
    (folder / "bot.yaml").write_text(json.dumps({"intents": lines}, indent=1), encoding="utf-8")
    known = {u.text for u in large.utterances}
    utterances = [u.text for u in large.utterances[::40]]
    messages = [text for text in (" ".join(u.split()[::-1]) for u in utterances) if text not in known]
    encoder = bot.encoder
    return {
        "encode in context": lambda: [encoder.encode([message]) for message in messages],
        "match": lambda: [bot.match(message) for message in messages],
        "match_many": lambda: bot.match_many(messages),
        "match an utterance": lambda: [bot.match(utterance) for utterance in utterances],
        "build and learn": lambda: Matcher.load(small, encoder=encoder, cache="off"),
        "read YAML": lambda: read_registry(folder / "bot.yaml"),
        "load an artefact": lambda: load_artefact(folder / "bot.intentmatch"),
    }


def made_up(chance: random.Random, intents: int, utterances: int) -> Registry:
    """Return a synthetic registry: each intent mostly uses four words of its own, and no line occurs twice."""
    found, seen = [], set[str]()
    for number in range(intents):
        liked = chance.sample(_WORDS, 4) * 20 + _WORDS
        texts = dict.fromkeys(sentence(chance, liked) for _ in range(4 * utterances))
        new = [text for text in texts if text not in seen][:utterances]
        seen.update(new)
        found.append(Intent(f"intent_{number}", tuple(map(Utterance, new))))
    return Registry(tuple(found))


def sentence(chance: random.Random, words: Sequence[str]) -> str:
    """Join four to eight of the words."""
    return " ".join(chance.choices(words, k=chance.randint(4, 8)))


def costs(paths: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Measure each path in units of the fixed work, in processor time: the median of rounds in turns."""
    found: dict[str, list[float]] = {name: [] for name in paths}
    for path in paths.values():
        path()
    for _ in range(rounds):
        for name, path in paths.items():
            unit, cost = _seconds(fixed_work), _seconds(path)
            found[name].append(2 * cost / (unit + _seconds(fixed_work)))
    return {name: round(median(ratios), 3) for name, ratios in found.items()}


def fixed_work() -> int:
    """Do about 10 ms of work as in matching: dictionaries, short strings and arrays, a matrix product."""
    counts: dict[str, int] = {}
    for number in range(12_000):
        word = f"{number % 997:03d}"
        counts[word] = counts.get(word, 0) + len(word.upper().split("5"))
    rows = np.ones((1500, 256), dtype=np.float32)
    for _ in range(40):
        products = rows @ rows[0]
        order = np.argsort(products[:150], kind="stable")
        counts["sum"] = int(order[:5].sum() + np.maximum.reduceat(products, [0, 500, 1000]).sum())
    return len(counts)


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def _judge(measured: Mapping[str, float], of: Mapping[str, float]) -> int:
    rows = [[name, *(f"{n:.2f}" for n in (cost, of[name], cost / of[name]))] for name, cost in measured.items()]
    sys.stdout.write(plain_table(["in units of fixed work", "now", "baseline", "ratio"], rows) + "\n")
    slower = [name for name, cost in measured.items() if cost > WORSE * of[name]]
    if slower:
        sys.stderr.write(
            f"slower than {WORSE:g} times the baseline: {', '.join(slower)}. "
            "Find out why; --record takes no slower baseline\n"
        )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
