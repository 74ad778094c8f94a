"""Template syntax: marks and literal text, and round trips between texts and templates."""

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
    """Draw a text with slots that do not overlap."""
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
def test_escaped_text_is_literal(text: str):
    found = parse(escape(text))

    assert found.sentence == Sentence(text)
    assert found.flaw is None


@given(TEXTS, TEXTS)
def test_escaped_text_is_literal_inside_a_template(one: str, other: str):
    found = parse(f"({escape(one)}|{escape(other)})", fragment=True)

    assert found.flaw is None
    assert [type(node).__name__ for node in found.nodes][-1] == "Choice"
    assert len(found.nodes[-1].items) == 2


@given(marked())
@example(("a  b ", (Mark("x", 0, 2),)))
@example(("C:\\{x}", (Mark("x", 3, 6),)))
def test_labelled_sentence_round_trips(sentence: tuple[str, tuple[Mark, ...]]):
    text, marks = sentence

    assert parse(labelled(text, marks)).sentence == Sentence(text, marks)


@given(TEXTS)
def test_any_text_parses(text: str):
    found = parse(text)

    if not set(text) & set(MARKS):
        assert found.sentence == Sentence(text)


@pytest.mark.parametrize(
    "text", ["thanks :)", "I <3 you", ":-( no", "a -> b", "=> x <=", "5 > 3", "привет)))", "1) yes", "C:\\temp", "{}"]
)
def test_smileys_and_arrows_are_text_without_warning(text: str):
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
def test_unmatched_mark_is_text_with_a_located_flaw(text: str, position: int):
    flaw = parse(text).flaw

    assert flaw is not None
    assert flaw.position == position
    assert f"`\\{text[position]}`" in flaw.hint


@pytest.mark.parametrize("text", ["turn it on (please)", "((it)) ()", "(a [b) c", "(:) (a) :)"])
def test_round_brackets_without_a_bar_are_text(text: str):
    assert parse(text).sentence == Sentence(text)
    assert labelled(text) == (text if parse(text).flaw is None else escape(text))


def test_marks_work_inside_literal_brackets_and_vice_versa():
    assert parse("(in {city=Berlin})").sentence == Sentence("(in Berlin)", (Mark("city", 4, 10),))
    assert [text for text, _ in Wordings.from_template(parse("[a (b)|c (d (e|f))]"), {}).sentences()] == [
        "a (b)", "c (d e)", "c (d f)", "",
    ]  # fmt: skip


def test_slot_and_rule_positions():
    found = parse("\\(x) {city=New York} on <day> or {other_day}")

    assert found.blanks == (Blank("city", 5, "New York"), Blank("other_day", 33))
    assert [(use.rule, use.position) for use in found.uses] == [("day", 24)]


def test_closing_bracket_pairs_with_the_nearest_of_its_kind():
    """A smiley inside a group does not break the group."""
    found = parse("[hello :( friend] you")

    assert found.flaw is None
    assert found.sentence is None


def test_labelled_skips_impossible_marks():
    marks = [Mark("a", 0, 2), Mark("b", 1, 3), Mark("c", 3, 3), Mark("d", 4, 99), Mark("two words", 3, 4)]

    assert labelled("hello", marks) == "{a=he}llo"
    assert labelled("a [b] c", marks[2:4]) == "a \\[b\\] c"


@pytest.mark.parametrize("name", ["day", "order_number", "straße", "a.b-c", "日付", "हिन्दी", "_x"])
def test_names_may_use_any_script(name: str):
    assert is_name(name)
    assert parse(f"<{name}>").uses[0].rule == name
    assert parse(f"{{{name}}}").blanks[0].slot == name


@pytest.mark.parametrize("name", ["", "3", "two words", "a=b", "a|b", "-a", "a:b", "a>"])
def test_invalid_name_makes_no_mark(name: str):
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
def test_parsing_takes_linear_time(text: str):
    began = time.thread_time()
    parse(text)

    assert time.thread_time() - began < 20.0
