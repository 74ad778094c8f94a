"""Wordings: how many sentences a template stands for, which they are, and which of too many are taken."""

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
    """A template in which every word is another one, so that no two wordings are the same text."""
    words = (f"w{number}" for number in itertools.count())

    def part(depth: int) -> str:
        kind = draw(st.sampled_from(["word", "word", "slot", "group", "optional"])) if depth < 3 else "word"
        if kind == "word":
            return next(words)
        if kind == "slot":
            return f"{{{next(words)}}}"
        some = [[part(depth + 1) for _ in range(draw(st.integers(0, 2)))] for _ in range(draw(st.integers(1, 3)))]
        series = [" ".join([next(words), *parts]) for parts in some]
        inside = "|".join(series)
        return f"({inside})" if kind == "group" else f"[{inside}]"

    return " ".join(part(0) for _ in range(draw(st.integers(1, 4))))


@given(templates())
def test_the_count_is_that_of_the_sentences(template: str):
    """What arithmetic says, writing them all out shows."""
    found = wordings(template)
    if found.count <= 5000:
        assert len(set(texts(template))) == found.count


@given(templates(), st.integers(1, 40))
def test_a_sample_is_part_of_all_and_the_same_every_time(template: str, limit: int):
    """So many as were asked for, none twice, in the order of the template."""
    found = wordings(template)
    sample = list(found.ranks(limit))

    assert sample == list(wordings(template).ranks(limit))
    assert sample == sorted(set(sample))
    assert len(sample) == min(limit, found.count)
    assert all(0 <= rank < found.count for rank in sample)


@given(templates())
def test_a_sample_shows_every_alternative(template: str):
    """A sample as large as it has to be for that holds every word of the template."""
    found = wordings(template)
    sample = found.sentences(limit=max(1, found.breadths[-1]))
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
def test_sentences_come_in_order_and_with_single_spaces(template: str, sentences: list[str]):
    """What was left out leaves no space behind; a line without choice keeps those it has."""
    assert texts(template) == sentences


def test_a_rule_stands_for_its_sentences():
    """Rules may use rules, and need no brackets around their alternatives."""
    rules = {"day": "today|<weekday>|", "weekday": "[next] (monday|friday)"}

    assert wordings("come <day> at <day>", rules).count == 36
    assert texts("come <weekday>", rules) == ["come next monday", "come next friday", "come monday", "come friday"]
    assert texts("come <day> now", rules)[-1] == "come now"


def test_marks_say_where_the_values_stand():
    """Filled in one after the other, and where the author put one, his."""
    cities = itertools.cycle(["Berlin", "New  York"])
    found = wordings("[go] from {city} to {city} on {day=Monday}")

    assert list(found.sentences(lambda slot: next(cities))) == [
        Sentence(
            "go from Berlin to New York on Monday", (Mark("city", 8, 14), Mark("city", 18, 26), Mark("day", 30, 36))
        ),
        Sentence("from Berlin to New York on Monday", (Mark("city", 5, 11), Mark("city", 15, 23), Mark("day", 27, 33))),
    ]
    assert next(found.sentences()).text == "go from city to city on Monday"


def test_a_value_at_the_end_keeps_no_space_that_the_sentence_loses():
    """Marks stay inside of the text."""
    assert list(wordings("[go to] {city=Berlin }").sentences())[1] == Sentence("Berlin", (Mark("city", 0, 6),))


def test_thousands_are_counted_and_not_written():
    """A template of a hundred groups has more sentences than there are atoms, and gives ten at once."""
    template = " ".join(f"(a{n}|b{n}|c{n})" for n in range(100))
    began = time.perf_counter()

    assert wordings(template).count == 3**100
    assert len(set(texts(template, limit=10))) == 10
    assert next(wordings(template).sentences()).text.startswith("a0 a1 a2")
    assert time.perf_counter() - began < 10.0


def test_a_sample_is_spread_over_groups_of_one_size():
    """Groups do not go in step: with 64 of 4,096 nearly all pairs of alternatives occur."""
    template = " ".join("(" + "|".join(f"{name}{n}" for n in range(4)) + ")" for name in "abcdef")
    sample = [text.split() for text in texts(template, limit=64)]
    pairs = {(words[0], words[1]) for words in sample}

    assert len(pairs) >= 13


def test_rules_that_use_each_other_are_named_and_stand_for_their_name():
    """A circle is found once, and what only leads to it is none."""
    rules = Rules({name: parse(text) for name, text in {"x": "<a>", "a": "b <b>", "b": "<c> [d]", "c": "<a>"}.items()})

    assert rules.circles == [("a", "b", "c")]
    assert {name: [s.text for s in rules[name].sentences()] for name in "abcx"} == {
        "a": ["a"],
        "b": ["a d", "a"],
        "c": ["a"],
        "x": ["a"],
    }


def test_a_rule_that_uses_itself_is_a_circle_of_one():
    """And so is each of two that do."""
    rules = Rules({"a": parse("<a> <a>"), "b": parse("<b>")})

    assert rules.circles == [("a",), ("b",)]


def test_a_rule_that_is_not_there_stands_for_its_name():
    """So that the rest of the line can be read."""
    assert texts("come <some_day>") == ["come some day"]


def test_a_chain_of_rules_is_not_too_deep():
    """Five thousand rules, each of which uses the next."""
    rules = {f"r{n}": f"[a] <r{n + 1}>" if n % 1000 == 0 else f"<r{n + 1}>" for n in range(4000)}

    found = wordings("<r0>", {**rules, "r4000": "end"})

    assert found.count == 2**4
    assert next(found.sentences()).text == "a a a a end"


def test_rules_that_unfold_without_end_are_refused():
    """Forty rules, each of which uses the next twice, would be a sentence of a trillion words; so is one long text."""
    rules = Rules({f"r{n}": parse(f"<r{n + 1}> <r{n + 1}>") for n in range(40)} | {"r40": parse("ha")})

    assert rules.too_long
    with pytest.raises(TooLongError):
        Wordings.from_template(parse("[a] " * 10_000), rules)
    with pytest.raises(TooLongError):
        Wordings.from_template(parse("[a]" + "b" * 10_000), rules)
    assert Wordings.from_template(parse("[a]" + "b" * 9_000), rules).count == 2


def test_alternatives_that_double_with_every_rule_are_sampled():
    """The number of alternatives has no bound, as long as a sentence has one."""
    rules = {f"r{n}": f"(x <r{n + 1}>|y <r{n + 1}>)" for n in range(200)} | {"r200": "end"}

    assert wordings("<r0>", rules).count == 2**200
    assert len(set(texts("<r0>", rules, limit=20))) == 20


def test_breadth_is_what_it_takes_to_show_everything():
    """The alternatives in a group add up, groups beside each other are shown together."""
    found = wordings("(a|(b|c)|d) [e]")

    assert [node for node in found.template.nodes if isinstance(node, Choice)]
    assert found.breadths[-1] == 4
