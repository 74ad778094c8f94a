"""Evaluations are kept beside the history, one file each; damaged ones are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.authoring import revision_scores as module
from intentmatch.authoring.revision_scores import ScoreFolder, Scores, SourceScore
from intentmatch.core.errors import InputError

SCORES = Scores((SourceScore("held_out", 8, 10, 6, 7), SourceScore("tests", 2, 2, None, 1)), 1, 0, sampled=True)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    folder = ScoreFolder(tmp_path / "new")
    folder.write("12ab", SCORES)

    assert folder.read("12ab") == SCORES
    assert folder.read("13") is None


@pytest.mark.parametrize("name", ["../secret", "", "12/3", "G"])
def test_names_that_are_no_revisions_are_never_read(tmp_path: Path, name: str) -> None:
    assert ScoreFolder(tmp_path).read(name) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sources": [{}], "fixed": 1, "broken": 1, "sampled": false}'])
def test_damaged_evaluation_is_left_out(tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "1.json").write_text(content, encoding="utf-8")

    assert ScoreFolder(tmp_path).read("1") is None
    assert "is damaged" in caplog.text


def test_oldest_evaluations_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 2)
    folder = ScoreFolder(tmp_path)
    for number in range(4):
        folder.write(str(number), SCORES)

    assert sorted(file.name for file in tmp_path.glob("*.json")) == ["2.json", "3.json"]


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be written"):
        ScoreFolder(tmp_path / "file").write("1", SCORES)
