"""Text that YAML reads as a comment, a tag or an anchor: what is reported, and what is a comment on purpose."""

from __future__ import annotations

import pytest

from intentmatch.registry.reading.lost_text import lost_text


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("- my order #123 please", 12),
        ("- my order  #123 please", 13),
        ("- use #hashtag now", 7),
        ("- order # 5", 9),
        ("- #1 please", 3),
        ("en: order #5", 11),
        ("title: order #5", 14),
        ("- text: order #5", 15),
        ("utterances: [my order #5, hi", 23),
        ("- !urgent order", 3),
        ("- ! order", 3),
        ("- &more please", 3),
        ("response: !urgent order", 11),
    ],
)
def test_lost_text_is_found_where_it_begins(line: str, column: int):
    text = line + "\n" + ("]\n" if "[" in line else "")

    found = lost_text(text)

    assert [(lost.line, lost.column) for lost in found.values()] == [(1, column)]


@pytest.mark.parametrize(
    "line",
    [
        "- my order # a note",
        "- my order  #note",
        "- my order#123",
        '- "my order" #note',
        "- 'my order #123'",
        "- my order ## note",
        "#note",
        "  #123",
        "#!yaml",
        "- my order  # 5 more to come",
        "threshold: 0.5 #strict",
        "margin: 0.1 #123",
        "- [a, b] #123",
        "- [a, #123\n  b]",
        "- !!str 5",
        '- ! "6"',
        "- &used a\n- *used",
        "- |\n  my order #123",
        "- a! b & c",
        "- [a\nb: #123",
    ],
)
def test_comments_tags_and_anchors_on_purpose_are_left_alone(line: str):
    assert not any(lost.certain for lost in lost_text(line + "\n").values())


def test_comment_behind_a_key_is_lost_text_only_if_a_text_is_missing_there():
    found = lost_text("response: #1 choice\nutterances: #the list\n")

    assert [(lost.line, lost.certain) for lost in found.values()] == [(1, False)]


def test_advice_quotes_the_whole_text():
    (lost,) = lost_text('      - my "order" #123, please\n').values()

    assert lost.message == "`#123, please` is a comment in YAML and no part of the text"
    assert lost.hint.startswith("put the text in double quotes: `- 'my \"order\" #123, please'`. For a comment,")


def test_long_lines_are_reported_without_repeating_them():
    (lost,) = lost_text(f"- {'word ' * 30}#123\n").values()

    assert lost.hint.startswith("put the text in double quotes. For")
