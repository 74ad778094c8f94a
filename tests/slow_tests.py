"""The slow tests: `slow_tests.txt` lists them by measured time, and `pytest -m "not slow"` runs all others.

An entry is a file below `tests/`, or a file and a test function or class: `learning/test_head.py::test_converges`. To
choose the entries anew, so that all other tests take about 40 seconds together on this machine, run

    pytest --durations=0 --durations-min=0.01 > durations.txt
    python tests/slow_tests.py durations.txt --seconds 40
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

TESTS = Path(__file__).parent
LIST = TESTS / "slow_tests.txt"
WHOLE_FILES = (
    "adaptation/test_encoder_adaptation.py",
    "adaptation/test_encoder_training.py",
    "adaptation/test_languages_are_kept.py",
    "adaptation/test_reranker_adaptation.py",
    "adaptation/test_reranker_training.py",
    "encoders/test_cross_encoder_export.py",
    "encoders/test_onnx.py",
    "encoders/test_onnx_cross_encoder.py",
    "encoders/test_onnx_export.py",
    "test_shipped_intents.py",
)
"""Files whose first test pays for an expensive fixture, whichever test that is."""
_DURATION = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown)\s+tests/([^\[\s]+)")


def read() -> frozenset[str]:
    """The entries of the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def is_listed(node: str, entries: Collection[str]) -> bool:
    """Whether a test is slow, by its node id without or with its parameters."""
    parts = node.partition("[")[0].removeprefix("tests/").split("::")
    return any("::".join(parts[:length]) in entries for length in range(1, len(parts) + 1))


def choose(durations: Iterable[str], seconds: float) -> list[str]:
    """The slowest test functions, so that the others take `seconds` together; `durations` are lines of pytest."""
    totals: defaultdict[str, float] = defaultdict(float)
    for line in durations:
        if found := _DURATION.match(line):
            totals[found[2]] += float(found[1])
    slow, rest = [], sum(totals.values())
    for name, duration in sorted(totals.items(), key=lambda pair: -pair[1]):
        if rest <= seconds:
            break
        slow.append(name)
        rest -= duration
    return sorted(slow)


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("durations", type=Path, metavar="FILE", help="what pytest printed")
    parser.add_argument("--seconds", type=float, required=True, help="what all other tests may take together")
    options = parser.parse_args()
    functions = choose(options.durations.read_text(encoding="utf-8").splitlines(), options.seconds)
    chosen = sorted({*WHOLE_FILES, *(name for name in functions if name.partition("::")[0] not in WHOLE_FILES)})
    LIST.write_text("# Made by slow_tests.py from measured durations.\n" + "".join(f"{name}\n" for name in chosen))


if __name__ == "__main__":
    main()
