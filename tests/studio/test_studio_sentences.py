"""What edits do, in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.registry.editing.edits import (
    AddIntent,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveUtterance,
    RewordUtterance,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.studio.sentences import Sentence, sentences

TEXT = "language: en\nintents:\n  a:\n    utterances:\n      - one more\n      - two\n  b:\n    utterances: [three]\n"


def told(folder: Path, *edits: Edit) -> list[Sentence]:
    (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    return sentences(plan(folder, edits))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (AddIntent("c", description="x y"), Sentence("Begin c with a description", (), ("x y",))),
        (AddUtterance("a", "x y"), Sentence("Add an example of a", (), ("x y",))),
        (AddUtterance("a", "x y", negative=True), Sentence("Add a line that does not mean a", (), ("x y",))),
        (MoveUtterance("two", "b", "a"), Sentence("Move an example of a to b", (), ("two",))),
        (RewordUtterance("two", "2 of it", "a"), Sentence("Reword an example of a", ("two",), ("2 of it",))),
        (RemoveUtterance("two", "a"), Sentence("Remove an example of a", ("two",), ())),
    ],
)
def test_edit_of_a_line_is_a_sentence_with_both_lines(tmp_path: Path, edit: Edit, sentence: Sentence):
    assert told(tmp_path, edit) == [sentence]


def test_files_as_they_were_or_typed_are_a_change_of_lines(tmp_path: Path):
    text = TEXT.replace("one more", "another")

    assert told(tmp_path, ReplaceFile(tmp_path / "bot.yaml", text)) == [
        Sentence("Change bot.yaml", ("one more",), ("another",))
    ]


def test_other_edits_show_the_lines_that_go_and_come(tmp_path: Path):
    found = told(tmp_path, RemoveUtterance("two", "a"), SetField("b", "title", "Three"))

    assert found == [
        Sentence("Remove an example of a", ("two",)),
        Sentence("Set the title of b", (), ("title: Three",)),
    ]
