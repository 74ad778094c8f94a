"""The README: short, executed in order as a newcomer would, and in agreement with the CI script."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from documents import GUIDE, README, ROOT, Document, Runner, check_output, skip_if_separate

TEXT = README.read_text(encoding="utf-8")
COMMANDS = [block for block in Document(README).blocks if block.language == "sh"]


def test_every_block_is_executed(tmp_path: Path) -> None:
    """Files are written, commands exit as they say, Python raises nothing, and shown output is what is printed."""
    skip_if_separate(Document(README))
    Runner(Document(README), tmp_path / "clone").run()


def test_it_is_short() -> None:
    """A page that one reads to its end; the rest is in the guide."""
    assert len(TEXT.splitlines()) <= 200
    assert len(TEXT.encode()) <= 12_000


def test_the_two_commands_come_first() -> None:
    """What it is, the command that runs it, the command that tests it; then the tour."""
    assert COMMANDS[0].note == "run: install"
    assert COMMANDS[0].code == 'pip install . && intentmatch match "wo ist mein Paket?"\n'
    assert COMMANDS[1].note == "run: develop"
    assert COMMANDS[1].code == 'pip install -c .ci/constraints.txt -e ".[dev]" && pytest -n auto --dist worksteal\n'
    assert TEXT.index("**Run it**") < TEXT.index("**Test it**") < TEXT.index("\n## ")


def test_it_links_every_page_of_the_guide() -> None:
    """A reader on a code host finds them all."""
    linked = {link.target for link in Document(README).links}
    pages = {path.name for path in (ROOT / "intentmatch" / "guide").glob("*.md")}

    assert {f"intentmatch/guide/{page}" for page in pages} <= linked


def test_ci_runs_the_same_test_command() -> None:
    """`.ci/run` installs and tests with the README's words."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert 'pip install -q --no-compile -c .ci/constraints.txt -e ".[dev]"' in script
    assert "\npytest -n auto --dist worksteal\n" in script


@pytest.mark.parametrize(
    "printed", ["confidence 86%  score 0.65", "confidence 85%   score .66", "confidence 87% score 0.64"]
)
def test_rounded_numbers_may_differ_by_one_in_the_last_digit(printed: str) -> None:
    """What is learned differs from processor to processor beyond the sixth digit."""
    check_output("confidence 86%   score 0.65\n", f"> hello\n{printed}\n", "README.md:1")


@pytest.mark.parametrize(
    "printed",
    ["confidence 84% score 0.65", "confidence 86% score 0.67", "confidence 86% score 0.653", "in scope 86% score 0.65",
     "confidence 86%", "confidence 86% score 65"],
)  # fmt: skip
def test_other_output_is_not_what_is_shown(printed: str) -> None:
    """Neither numbers that differ by more, nor words."""
    with pytest.raises(AssertionError, match="not printed"):
        check_output("confidence 86% score 0.65\n", f"{printed}\n", "README.md:1")


def test_share_may_differ_by_one_case_of_some_hundred() -> None:
    """202 instead of 201 of 488; not 204."""
    check_output("refused 41.2 % of these\n", "refused 41.4 % of these\n", "README.md:1")
    with pytest.raises(AssertionError, match="not printed"):
        check_output("refused 41.2 % of these\n", "refused 41.8 % of these\n", "README.md:1")


@pytest.mark.parametrize(("shown", "printed"), [("3 of 7 right", "4 of 7 right"), ("release 0.3.0", "release 0.3.1")])
def test_counts_are_printed_as_shown(shown: str, printed: str) -> None:
    """Whole numbers are not rounded."""
    with pytest.raises(AssertionError, match="not printed"):
        check_output(f"{shown}\n", f"{printed}\n", "README.md:1")


def test_any_day_is_shown_in_place_of_today() -> None:
    """And of no other day."""
    today = datetime.now(timezone.utc).date()
    check_output("judged on 2026-11-02\n", f"judged on {today}\n", "README.md:1")
    with pytest.raises(AssertionError, match="not printed"):
        check_output("judged on 2026-11-02\n", f"judged on {today + timedelta(days=2)}\n", "README.md:1")


def test_tables_of_peers_are_those_of_the_benchmarks() -> None:
    """The README and the guide page encoders show the printed table of one run; of times, the least of all sets."""
    text = (ROOT / "tests/benchmarks/README.md").read_text(encoding="utf-8")
    printed = text.split("### Results of `bench_peers.py`")[1].split("```text\n")[1].split("```")[0]
    rows = [re.split(r"  +", line) for line in printed.splitlines()[1:]]
    measured = {(row[0], row[1]): row[2:] for row in rows}
    encoders = (GUIDE / "encoders.md").read_text(encoding="utf-8")
    shown = (README.read_text(encoding="utf-8") + encoders).replace("*", "")

    for first, peer in SHOWN_PEERS.items():
        ten, banking = measured["clinc150:train_10", peer], measured["banking77:train_10", peer]
        speed, again = (min(float(row[place]) for one, row in measured.items() if one[1] == peer) for place in (4, 8))
        cells = [
            first,
            ten[0],
            ten[2],
            banking[0],
            f"{speed:.2f} ms" if speed < 1 else f"{speed:.1f} ms",
            f"{again:.1f} s",
            f"{ten[10]} MB",
        ]
        assert f"| {' | '.join(cells)} |" in shown, cells


SHOWN_PEERS = {
    "intentmatch": "intentmatch",
    "intentmatch, MiniLM in 8 bits": "intentmatch, MiniLM int8",
    "intentmatch, MiniLM": "intentmatch, MiniLM",
    "semantic-router 1.1.1, MiniLM": "semantic-router, MiniLM",
    "model2vec of MiniLM, nearest example": "model2vec of MiniLM, nearest",
    "TF-IDF and logistic regression": "scikit-learn TF-IDF + LR",
    "NLP.js 4.27": "NLP.js",
    "`static`": "intentmatch",
    "`onnx`, all-MiniLM-L6-v2 in int8": "intentmatch, MiniLM int8",
    "`sentence_transformer`, all-MiniLM-L6-v2": "intentmatch, MiniLM",
}
"""First cell of a row in the README or in encoders.md, and the peer of `bench_peers.py`."""
