"""JSON with places, and values that say what they are not."""

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
def test_json_is_read_as_the_standard_library_reads_it(data: Any, indent: int | None, ascii_only: bool) -> None:
    """Whatever stands in it."""
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    read = value(text).plain()

    assert read == data
    assert json.dumps(read) == json.dumps(json.loads(text))


@given(st.text(st.sampled_from('[]{}",:\\ntrue-0123eE. ')))
def test_no_text_is_read_that_the_standard_library_refuses(text: str) -> None:
    """And none is refused that it reads, but for line breaks in strings and for what JSON does not know."""
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(NodeError):
            json_node(text, "f")
    else:
        json_node(text, "f")


@pytest.mark.parametrize(
    ("text", "place", "said"),
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
def test_what_is_no_json_is_shown_where_it_is(text: str, place: str, said: str) -> None:
    """By line and column."""
    with pytest.raises(NodeError) as caught:
        documents(text, ".json", "f")

    assert str(caught.value.problem).startswith(f"{place}: error [json-syntax]")
    assert said in str(caught.value.problem)


def test_every_value_knows_its_place() -> None:
    """In JSON as in YAML."""
    for suffix in (".json", ".yaml"):
        root = value('{"a": [1,\n  {"b": "x"}]}', suffix)
        assert root["a"].items()[1]["b"].location == Location("f", 2, 9)


def test_half_a_character_is_replaced() -> None:
    """JSON can name one, and no file can hold it."""
    assert value('"a\\ud800b"').text() == "a\ufffdb"
    assert value('"\\ud83d\\ude00"').text() == "😀"


def test_aliases_cannot_multiply_without_end() -> None:
    """Nor nest."""
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    tower = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))

    for text in (bomb, tower):
        with pytest.raises(NodeError, match="alias-expansion"):
            documents(text, ".yaml", "f")


def test_other_files_are_neither() -> None:
    """So that no prose is read as YAML; a name without a suffix may be one."""
    with pytest.raises(NodeError, match=r"neither JSON nor a file named .yaml"):
        documents("a: b", ".md", "f")
    assert documents("a: b", "", "f")
    assert documents(' {"a": 1}', ".txt", "f")


def test_what_is_lacking_is_nothing_and_silent() -> None:
    """However deep it is looked for."""
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
    ("text", "ask", "said"),
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
def test_what_is_not_as_expected_is_noted_with_its_place(text: str, ask: Any, said: str) -> None:
    """Once it is asked for."""
    noted: list[Any] = []
    ask(value(text, noted=noted)["a"])

    ((place, _, message, _),) = noted
    assert said in message
    assert place.path == "f"


def test_numbers_and_truth_values_are_what_they_look_like() -> None:
    """With quotes they are text."""
    found = value('{"a": 3, "b": "3", "c": true, "d": 2.0, "e": false}')

    assert found.plain() == {"a": 3, "b": "3", "c": True, "d": 2.0, "e": False}
    assert (found["a"].integer(), found["b"].integer(), found["d"].integer()) == (3, 3, 2)
    assert (found["c"].flag(), found["e"].flag()) == (True, False)
