"""Real files of real bots: as many intents and utterances as there are, and registries that answer."""

from __future__ import annotations

import pytest
from formats.real_files import FOLDER, ROWS, Real, needs_files, stated

from intentmatch import formats

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
