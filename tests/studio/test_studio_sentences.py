"""What edits do, in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

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
from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.studio.sentences import Sentence, sentences

TEXT = "language: en\nintents:\n  a:\n    utterances:\n      - one more\n      - two\n  b:\n    utterances: [three]\n"


def told(folder: Path, *edits: Edit) -> list[Sentence]:
    (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    changes = plan(folder, edits)
    before = None if changes.errors else changes.before
    return sentences(before, changes.registry, {one.path.name: one.diff for one in changes.files})


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (AddIntent("c", description="x y"), Sentence("Begin c with a description", (), ("x y",))),
        (AddUtterance("a", "x y"), Sentence("Add an example of a", (), ("x y",))),
        (AddUtterance("a", "x y", negative=True), Sentence("Add a line that does not mean a", (), ("x y",))),
        (MoveUtterance("two", "b", "a"), Sentence("Move an example of a to b", (), ("two",))),
        (RewordUtterance("two", "2 of it", "a"), Sentence("Reword an example of a", ("two",), ("2 of it",))),
        (RemoveUtterance("two", "a"), Sentence("Remove an example of a", ("two",), ())),
        (AddTest("x y", "a"), Sentence("Expect a for a message", (), ("x y",))),
        (AddTest("x y", None), Sentence("Expect no intent for a message", (), ("x y",))),
        (RenameIntent("a", "c"), Sentence("Rename a to c")),
        (MergeIntents("a", "b"), Sentence("Merge a into b", (), ("one more", "two"))),
        (RemoveIntent("a"), Sentence("Remove the intent a", ("one more", "two"))),
        (SetField("a", "title", "Three"), Sentence("Change the title of a", (), ("Three",))),
        (SetField("a", "response", {"en": "hi"}), Sentence("Change the response of a", (), ("hi",))),
        (
            SetField("a", "slots", {"size": {"values": ["S", "M"]}}),
            Sentence("Change the slots of a", (), ("size: list, S, M",)),
        ),
    ],
)
def test_change_is_a_sentence_with_both_lines(tmp_path: Path, edit: Edit, sentence: Sentence):
    assert told(tmp_path, edit) == [sentence]


def test_lines_of_one_intent_are_told_together(tmp_path: Path):
    found = told(tmp_path, AddUtterance("a", "x"), AddUtterance("b", "y"), AddUtterance("a", "z"))

    assert found == [Sentence("Add 2 examples of a", (), ("x", "z")), Sentence("Add an example of b", (), ("y",))]


def test_file_as_it_was_or_typed_is_told_by_what_it_means(tmp_path: Path):
    text = TEXT.replace("one more", "another").replace("language: en", "language: en\nsettings: {inbox: misses.sqlite}")

    assert told(tmp_path, ReplaceFile(tmp_path / "bot.yaml", text)) == [
        Sentence("Reword an example of a", ("one more",), ("another",)),
        Sentence("Change the settings", (), ("inbox: misses.sqlite",)),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("language: en", "language: en # of all"), ("utterances: [three]", "uterances: [three]")],
    ids=["comment", "error"],
)
def test_what_has_no_meaning_is_told_by_the_lines_of_the_file(tmp_path: Path, old: str, new: str):
    found = told(tmp_path, ReplaceFile(tmp_path / "bot.yaml", TEXT.replace(f"{old}\n", f"{new}\n")))

    assert found == [Sentence("Change bot.yaml", (old,), (new,))]


def test_line_that_gets_a_language_is_moved(tmp_path: Path):
    text = TEXT.replace("      - two\n", "").replace("[three]", "{en: [three], de: [two]}")

    assert told(tmp_path, ReplaceFile(tmp_path / "bot.yaml", text)) == [
        Sentence("Move an example of a to b", (), ("two",))
    ]
