"""Real files of real bots: as many intents and utterances as there are, and registries that answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from formats.real_files import FOLDER, ROWS, Real, needs_files, stated

from intentmatch import Matcher, Registry, formats
from intentmatch.evaluation import evaluate
from intentmatch.formats.settle import settled
from intentmatch.registry import examine

_INTENTS, _LINES = 12, 12

ALL = [pytest.param(section, row, id=f"{section}/{row.path}") for section, rows in ROWS.items() for row in rows]


@needs_files
@pytest.mark.parametrize(("section", "row"), ALL)
def test_everything_that_is_in_a_file_is_read(section: str, row: Real) -> None:
    """Recognised by content, with all of its intents and utterances, each of them in its place."""
    found = formats.read(FOLDER / "formats" / section / row.path, columns=row.columns)

    assert (len(found.registry), len(found.registry.utterances)) == (row.intents, row.utterances)
    assert all(thing.location is not None for thing in (*found.registry.intents, *found.registry.utterances))


@needs_files
@pytest.mark.parametrize("section", ROWS)
def test_no_row_is_left_out_and_each_other_number_has_a_reason(section: str) -> None:
    """The table has every row of the README, with its numbers or a word about them."""
    expected = {path: (intents, utterances) for named, path, intents, utterances in stated() if named == section}

    assert [row.path for row in ROWS[section]] == list(expected)
    assert [
        row.path for row in ROWS[section] if not row.why and (row.intents, row.utterances) != expected[row.path]
    ] == []


BOTS = sorted(path.name for path in (FOLDER / "rasa").glob("*")) if (FOLDER / "rasa").is_dir() else []


@needs_files
@pytest.mark.parametrize("name", BOTS)
def test_a_real_bot_loads_and_is_evaluated(name: str, tmp_path: Path) -> None:
    """What its authors wrote becomes YAML without an error, and answers more often right than wrong."""
    found = formats.read(FOLDER / "rasa" / name)
    formats.write(found.registry, "intentmatch", tmp_path)
    registry, problems = examine(tmp_path)
    kept, _ = settled(found.registry)

    assert not [problem for problem in problems if problem.severity == "error"]
    assert {intent.name: len(intent.utterances) for intent in kept} == {i.name: len(i.utterances) for i in registry}
    # A part of it, for time.
    some = Registry(
        tuple(replace(intent, utterances=intent.utterances[:_LINES]) for intent in registry.intents[:_INTENTS])
    )
    report = evaluate(Matcher.load(some), folds=2)
    assert report.headline.numbers.accuracy > 0.5


@needs_files
def test_there_are_bots_of_ten_repositories() -> None:
    """So that no accident of one author is taken for the format."""
    assert len(BOTS) >= 10
