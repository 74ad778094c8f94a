"""Tests for JSON with locations and for `Value`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.formats.kit.tree import MAX_DEPTH, Value, documents, json_node
from intentmatch.registry.reading.nodes import NodeError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-1e90, 1e90).filter(lambda n: not 0 < abs(n) < 1e-90)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def value(text: str, suffix: str = ".json", noted: list[Any] | None = None) -> Value:
    def note(*words: Any) -> None:
        if noted is not None:
            noted.append(words)

    return Value(documents(text, suffix, "f")[0], Location("f"), note=note)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_json_agrees_with_standard_library(data: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    read = value(text).plain()

    assert read == data
    assert json.dumps(read) == json.dumps(json.loads(text))


@given(st.text(st.sampled_from('[]{}",:\\ntrue-0123eE. ')))
def test_json_errors_agree_with_standard_library(text: str) -> None:
    """Except for line breaks in strings and for NaN and Infinity."""
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(NodeError):
            json_node(text, "f")
    else:
        json_node(text, "f")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ('{"a": 1} x', "f:1:10", "unexpected text after the end"),
        ('{\n  "a" 1}', "f:2:7", "expected ':'"),
        ('{"a": 1,\n}', "f:2:1", "expected a key in double quotes"),
        ("[1 2]", "f:1:4", "expected ',' or ']'"),
        ('["abc', "f:1:2", "unterminated string"),
        ('["a\\q"]', "f:1:4", "invalid \\escape"),
        ("[nul]", "f:1:2", "expected a value, found 'n'"),
        ("[", "f:1:2", "the JSON ends too early"),
        ("", "f:1:1", "the JSON ends too early"),
        ("[" * 200, f"f:1:{MAX_DEPTH + 1}", "nested deeper than"),
        ("[NaN]", "f:1:2", "expected a value, found 'N'"),
    ],
)
def test_json_error_has_line_and_column(text: str, place: str, expected: str) -> None:
    with pytest.raises(NodeError) as caught:
        documents(text, ".json", "f")

    assert str(caught.value.problem).startswith(f"{place}: error [json-syntax]")
    assert expected in str(caught.value.problem)


def test_values_have_locations() -> None:
    for suffix in (".json", ".yaml"):
        root = value('{"a": [1,\n  {"b": "x"}]}', suffix)
        assert root["a"].items()[1]["b"].location == Location("f", 2, 9)


def test_lone_surrogate_is_replaced() -> None:
    assert value('"a\\ud800b"').text() == "a\ufffdb"
    assert value('"\\ud83d\\ude00"').text() == "😀"


def test_alias_expansion_and_nesting_are_limited() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    tower = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))

    for text in (bomb, tower):
        with pytest.raises(NodeError, match="alias-expansion"):
            documents(text, ".yaml", "f")


def test_other_suffixes_are_not_parsed_as_yaml() -> None:
    with pytest.raises(NodeError, match=r"neither JSON nor a file named .yaml"):
        documents("a: b", ".md", "f")
    assert documents("a: b", "", "f")
    assert documents(' {"a": 1}', ".txt", "f")


def test_missing_values_are_empty_and_not_reported() -> None:
    noted: list[Any] = []
    lacking = value('{"a": null, "b": {}}', noted=noted)

    for found in (lacking["a"], lacking["x"]["y"], lacking["b"]["c"]):
        assert not found
        assert (found.text(), found.number(), found.items(), found.entries(), found.plain()) == (
            None,
            None,
            [],
            [],
            None,
        )
        assert not found.flag()
    assert noted == []


@pytest.mark.parametrize(
    ("text", "ask", "expected"),
    [
        ('{"a": "x"}', lambda a: a.items(), "`a` should be a list but is text"),
        ('{"a": [1]}', lambda a: a.entries(), "`a` should be a mapping but is a list"),
        ('{"a": {"b": 1}}', lambda a: a.text(), "`a` should be text but is a mapping"),
        ('{"a": "x"}', lambda a: a.number(), "`a` should be a number but is text"),
        ('{"a": 1.5}', lambda a: a.integer(), "`a` should be a whole number"),
        ('{"a": 1e300}', lambda a: a.integer(), "`a` should be a whole number"),
        ('{"a": ["x", []]}', lambda a: [item.text() for item in a.items()], "an item of `a` should be text"),
        ('{"a": {"b": 1, "b": 2}}', lambda a: a.entries(), "the key 'b' appears twice in `a`"),
    ],
)
def test_unexpected_types_are_reported_with_location(text: str, ask: Any, expected: str) -> None:
    noted: list[Any] = []
    ask(value(text, noted=noted)["a"])

    ((place, _, message, _),) = noted
    assert expected in message
    assert place.path == "f"


def test_plain_numbers_and_booleans_are_converted_and_quoted_ones_are_text() -> None:
    found = value('{"a": 3, "b": "3", "c": true, "d": 2.0, "e": false}')

    assert found.plain() == {"a": 3, "b": "3", "c": True, "d": 2.0, "e": False}
    assert (found["a"].integer(), found["b"].integer(), found["d"].integer()) == (3, 3, 2)
    assert (found["c"].flag(), found["e"].flag()) == (True, False)
