"""Revisions in a hidden folder: bounded, and safe against damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.authoring.folder_history import FolderHistory
from intentmatch.core.errors import InputError, UnknownNameError


@pytest.fixture
def history(tmp_path: Path) -> FolderHistory:
    return FolderHistory(tmp_path / "history", most=3)


def record(history: FolderHistory, text: str) -> str:
    files = {"a.yaml": text.encode(), "same.yaml": b"same"}
    return history.record({}, files, "anna", f"write {text}").id


def test_revisions_keep_files_author_and_note(history: FolderHistory) -> None:
    assert history.revisions(5) == []
    first, second = record(history, "one"), record(history, "two")

    assert [(one.id, one.author, one.note) for one in history.revisions(5)] == [
        (second, "anna", "write two"),
        (first, "anna", "write one"),
    ]
    assert history.files(first) == {"a.yaml": b"one", "same.yaml": b"same"}
    assert history.before(second) == history.files(first)
    assert history.before(first) == {}
    assert len(history.revisions(1)) == 1


def test_oldest_revisions_and_their_contents_are_removed(history: FolderHistory) -> None:
    numbers = [record(history, str(number)) for number in range(6)]

    assert [one.id for one in history.revisions(9)] == numbers[:2:-1]
    assert len(list((history.folder / "contents").iterdir())) == 4
    with pytest.raises(UnknownNameError):
        history.files(numbers[0])


def test_what_another_program_wrote_is_kept_before_an_edit(history: FolderHistory) -> None:
    history.prepare({"a.yaml": b"one"})
    history.prepare({"a.yaml": b"one"})
    record(history, "two")
    history.prepare({"a.yaml": b"by hand"})

    assert [(one.author, one.note) for one in history.revisions(5)] == [
        (None, "Changed by another program"),
        ("anna", "write two"),
        (None, "Before the first edit"),
    ]


def test_damaged_revision_is_left_out(history: FolderHistory, caplog: pytest.LogCaptureFixture) -> None:
    first, second = record(history, "one"), record(history, "two")
    (history.folder / f"{second}.json").write_text("{", encoding="utf-8")

    assert [one.id for one in history.revisions(5)] == [first]
    assert "is damaged" in caplog.text
    with pytest.raises(InputError, match="is damaged"):
        history.files(second)


@pytest.mark.parametrize("digest", ["../../secret", "0" * 64, 5])
def test_manifest_cannot_name_other_files(history: FolderHistory, digest: object) -> None:
    first = record(history, "one")
    manifest = history.folder / f"{first}.json"
    manifest.write_text(f'{{"author": "x", "time": "2026-01-01", "note": "", "files": {{"a": "{digest}"}}}}')

    with pytest.raises(InputError, match="is damaged"):
        history.files(first)


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("in the way", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be written"):
        FolderHistory(tmp_path / "history").prepare({})
