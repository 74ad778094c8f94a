"""Results that a later run finds again."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.adaptation.work_folder import digest_of, remembered


def test_value_is_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> object:
        made.append(1)
        return [(True, 0.5), None]

    first = remembered(tmp_path / "fold.json", "one", make)
    again = remembered(tmp_path / "fold.json", "one", make)

    assert first == again == [[True, 0.5], None]
    assert made == [1]


@pytest.mark.parametrize("content", [b'{"identity": "other", "value": 1}', b"broken", b"[]", b"{}"])
def test_value_of_something_else_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fold.json").write_bytes(content)

    assert remembered(tmp_path / "fold.json", "one", lambda: 2) == 2
    assert remembered(tmp_path / "fold.json", "one", lambda: 3) == 2


def test_digest_depends_on_every_part() -> None:
    assert digest_of(["a", {"b": 1}]) == digest_of(("a", {"b": 1}))
    assert len({digest_of(["a", {"b": 1}]), digest_of(["a", {"b": 2}]), digest_of(["ab", {}])}) == 3
