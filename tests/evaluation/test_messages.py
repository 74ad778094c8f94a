"""Reading logged messages from files."""

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
        ("log.tsv", 'id\tText\n1\thello\n"2\n"\t你好\n3\thello\n'),
    ],
)
def test_distinct_messages_have_their_first_location(tmp_path: Path, name: str, text: str) -> None:
    first = 2 if name.endswith(("csv", "tsv")) else 1
    assert read(tmp_path, name, text) == [("hello", first), ("你好", 3)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("log.txt", "\n \n", "log.txt:1:1: error [message] the file has no messages"),
        ("log.jsonl", '{"text": "a"}\nnonsense\n{"text": 7}\n[]', "log.jsonl:2:1: error [message] invalid JSON"),
        ("log.jsonl", '{"text": 7}', "`text` is missing"),
        ("log.jsonl", "[" * 100_000, "invalid JSON"),
        ("log.csv", "message\nhello\n", "the header has no column `text`"),
        ("log.csv", 'text\n"hello\n', "invalid table"),
        ("log.csv", "", "the header has no column `text`"),
    ],
)
def test_problems_have_locations(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(RegistryError) as raised:
        read(tmp_path, name, text)

    assert message in str(raised.value)


def test_unsupported_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.log'; messages can be read from \.txt, \.jsonl, \.csv"):
        read_messages(tmp_path / "a.log")


def test_lines_of_a_servers_log_about_something_else_are_no_messages(tmp_path: Path) -> None:
    """Their `message` is what the server says."""
    lines = (
        '{"logger": "intentmatch.server.observed", "message": "POST /match 200"}\n'
        '{"logger": "intentmatch.server.messages", "message": "matched greet: hello", "text": "hello"}\n'
    )

    assert read(tmp_path, "server.jsonl", lines) == [("hello", 2)]
