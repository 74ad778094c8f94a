"""Wordings: count, order and samples of the sentences of a template."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.types import Mark
from intentmatch.registry.templates.sentences import Rules, TooLongError, Wordings
from intentmatch.registry.templates.syntax import Choice, Sentence, parse


def texts(template: str, rules: dict[str, str] | None = None, limit: int | None = None) -> list[str]:
    return [sentence.text for sentence in wordings(template, rules).sentences(limit=limit)]


def wordings(template: str, rules: dict[str, str] | None = None) -> Wordings:
    found = {name: parse(text, fragment=True) for name, text in (rules or {}).items()}
    return Wordings.from_template(parse(template), Rules(found))


@st.composite
def templates(draw: st.DrawFn) -> str:
    """Draw a template of distinct words, so that no two wordings read the same."""
    words = (f"w{number}" for number in itertools.count())

    def part(depth: int) -> str:
        kind = draw(st.sampled_from(["word", "word", "slot", "group", "optional"])) if depth < 3 else "word"
        if kind == "word":
            return next(words)
        if kind == "slot":
            return f"{{{next(words)}}}"
        groups = [[part(depth + 1) for _ in range(draw(st.integers(0, 2)))] for _ in range(draw(st.integers(1, 3)))]
        series = [" ".join([next(words), *parts]) for parts in groups]
        inside = "|".join(series)
        return f"({inside})" if kind == "group" else f"[{inside}]"

    return " ".join(part(0) for _ in range(draw(st.integers(1, 4))))


@given(templates())
def test_count_equals_the_number_of_sentences(template: str):
    found = wordings(template)
    if found.count <= 5000:
        assert len(set(texts(template))) == found.count


@given(templates(), st.integers(1, 40))
def test_sample_is_an_ordered_deterministic_subset(template: str, limit: int):
    found = wordings(template)
    sample = list(found.ranks(limit))

    assert sample == list(wordings(template).ranks(limit))
    assert sample == sorted(set(sample))
    assert len(sample) == min(limit, found.count)
    assert all(0 <= rank < found.count for rank in sample)


@given(templates())
def test_sample_of_breadth_size_shows_every_alternative(template: str):
    found = wordings(template)
    sample = found.sentences(limit=max(1, found.size.breadth))
    shown = {word for sentence in sample for word in re.findall(r"w\d+", sentence.text)}

    assert shown == set(re.findall(r"w\d+", template))


@pytest.mark.parametrize(
    ("template", "sentences"),
    [
        ("(book|reserve) a table", ["book a table", "reserve a table"]),
        ("[please] book", ["please book", "book"]),
        ("book [it|that] now", ["book it now", "book that now", "book now"]),
        ("light[s] on", ["lights on", "light on"]),
        ("turn(ed|ing)", ["turned", "turning"]),
        ("hello[, please]!", ["hello, please!", "hello!"]),
        ("go [ home ]", ["go home", "go"]),
        ("(a|b (c|d))", ["a", "b c", "b d"]),
        ("a  b", ["a  b"]),
        ("", [""]),
    ],
)
def test_sentences_are_ordered_and_single_spaced(template: str, sentences: list[str]):
    """A line without alternatives keeps its spaces."""
    assert texts(template) == sentences


def test_rule_expands_to_its_sentences():
    rules = {"day": "today|<weekday>|", "weekday": "[next] (monday|friday)"}

    assert wordings("come <day> at <day>", rules).count == 36
    assert texts("come <weekday>", rules) == ["come next monday", "come next friday", "come monday", "come friday"]
    assert texts("come <day> now", rules)[-1] == "come now"


def test_marks_are_the_spans_of_slot_values():
    cities = itertools.cycle(["Berlin", "New  York"])
    found = wordings("[go] from {city} to {city} on {day=Monday}")

    assert list(found.sentences(lambda slot: next(cities))) == [
        Sentence(
            "go from Berlin to New York on Monday", (Mark("city", 8, 14), Mark("city", 18, 26), Mark("day", 30, 36))
        ),
        Sentence("from Berlin to New York on Monday", (Mark("city", 5, 11), Mark("city", 15, 23), Mark("day", 27, 33))),
    ]
    assert next(found.sentences()).text == "go from city to city on Monday"


def test_mark_at_the_end_excludes_the_removed_space():
    assert list(wordings("[go to] {city=Berlin }").sentences())[1] == Sentence("Berlin", (Mark("city", 0, 6),))


def test_huge_count_needs_no_expansion():
    template = " ".join(f"(a{n}|b{n}|c{n})" for n in range(100))
    began = time.thread_time()

    assert wordings(template).count == 3**100
    assert len(set(texts(template, limit=10))) == 10
    assert next(wordings(template).sentences()).text.startswith("a0 a1 a2")
    assert time.thread_time() - began < 10.0


def test_sample_combines_groups_of_one_size_evenly():
    """With 64 of 4,096 sentences, nearly all pairs of alternatives occur."""
    template = " ".join("(" + "|".join(f"{name}{n}" for n in range(4)) + ")" for name in "abcdef")
    sample = [text.split() for text in texts(template, limit=64)]
    pairs = {(words[0], words[1]) for words in sample}

    assert len(pairs) >= 13


def test_mutually_recursive_rules_are_found_once():
    rules = Rules({name: parse(text) for name, text in {"x": "<a>", "a": "b <b>", "b": "<c> [d]", "c": "<a>"}.items()})

    assert rules.circles == [("a", "b", "c")]
    assert {name: [s.text for s in rules[name].sentences()] for name in "abcx"} == {
        "a": ["a"],
        "b": ["a d", "a"],
        "c": ["a"],
        "x": ["a"],
    }


def test_self_recursive_rules_are_circles_of_one():
    rules = Rules({"a": parse("<a> <a>"), "b": parse("<b>")})

    assert rules.circles == [("a",), ("b",)]


def test_unknown_rule_is_replaced_by_its_name():
    assert texts("come <some_day>") == ["come some day"]


def test_chain_of_five_thousand_rules_works():
    rules = {f"r{n}": f"[a] <r{n + 1}>" if n % 1000 == 0 else f"<r{n + 1}>" for n in range(4000)}

    found = wordings("<r0>", {**rules, "r4000": "end"})

    assert found.count == 2**4
    assert next(found.sentences()).text == "a a a a end"


def test_exploding_rules_are_too_long():
    """Forty rules that each use the next one twice, and a single long text."""
    rules = Rules({f"r{n}": parse(f"<r{n + 1}> <r{n + 1}>") for n in range(40)} | {"r40": parse("ha")})

    assert rules.too_long
    with pytest.raises(TooLongError):
        Wordings.from_template(parse("[a] " * 10_000), rules)
    with pytest.raises(TooLongError):
        Wordings.from_template(parse("[a]" + "b" * 10_000), rules)
    assert Wordings.from_template(parse("[a]" + "b" * 9_000), rules).count == 2


def test_unbounded_number_of_alternatives_is_sampled():
    rules = {f"r{n}": f"(x <r{n + 1}>|y <r{n + 1}>)" for n in range(200)} | {"r200": "end"}

    assert wordings("<r0>", rules).count == 2**200
    assert len(set(texts("<r0>", rules, limit=20))) == 20


def test_breadth_is_the_smallest_covering_sample():
    """Alternatives of a group add up; groups side by side are covered together."""
    found = wordings("(a|(b|c)|d) [e]")

    assert [node for node in found.template.nodes if isinstance(node, Choice)]
    assert found.size.breadth == 4
