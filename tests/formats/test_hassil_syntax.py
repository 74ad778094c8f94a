"""Tests for converting hassil templates to intentmatch templates and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intentmatch.formats.hassil.language import rule_name
from intentmatch.formats.hassil.syntax import (
    TemplateError,
    from_template,
    literal,
    names,
    to_template,
    with_optional_marks,
)
from intentmatch.registry.templates.sentences import Wordings
from intentmatch.registry.templates.syntax import parse

EVERYTHING = st.text(alphabet="ab ()[]{}<>|;@:\\=é", max_size=20)


def to_intentmatch(text: str) -> str:
    return to_template(text, lambda name: f"{{{name}}}", lambda name: f"<{name}>")


def sentences(template: str) -> set[str]:
    return {" ".join(sentence.text.split()) for sentence in Wordings.from_template(parse(template), {}).sentences()}


def without_marks(texts: set[str]) -> set[str]:
    """Texts without the punctuation that is optional in hassil."""
    return {" ".join(re.sub(r"[.。,，?¿؟!¡;；:：…]", " ", text).split()) for text in texts}


@pytest.mark.parametrize(
    ("hassil_template", "expected"),
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
        (r"[¿]qué[,] no[?][!] (a|[.]) 10[:]30", "¿qué, no?! (a|.) 10[:]30"),
        ("", ""),
    ],
)
def test_hassil_template_is_converted(hassil_template, expected):
    assert to_intentmatch(hassil_template) == expected


def test_permutation_of_three_has_six_alternatives():
    assert sentences(to_intentmatch("(a;b;c)")) == {"a b c", "a c b", "b a c", "b c a", "c a b", "c b a"}


@pytest.mark.parametrize(
    ("hassil_template", "message"),
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
def test_invalid_template_raises(hassil_template, message):
    """Permutations of more than four parts are too many to write out."""
    with pytest.raises(TemplateError, match=f"^{re.escape(message)}$"):
        to_intentmatch(hassil_template)


@given(EVERYTHING)
@example("{<};")
def test_any_text_raises_only_template_error(text):
    """With names made valid, as the readers do."""
    try:
        template = to_template(text, lambda name: f"{{{rule_name(name)}}}", lambda name: f"<{rule_name(name)}>")
    except TemplateError:
        return
    assert parse(template).flaw is None


@given(EVERYTHING)
def test_literal_escapes_every_sign(text):
    sentence = parse(to_intentmatch(with_optional_marks(literal(text)))).sentence

    assert sentence is not None
    assert sentence.text == text


@pytest.mark.parametrize(
    ("template", "hassil_template"),
    [
        ("(hi|hello) [my|dear] friend[s]", "(hi|hello) [my|dear] friend[s]"),
        ("(book|reserve)", "book|reserve"),
        ("to {city=New York} on {day} <please>", "to New York on {day} <please>"),
        ("a :) b <3; c@d", r"a [:]\) b \<3[\;] c\@d"),
        ("¿(what|how), at 10:30 (or|for 3.5)? {a}; <b>", r"[¿](what|how)[,] at 10:30 (or|for 3.5)[?] {a}[\;] <b>"),
        ("(a|)", "[a]"),
        ("(|a||b)", "[a|b]"),
        ("x(|)[]", "x"),
        ("[[a] b]", "[[a] b]"),
    ],
)
def test_intentmatch_template_is_converted(template, hassil_template):
    assert with_optional_marks(from_template(parse(template, fragment=True))) == hassil_template


@given(st.text(alphabet="ab ()[]{}<>|;:=", max_size=20))
def test_templates_round_trip_to_the_same_sentences(template):
    converted = to_intentmatch(with_optional_marks(from_template(parse(template))))

    assert {" ".join(s.split()) for s in sentences(converted)} == {" ".join(s.split()) for s in sentences(template)}


@given(st.text(alphabet="ab ()[]|;<>{}", max_size=20))
def test_hassil_samples_the_same_sentences(template):
    hassil = pytest.importorskip("hassil", reason="needs hassil")

    parsed = parse(template)
    written = with_optional_marks(from_template(parsed))
    if parsed.uses or parsed.blanks or not written.strip():
        return
    samples = hassil.sample_expression(hassil.parse_sentence(written).expression)
    found = {" ".join(text.split()) for text in samples}
    assert sentences(template) <= found
    assert {text.replace(";", "").replace(" ", "") for text in found} == {
        text.replace(";", "").replace(" ", "") for text in sentences(template)
    }


@given(st.text(alphabet="aé1 .,?!;:…。¿-'’_हूँ", max_size=12))
@example("wait...what? e.g. A.C., 10:30 yes.?! no")
def test_hassil_recognises_any_text_of_words_and_punctuation(text):
    hassil = pytest.importorskip("hassil", reason="needs hassil")

    if not without_marks({text}) - {""}:
        return
    block = {"sentences": [with_optional_marks(literal(" ".join(text.split())))]}
    intents = hassil.Intents.from_dict({"language": "en", "intents": {"a": {"data": [block]}}})
    assert hassil.recognize(text, intents) is not None


def test_names_finds_lists_and_rules():
    assert names(r"set {level:brightness} of [<area>] \{no\}") == ({"level:brightness"}, {"area"})
