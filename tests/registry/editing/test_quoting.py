"""YAML writer: values are read back unchanged, and have quotes only where needed."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.layout import layout
from intentmatch.registry.editing.quoting import in_brackets, in_lines, is_plain, written

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    "ab :#-,[]{}'\"\\?!&*|>%@`\n\t\u2028\u0085~.0123eE+"
)
NO_TEXTS = [
    "yes", "n", "null", "~", "1", "1.5", "1e3", ".5", "0o17", "0x1F", "12:30", "2024-01-01", "=", "<<", "", " a",
]  # fmt: skip
VALUES = st.recursive(
    TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS.filter(str.strip), inner, max_size=3),
    max_leaves=6,
)


def read(text: str) -> object:
    """Parse with every scalar as text."""
    return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


@given(TEXTS, st.sampled_from(["", "'", '"']))
def test_written_text_is_read_back_in_every_place_and_style(text: str, style: str) -> None:
    assert read(f"- {written(text, style)}\n- b") == [text, "b"]
    assert read(f"k: {written(text, style)}\nl: b") == {"k": text, "l": "b"}
    assert read(f"[{written(text, style, 'brackets')}, b]") == [text, "b"]
    assert read(f"{{k: {written(text, style, 'brackets')}, l: b}}") == {"k": text, "l": "b"}
    assert read(f"{written(text, style, 'key')}: b") == {text: "b"}
    assert len(written(text, style).splitlines()) <= 1


@given(TEXTS)
def test_plain_text_is_a_string_in_yaml_1_1(text: str) -> None:
    if is_plain(text):
        assert yaml.load(f"- {text}", Loader=yaml.SafeLoader) == [text]


@pytest.mark.parametrize("text", NO_TEXTS)
def test_numbers_and_booleans_of_any_yaml_version_are_quoted(text: str) -> None:
    assert written(text) == f'"{text}"'


@pytest.mark.parametrize("text", ["it's", "a, b", "(a|b) [c]", "who's {name}?", "注文：どこ", "👩‍🚀", "c#", "a - b"])
def test_brackets_and_commas_are_quoted_only_inside_brackets(text: str) -> None:
    assert written(text) == text
    assert written(text, "'") == "'" + text.replace("'", "''") + "'"


def test_line_break_forces_double_quotes_and_surrogate_is_refused() -> None:
    assert written("a\nb", "'") == '"a\\nb"'
    assert written("a\u2028b") == '"a\\u2028b"'
    with pytest.raises(InputError, match="a lone surrogate"):
        written("\ud800")


@given(st.text("abc -é", min_size=1), VALUES, st.integers(1, 4), st.integers(0, 4))
def test_written_value_is_read_back(key: str, value: object, step: int, before_dash: int) -> None:
    assert read(in_brackets({key: value})) == {key: value}
    assert read("\n".join([*in_lines(key, value, step, before_dash), "'': b"])) == {key: value, "": "b"}


def test_lines_use_the_given_indentation() -> None:
    value = {"utterances": {"en": ["a", "yes"]}, "title": "T", "none": {}, "nested": [["a"], {"b": "c"}]}

    assert in_lines("x y", value, 2, 4) == [
        "x y:",
        "  utterances:",
        "    en:",
        "        - a",
        '        - "yes"',
        "  title: T",
        "  none: {}",
        "  nested:",
        "      - [a]",
        "      - {b: c}",
    ]
    assert layout("\n".join(in_lines("x y", value, 2, 4))) is not None
