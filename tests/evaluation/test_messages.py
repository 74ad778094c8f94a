"""Files of logged messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, RegistryError
from intentmatch.evaluation.messages import read_messages


def read(tmp_path: Path, name: str, text: str) -> list[tuple[str, int]]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return [(case.text, case.location.line) for case in read_messages(tmp_path / name)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.txt", "hello\r\n\n  你好 \nhello\n"),
        ("log.jsonl", '{"text": "hello", "at": 1}\n\n{"message": "你好"}\n{"text": "hello"}\n'),
        ("log.csv", 'id,Text\n1,hello\n"2\n",你好\n3,hello\n'),
    ],
)
def test_each_distinct_message_once_where_it_first_stands(tmp_path: Path, name: str, text: str) -> None:
    """Blank ones are none."""
    first = 2 if name.endswith("csv") else 1
    assert read(tmp_path, name, text) == [("hello", first), ("你好", 3)]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.txt", "\n \n", "log.txt:1:1: error [message] there is no message here"),
        ("log.jsonl", '{"text": "a"}\nnonsense\n{"text": 7}\n[]', "log.jsonl:2:1: error [message] no JSON"),
        ("log.jsonl", '{"text": 7}', "there is no `text`"),
        ("log.jsonl", "[" * 100_000, "no JSON"),
        ("log.csv", "message\nhello\n", "the header has no column `text`"),
        ("log.csv", 'text\n"hello\n', "not readable as a table"),
        ("log.csv", "", "the header has no column `text`"),
    ],
)
def test_mistakes_have_their_places(tmp_path: Path, name: str, text: str, said: str) -> None:
    """All of a file at once."""
    with pytest.raises(RegistryError) as raised:
        read(tmp_path, name, text)

    assert said in str(raised.value)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    """With those that are read."""
    with pytest.raises(InputError, match=r"from \.txt, \.jsonl, \.csv, not from '\.log'"):
        read_messages(tmp_path / "a.log")
