"""Comments of YAML, and the lines that each speaks for."""

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


def test_each_comment_says_where_it_stands_and_what_it_is_about():
    """Behind something: that line and what is indented below; on its own line: what comes next."""
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
def test_a_text_without_content_is_no_obstacle(text):
    """Nothing, a comment and nothing else, and what is no YAML."""
    assert all(comment.first >= comment.line for comment in comments(text))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_yaml(ending):
    """Positions are those of the reader, whatever the editor writes."""
    assert [comment.line for comment in comments(ending.join(["a: 1", "b: 2 # two", "c: 3 # three"]))] == [2, 3]


@given(text=st.text() | st.text("#-: ab'\"|[]{}\n", max_size=40))
def test_no_text_is_too_odd(text):
    """Any text gives comments in order, each behind a `#`."""
    found = comments(text)

    assert found == sorted(found)
    assert all(comment.first <= comment.last for comment in found)


def test_the_comments_of_a_folder_are_those_of_its_files(tmp_path):
    """By file, with those that can be read."""
    (tmp_path / "a.yaml").write_text("\ufeffa: 1 # one\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_bytes(b"\xff # two")
    (tmp_path / "notes.txt").write_text("# three")

    assert {path: [c.text for c in some] for path, some in read_comments(tmp_path).items()} == {
        str(tmp_path / "a.yaml"): ["one"]
    }
    assert read_comments(tmp_path / "nowhere") == {}
