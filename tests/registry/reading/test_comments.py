"""Comments of a YAML text, and the lines that they apply to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.registry import read_comments
from intentmatch.registry.reading.comments import comments

TEXT = """\
# head
intents:
  a:  # on a
    utterances:
      en:  # on en
      - x # on x
      - "y # not" # on y
      - |
        # not
      # own line
      - 'two
        # not
        lines'
      - q#not
  # before b

  b: {utterances: [w]} # flow
# end
"""


def test_comment_has_position_and_applicable_lines():
    """Behind a value: its line and everything indented below. On its own line: the next block."""
    assert [tuple(comment) for comment in comments(TEXT)] == [
        (1, 1, "head", 2, 17),
        (3, 7, "on a", 3, 14),
        (5, 12, "on en", 5, 14),
        (6, 11, "on x", 6, 6),
        (7, 19, "on y", 7, 7),
        (10, 7, "own line", 11, 13),
        (15, 3, "before b", 17, 17),
        (17, 24, "flow", 17, 17),
        (18, 1, "end", 18, 18),
    ]


@pytest.mark.parametrize("text", ["", "# only", "a: [", "a: \0 # b", "\t# x: y: z"])
def test_empty_and_invalid_texts_do_not_raise(text):
    assert all(comment.first >= comment.line for comment in comments(text))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_comment_lines_count_all_yaml_line_breaks(ending):
    assert [comment.line for comment in comments(ending.join(["a: 1", "b: 2 # two", "c: 3 # three"]))] == [2, 3]


@given(text=st.text() | st.text("#-: ab'\"|[]{}\n", max_size=40))
def test_any_text_gives_ordered_comments(text):
    found = comments(text)

    assert found == sorted(found)
    assert all(comment.first <= comment.last for comment in found)


def test_read_comments_returns_readable_files(tmp_path):
    (tmp_path / "a.yaml").write_text("\ufeffa: 1 # one\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_bytes(b"\xff # two")
    (tmp_path / "notes.txt").write_text("# three")

    assert {path: [c.text for c in found] for path, found in read_comments(tmp_path).items()} == {
        str(tmp_path / "a.yaml"): ["one"]
    }
    assert read_comments(tmp_path / "nowhere") == {}
