"""Templates of hassil and of ours: what differs between them, and that the library agrees."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.formats.hassil.syntax import TemplateError, from_template, literal, names, to_template
from intentmatch.registry.templates.sentences import Wordings
from intentmatch.registry.templates.syntax import parse

EVERYTHING = st.text(alphabet="ab ()[]{}<>|;@:\\=é", max_size=20)


def ours(text: str) -> str:
    return to_template(text, lambda name: f"{{{name}}}", lambda name: f"<{name}>")


def sentences(template: str) -> set[str]:
    return {" ".join(sentence.text.split()) for sentence in Wordings.from_template(parse(template), {}).sentences()}


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ("turn on light[s] in <area>", "turn on light[s] in <area>"),
        ("[(all|the)] {name}", "[(all|the)] {name}"),
        ("red|green", "(red|green)"),
        ("set (here;to max) now", "set (here to max|to max here) now"),
        ("on; please", "(on please|please on)"),
        ("[a;b]c", "[a b|b a] c"),
        (r"50\% \(half\) \; a\@b", r"50% \(half\) ; a@b"),
        ("a = b", "a = b"),
        ("a (b) ((c|d)) ()", "a b (c|d) "),
        ("", ""),
    ],
)
def test_a_template_of_theirs_is_one_of_ours(theirs, expected):
    """Alternatives get brackets, and what may stand in any order is written out."""
    assert ours(theirs) == expected


def test_three_things_in_any_order_are_six_alternatives():
    """Each order once."""
    assert sentences(ours("(a;b;c)")) == {"a b c", "a c b", "b a c", "b c a", "c a b", "c b a"}


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        ("(a|b", "`(` is never closed"),
        ("a [b", "`[` is never closed"),
        ("a) b", "`)` has no matching bracket"),
        ("(a]", "`]` has no matching bracket"),
        ("{a", "`{` has no matching bracket"),
        ("a>", "`>` has no matching bracket"),
        ("(a|b;c)", "a group mixes `|` and `;`"),
        ("(a;b;c;d;e)", "more than 4 parts in a permutation"),
    ],
)
def test_what_the_library_refuses_is_refused(theirs, message):
    """By a sentence that says why; more than four things in any order are too many to write out."""
    with pytest.raises(TemplateError, match=f"^{re.escape(message)}$"):
        ours(theirs)


@given(EVERYTHING)
def test_no_text_raises_anything_else(text):
    """Whatever stands in a file."""
    try:
        template = ours(text)
    except TemplateError:
        return
    assert parse(template).flaw is None


@given(EVERYTHING)
def test_a_literal_text_is_read_as_it_is(text):
    """Every sign of theirs is escaped."""
    sentence = parse(ours(literal(text))).sentence

    assert sentence is not None
    assert sentence.text == text


@pytest.mark.parametrize(
    ("template", "theirs"),
    [
        ("(hi|hello) [my|dear] friend[s]", "(hi|hello) [my|dear] friend[s]"),
        ("(book|reserve)", "book|reserve"),
        ("to {city=New York} on {day} <please>", "to New York on {day} <please>"),
        ("a :) b <3; c@d", r"a :\) b \<3\; c\@d"),
        ("(a|)", "[a]"),
        ("(|a||b)", "[a|b]"),
        ("x(|)[]", "x"),
        ("[[a] b]", "[[a] b]"),
    ],
)
def test_a_template_of_ours_is_one_of_theirs(template, theirs):
    """What is a whole needs no brackets there."""
    assert from_template(parse(template, fragment=True)) == theirs


@given(st.text(alphabet="ab ()[]{}<>|;:=", max_size=20))
def test_a_template_of_ours_stands_for_the_same_when_it_comes_back(template):
    """For the same sentences, however they are written."""
    again = ours(from_template(parse(template)))

    assert {" ".join(s.split()) for s in sentences(again)} == {" ".join(s.split()) for s in sentences(template)}


@given(st.text(alphabet="ab ()[]|;<>{}", max_size=20))
def test_the_library_says_the_same_sentences(template):
    """What is written is what `hassil` makes of it."""
    hassil = pytest.importorskip("hassil", reason="needs hassil")

    parsed = parse(template)
    written = from_template(parsed)
    if parsed.uses or parsed.blanks or not written.strip():
        return
    theirs = hassil.sample_expression(hassil.parse_sentence(written).expression)
    assert {" ".join(text.split()) for text in theirs} == sentences(template)


def test_names_are_what_stands_in_brackets():
    """Lists with their slots, and rules."""
    assert names(r"set {level:brightness} of [<area>] \{no\}") == ({"level:brightness"}, {"area"})
