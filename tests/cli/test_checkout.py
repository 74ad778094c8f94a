"""The private folder of a command that works on files of a bot in PostgreSQL; commands test the rest."""

from __future__ import annotations

from pathlib import Path

from intentmatch.cli import checkout


def test_files_of_the_user_stay_where_they_are():
    assert checkout.in_use() is None
    assert checkout.place(Path("a.yaml")) == Path("a.yaml")
    checkout.publish("")


def test_files_are_read_and_written_by_name(tmp_path):
    files = {"a.yaml": b"a", "more/b.yml": b"\xff"}
    checkout.write_files(tmp_path / "shop", files)
    (tmp_path / "shop" / "notes.txt").write_text("not YAML")

    assert checkout.read_files(tmp_path / "shop") == files
