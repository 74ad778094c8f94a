"""Tests with real bots from public repositories."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from formats.real_files import FOLDER, ROWS, Real, needs_files, stated

from intentmatch import Matcher, Registry, formats
from intentmatch.core.errors import IntentMatchError
from intentmatch.evaluation import evaluate
from intentmatch.formats.kit.repair import repair
from intentmatch.registry import examine

_INTENTS, _LINES = 12, 12

ALL = [pytest.param(section, row, id=f"{section}/{row.path}") for section, rows in ROWS.items() for row in rows]


@needs_files
@pytest.mark.parametrize(("section", "row"), ALL)
def test_all_intents_and_utterances_of_a_file_are_read(section: str, row: Real) -> None:
    found = formats.read(FOLDER / "formats" / section / row.path, columns=row.columns)

    assert (len(found.registry), len(found.registry.utterances)) == (row.intents, row.utterances)
    assert all(thing.location is not None for thing in (*found.registry.intents, *found.registry.utterances))


@needs_files
@pytest.mark.parametrize("section", ROWS)
def test_table_matches_readme_or_gives_a_reason(section: str) -> None:
    expected = {path: (intents, utterances) for named, path, intents, utterances in stated() if named == section}

    assert [row.path for row in ROWS[section]] == list(expected)
    assert [
        row.path for row in ROWS[section] if not row.why and (row.intents, row.utterances) != expected[row.path]
    ] == []


BOTS = sorted(path.name for path in (FOLDER / "rasa").glob("*")) if (FOLDER / "rasa").is_dir() else []


@needs_files
@pytest.mark.parametrize("name", BOTS)
def test_real_bot_loads_and_is_evaluated(name: str, tmp_path: Path) -> None:
    found = formats.read(FOLDER / "rasa" / name)
    formats.write(found.registry, "intentmatch", tmp_path)
    registry, problems = examine(tmp_path)
    kept, _ = repair(found.registry)

    assert not [problem for problem in problems if problem.severity == "error"]
    assert {intent.name: len(intent.utterances) for intent in kept} == {i.name: len(i.utterances) for i in registry}
    # A part of the bot, for speed.
    small = Registry(
        tuple(replace(intent, utterances=intent.utterances[:_LINES]) for intent in registry.intents[:_INTENTS])
    )
    report = evaluate(Matcher.load(small), folds=2)
    assert report.headline.numbers.accuracy >= 0.5


@needs_files
def test_at_least_ten_bots_are_present() -> None:
    assert len(BOTS) >= 10


@needs_files
@pytest.mark.parametrize(("section", "row"), [row for row in ALL if row.values[1].intents])
def test_imported_file_loads_as_yaml(section: str, row: Real, tmp_path: Path) -> None:
    """Every utterance that is missing was reported."""
    found = formats.read(FOLDER / "formats" / section / row.path, columns=row.columns)
    files, left_out = formats.render(found.registry, "intentmatch")
    formats.put(files, tmp_path, force=True)
    loaded, problems = examine(tmp_path, expand=False)

    assert [problem for problem in problems if problem.severity == "error"] == []
    lost = len(found.registry.utterances) - len(loaded.utterances)
    assert lost == sum(problem.rule in ("conflicting-utterance", "empty-utterance") for problem in left_out)


@needs_files
@pytest.mark.parametrize(("section", "row"), ALL)
def test_truncated_file_raises_only_intentmatch_errors(section: str, row: Real, tmp_path: Path) -> None:
    path = FOLDER / "formats" / section / row.path
    copy = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, copy, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(path, copy)
    files = [file for file in sorted(copy.rglob("*")) if file.is_file()] or [copy]
    for part in (0.1, 0.5, 0.9):
        file = files[int(part * len(files))]
        data = file.read_bytes()
        file.write_bytes(data[: int(part * len(data))])
        with suppress(IntentMatchError):
            formats.read(copy, columns=row.columns)
        file.write_bytes(data)
