"""Templates: what is a mark and what is text, and the way from a text to a template and back."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intentmatch.core.types import Mark
from intentmatch.registry.templates.sentences import Wordings
from intentmatch.registry.templates.syntax import MARKS, Blank, Sentence, escape, is_name, labelled, parse

TEXTS = st.text(st.sampled_from("ab |\\()[]{}<>=:;é😀\n\ud800")) | st.text()
NAMES = st.from_regex(r"[a-z_][a-z0-9_.-]{0,5}", fullmatch=True)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, tuple[Mark, ...]]:
    """A text with slots in it that do not overlap."""
    text, marks = "", []
    for _ in range(draw(st.integers(0, 3))):
        text += draw(TEXTS)
        value = draw(TEXTS.filter(bool))
        marks.append(Mark(draw(NAMES), len(text), len(text) + len(value)))
        text += value
    return text + draw(TEXTS), tuple(marks)


@given(TEXTS)
@example("\\")
@example("\\\\(")
@example("(a|b)")
def test_an_escaped_text_stands_for_itself(text: str):
    """Whatever a text is made of, as a template it is that text and nothing else."""
    found = parse(escape(text))

    assert found.sentence == Sentence(text)
    assert found.flaw is None


@given(TEXTS, TEXTS)
def test_an_escaped_text_is_the_same_inside_a_template(one: str, other: str):
    """What was escaped may stand beside anything, in groups too."""
    found = parse(f"({escape(one)}|{escape(other)})", fragment=True)

    assert found.flaw is None
    assert [type(node).__name__ for node in found.nodes][-1] == "Choice"
    assert len(found.nodes[-1].items) == 2


@given(marked())
@example(("a  b ", (Mark("x", 0, 2),)))
@example(("C:\\{x}", (Mark("x", 3, 6),)))
def test_a_sentence_with_marks_survives_as_a_template(sentence: tuple[str, tuple[Mark, ...]]):
    """Text and positions come back exactly, spaces and all."""
    text, marks = sentence

    assert parse(labelled(text, marks)).sentence == Sentence(text, marks)


@given(TEXTS)
def test_any_text_can_be_parsed(text: str):
    """No text raises, and without marks it is itself."""
    found = parse(text)

    if not set(text) & set(MARKS):
        assert found.sentence == Sentence(text)


@pytest.mark.parametrize(
    "text", ["thanks :)", "I <3 you", ":-( no", "a -> b", "=> x <=", "5 > 3", "привет)))", "1) yes", "C:\\temp", "{}"]
)
def test_faces_and_arrows_are_text(text: str):
    """What cannot be a mark is left alone, without a word."""
    assert parse(text).sentence == Sentence(text)
    assert parse(text).flaw is None
    assert labelled(text) == text


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("[please track it", 0),
        ("light[s", 5),
        ("(book|reserve a table", 0),
        ("book|reserve a table", 4),
        ("(book|reserve)) a table", 14),
        ("go to {city", 6),
        ("go to {first name}", 6),
        ("go to {city = Berlin}", 6),
        ("go to {city=}", 6),
        ("on <day", 3),
        ("on <my day>", 3),
        ("[on] day>", 8),
        ("please] track it", 6),
    ],
)
def test_half_a_mark_is_text_and_looks_like_a_mistake(text: str, position: int):
    """It is shown where it stands, with what to do about it."""
    flaw = parse(text).flaw

    assert flaw is not None
    assert flaw.position == position
    assert f"`\\{text[position]}`" in flaw.hint


@pytest.mark.parametrize("text", ["turn it on (please)", "((it)) ()", "(a [b) c", "(:) (a) :)"])
def test_round_brackets_without_a_bar_are_text(text: str):
    """As people write them."""
    assert parse(text).sentence == Sentence(text)
    assert labelled(text) == (text if parse(text).flaw is None else escape(text))


def test_marks_inside_of_brackets_that_are_text_are_marks():
    """And the other way round."""
    assert parse("(in {city=Berlin})").sentence == Sentence("(in Berlin)", (Mark("city", 4, 10),))
    assert [text for text, _ in Wordings.from_template(parse("[a (b)|c (d (e|f))]"), {}).sentences()] == [
        "a (b)", "c (d e)", "c (d f)", "",
    ]  # fmt: skip


def test_slots_and_rules_are_found_where_they_stand():
    """Positions count in the text as the author wrote it."""
    found = parse("\\(x) {city=New York} on <day> or {other_day}")

    assert found.blanks == (Blank("city", 5, "New York"), Blank("other_day", 33))
    assert [(use.rule, use.position) for use in found.uses] == [("day", 24)]


def test_the_closing_bracket_belongs_to_the_nearest_of_its_kind():
    """A face inside of a group does not tear it apart."""
    found = parse("[hello :( friend] you")

    assert found.flaw is None
    assert found.sentence is None


def test_marks_that_cannot_be_written_are_left_out():
    """Without text, beyond the text, over another, or with a name that is none: the sentence stays what it was."""
    marks = [Mark("a", 0, 2), Mark("b", 1, 3), Mark("c", 3, 3), Mark("d", 4, 99), Mark("two words", 3, 4)]

    assert labelled("hello", marks) == "{a=he}llo"
    assert labelled("a [b] c", marks[2:4]) == "a \\[b\\] c"


@pytest.mark.parametrize("name", ["day", "order_number", "straße", "a.b-c", "日付", "हिन्दी", "_x"])
def test_a_name_is_letters_in_any_script(name: str):
    """With digits, dots and dashes behind the first letter."""
    assert is_name(name)
    assert parse(f"<{name}>").uses[0].rule == name
    assert parse(f"{{{name}}}").blanks[0].slot == name


@pytest.mark.parametrize("name", ["", "3", "two words", "a=b", "a|b", "-a", "a:b", "a>"])
def test_what_is_no_name_makes_no_mark(name: str):
    """It would be text, or part of a mark."""
    assert not is_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000 + "]" * 50_000,
        "[a(" * 30_000,
        "(" * 50_000 + "a" + ")" * 50_000,
        "{a=" * 50_000,
        "{a=" + "\\" * 99_999,
    ],
)
def test_a_long_text_takes_no_long_time(text: str):
    """Deep nesting, open brackets and backslashes are read in time that grows with the text."""
    began = time.perf_counter()
    parse(text)

    assert time.perf_counter() - began < 20.0
