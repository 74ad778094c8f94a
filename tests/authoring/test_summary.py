"""A revision without a note says what its edits are."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.authoring.summary import summary
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddTest,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
    RewordUtterance,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.formatting import Format
from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.registry.editing.removal import RemoveItems
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile

FILE = Path("shop") / "bot.yaml"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (AddUtterance("greet", "good day"), "Add to greet"),
        (AddIntent("greet", "good day"), "Add the intent greet"),
        (AddIntent("greet", description="the user says hello"), "Add the intent greet"),
        (AddTest("good day", "greet"), "Add a test of greet"),
        (AddTest("good day", None), "Add a test of no intent"),
        (MoveUtterance("good day", "bye"), "Move a line to bye"),
        (RewordUtterance("good day", "hello"), "Reword a line"),
        (RewordUtterance("good day", "hello", "greet"), "Reword a line of greet"),
        (RemoveItems(frozenset()), "Remove what is written twice"),
        (RemoveUtterance("good day"), "Remove a line"),
        (RemoveUtterance("good day", "greet"), "Remove a line of greet"),
        (RemoveIntent("greet"), "Remove the intent greet"),
        (RenameIntent("greet", "hello"), "Rename greet to hello"),
        (MergeIntents("greet", "hello"), "Merge greet into hello"),
        (SetField("greet", "title", "Hi"), "Set the title of greet"),
        (ReplaceFile(FILE, ""), "Replace bot.yaml"),
        (RemoveFile(FILE), "Remove bot.yaml"),
        (ChangeSettings(FILE, {"encoder": Setting("static")}), "Set encoder"),
        (Format(), "Format"),
    ],
)
def test_one_edit(edit: Edit, expected: str) -> None:
    assert summary([edit]) == expected


def test_same_words_appear_once_and_long_lists_are_counted() -> None:
    assert summary([AddUtterance("greet", text) for text in "abc"]) == "Add to greet"
    many = summary([AddUtterance(name, "x") for name in "abcdefg"])
    assert many == "Add to a, add to b, add to c, add to d, add to e and 2 more"
    assert summary([]) == ""
