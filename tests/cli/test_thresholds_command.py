"""`explain-thresholds`: every cut with its origin, and what held-out utterances say of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli

INTENTS = Path(__file__).parents[2] / "intents"
TINY = """\
version: 1
intents:
  greet: {utterances: {en: [hello, hi there]}, threshold: 0.7}
  leave: {utterances: {en: [goodbye, see you]}}
"""


def run(*words: str) -> Result:
    done = CliRunner().invoke(cli, ["explain-thresholds", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows_of(*words: str) -> dict[str, dict[str, Any]]:
    return {row["for"]: row for row in json.loads(run(*words, "--json").stdout)["thresholds"]}


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "bot.yaml").write_text(TINY, encoding="utf-8")
    return str(tmp_path)


@pytest.fixture(scope="module")
def shipped() -> dict[str, dict[str, Any]]:
    return rows_of(str(INTENTS))


def test_learned_cuts_come_with_what_they_are_worth(shipped: dict[str, dict[str, Any]]) -> None:
    """The common one, one for each language and for intents with enough cases; all of the confidence."""
    common = shipped["everything else"]

    assert common["on"] == "confidence"
    assert 0.5 < common["precision"] < 1
    assert 0.5 < common["coverage"] < 1
    assert 0 < common["refused"] < 1
    assert common["cases"] > 1000
    assert {"language en", "language de"} <= set(shipped)
    assert any(name.startswith("intent ") for name in shipped)
    assert all(row["cases"] >= 60 for row in shipped.values())


def test_a_higher_precision_is_a_higher_cut(shipped: dict[str, dict[str, Any]]) -> None:
    """The held-out cases say what it costs."""
    strict = rows_of(str(INTENTS), "--set", "target=precision=0.95")["everything else"]
    common = shipped["everything else"]

    assert strict["threshold"] > common["threshold"]
    assert strict["precision"] >= 0.95 > common["precision"]
    assert strict["coverage"] < common["coverage"]
    assert "95%" in common["note"]


def test_of_an_authors_threshold_nothing_is_known(tiny: str) -> None:
    """It is on the score, with its place in the YAML; a tiny registry learns none."""
    rows = rows_of(tiny)

    assert rows["intent greet"]["threshold"] == 0.7
    assert "bot.yaml:3" in rows["intent greet"]["from"]
    assert (rows["everything else"]["threshold"], rows["everything else"]["on"]) == (0.4, "score")
    assert all(row["precision"] is row["cases"] is None for row in rows.values())


def test_people_get_a_table(tiny: str) -> None:
    """With the target, the margin and where each came from."""
    told = run(tiny, "--set", "margin=0.1").stdout

    assert "target: precision 0.95, give_up 0.005 (default)" in told
    assert "margin: 0.100 of the score (argument)" in told
    assert "everything else" in told
    assert "precision" in told
