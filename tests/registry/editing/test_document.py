"""Edits of one YAML text: only the edited lines change, and impossible edits are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.layout import WrittenNode

Edit = Callable[[Document], Document]
WIDE = "x" * 100


def part(document: Document, *way: str | int) -> WrittenNode:
    """Find a part by keys and numbers."""
    found = document.root
    for step in way:
        found = found and (found.get(step) if isinstance(step, str) else found.items[step])
    assert found is not None, way
    return found


def key(document: Document, *way: str) -> WrittenNode:
    """Find a key."""
    holder = part(document, *way[:-1])
    return next(name for name, _ in holder.entries if name.text == way[-1])


def add(*way: str, text: str = "new") -> Edit:
    return lambda document: document.with_item(part(document, *way), text)


def put(*way: str, name: str = "k", value: object = "v", number: int | None = None) -> Edit:
    return lambda document: document.with_entry(part(document, *way), name, value, number)


def drop(*way: str | int, within: tuple[str, ...] = ()) -> Edit:
    return lambda document: document.without(part(document, *way), part(document, *within))


def drop_key(*way: str, within: tuple[str, ...] = (), comments: bool = False) -> Edit:
    return lambda document: document.without(key(document, *way), part(document, *within), comments=comments)


def note(*way: str | int, comment: str = "  # new") -> Edit:
    return lambda document: document.with_comment(part(document, *way), comment)


def nest(*way: str) -> Edit:
    return lambda document: document.nested(part(document, *way), "en")


def text(*way: str | int, new: str = "new") -> Edit:
    return lambda document: document.with_text(part(document, *way), new)


def after(before: str, edit: Edit) -> str:
    return edit(Document("f.yaml", before)).text


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("a:\n  - x\nb: 1\n", add("a"), "a:\n  - x\n  - new\nb: 1\n", id="in lines"),
        pytest.param("a:\n- x # c\n", add("a"), "a:\n- x # c\n- new\n", id="dashes below the key"),
        pytest.param("a:\n  -   x\n", add("a"), "a:\n  -   x\n  -   new\n", id="spaces behind dashes"),
        pytest.param("a:\n  -\n    x\n", add("a"), "a:\n  -\n    x\n  - new\n", id="below a dash"),
        pytest.param("a:\n  - x", add("a"), "a:\n  - x\n  - new", id="no line ending at the end"),
        pytest.param("a:\r\n  - x\r\nb: 1\r\n", add("a"), "a:\r\n  - x\r\n  - new\r\nb: 1\r\n", id="CRLF"),
        pytest.param("\ufeffa:\n  - x\n", add("a"), "\ufeffa:\n  - x\n  - new\n", id="byte order mark"),
        pytest.param("a:\n  - 'x'\n  - 'y'\n", add("a"), "a:\n  - 'x'\n  - 'y'\n  - 'new'\n", id="quotes of all"),
        pytest.param("a:\n  - 'x'\n  - y\n", add("a"), "a:\n  - 'x'\n  - y\n  - new\n", id="quotes of some"),
        pytest.param("a:\n  - x\n", add("a", text="b: c"), 'a:\n  - x\n  - "b: c"\n', id="quotes where needed"),
        pytest.param("a:\n  - x\n  # end\n", add("a"), "a:\n  - x\n  - new\n  # end\n", id="above a comment"),
        pytest.param("a:\n  - |\n    x\n\n  - y\n", add("a"), "a:\n  - |\n    x\n\n  - y\n  - new\n", id="blocks"),
        pytest.param("a: [x]  # c\n", add("a"), "a: [x, new]  # c\n", id="in brackets"),
        pytest.param("a: []\n", add("a"), "a: [new]\n", id="in empty brackets"),
        pytest.param("a: [x, ]\n", add("a"), "a: [x, new, ]\n", id="before a comma at the end"),
        pytest.param("a: [x,\n    y]\n", add("a"), "a: [x,\n    y, new]\n", id="in several lines"),
        pytest.param("a: [\n  x,\n  y\n]\n", add("a"), "a: [\n  x,\n  y,\n  new\n]\n", id="one a line"),
        pytest.param("a: [\n  x,  # c\n]\n", add("a"), "a: [\n  x,  # c\n  new,\n]\n", id="one a line with commas"),
        pytest.param("a: [\n  x  # c\n]\n", add("a"), "a: [\n  x,  # c\n  new\n]\n", id="a comma before the comment"),
        pytest.param("a: ['x']\n", add("a", text="b, c"), "a: ['x', 'b, c']\n", id="quotes among brackets"),
        pytest.param("a: [x]\n", add("a", text="b, c"), 'a: [x, "b, c"]\n', id="quotes needed among brackets"),
        pytest.param(
            f"a: [{WIDE}, y]  # c\n", add("a", text="n" * 20), f"a:  # c\n  - {WIDE}\n  - y\n  - {'n' * 20}\n",
            id="too long for a line",
        ),
        pytest.param(
            f"a: {{en: [{WIDE}], de: [y]}}  # c\n", add("a", "en", text="n" * 20),
            f"a:  # c\n  en:\n    - {WIDE}\n    - {'n' * 20}\n  de: [y]\n", id="too long, in two brackets",
        ),
        pytest.param(
            f"a: [x,\n  {WIDE}]\n", add("a", text="n" * 20), f"a: [x,\n  {WIDE},\n    {'n' * 20}]\n",
            id="too long in several lines",
        ),
        pytest.param("? a\n: - x\n", add("a"), "? a\n: - x\n  - new\n", id="a key with a question mark"),
        pytest.param("a:\nb:\n- x\n", add("a"), "a:\n- new\nb:\n- x\n", id="a list that is not there yet"),
    ],
)  # fmt: skip
def test_item_is_appended_in_the_style_of_its_neighbours(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("a: 1\n", put(), "a: 1\nk: v\n", id="at the end"),
        pytest.param("a: 1\nb: 2\n", put(number=1), "a: 1\nk: v\nb: 2\n", id="in the middle"),
        pytest.param("# top\n\n# a\na: 1\n", put(number=0), "# top\n\nk: v\n# a\na: 1\n", id="above the first"),
        pytest.param("a:\n    b: 1", put("a", value=["x"]), "a:\n    b: 1\n    k:\n        - x", id="as deep"),
        pytest.param("a:\n  b: [x]\n", put("a", value=["z"]), "a:\n  b: [x]\n  k: [z]\n", id="as short as others"),
        pytest.param("a:\n  b: [x]\n", put("a", value=[WIDE] * 2), f"a:\n  b: [x]\n  k:\n    - {WIDE}\n    - {WIDE}\n"),
        pytest.param("a: {b: [x]}\n", put("a", value=["z"]), "a: {b: [x], k: [z]}\n", id="in brackets"),
        pytest.param("a: {}\n", put("a"), "a: {k: v}\n", id="in empty brackets"),
        pytest.param(f"a: {{b: {WIDE}}}\n", put("a", value=WIDE), f"a:\n  b: {WIDE}\n  k: {WIDE}\n", id="too long"),
        pytest.param("a:\nb: 1\n", put("a", value={"x": ["z"]}), "a:\n  k:\n    x:\n      - z\nb: 1\n", id="below it"),
        pytest.param("a:\n  b: 1\n\n  c: 2\n", put("a"), "a:\n  b: 1\n\n  c: 2\n\n  k: v\n", id="blank lines between"),
        pytest.param(
            "a:\n  b:\n    - x\n    # - y\n# c\n", put("a"), "a:\n  b:\n    - x\n    # - y\n  k: v\n# c\n",
            id="below the comments of the last",
        ),
        pytest.param("a:\n- b: [1]\n", put(name="yes", value=["no"]), 'a:\n- b: [1]\n"yes":\n- "no"\n', id="quotes"),
    ],
)  # fmt: skip
def test_key_is_added_with_the_indentation_of_its_neighbours(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


def test_first_key_is_added_below_comments() -> None:
    empty, only_comments = Document("f.yaml", ""), Document("f.yaml", "# c")

    assert empty.with_entry(None, "k", {"a": ["b"]}).text == "k:\n  a:\n    - b\n"
    assert only_comments.with_entry(None, "k", "v").text == "# c\nk: v"


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("a:\n  # 1\n  - x  # 2\n  # 3\n  - y\n", drop("a", 0), "a:\n  # 1\n  # 3\n  - y\n", id="in lines"),
        pytest.param("a:\n  - x\n  - y", drop("a", 1), "a:\n  - x", id="the last without a line ending"),
        pytest.param("a:\r\n  - x\r\n  - y", drop("a", 1), "a:\r\n  - x", id="the last without a CRLF"),
        pytest.param("a:\n  - |\n    x\n    y\n  - z\n", drop("a", 0), "a:\n  - z\n", id="a block"),
        pytest.param("a:\n  - x\n    y\n  - z\n", drop("a", 0), "a:\n  - z\n", id="over two lines"),
        pytest.param("a:\n  -\n    x\n  - z\n", drop("a", 0), "a:\n  - z\n", id="below its dash"),
        pytest.param("a: [x, y, z]\n", drop("a", 0), "a: [y, z]\n", id="first in brackets"),
        pytest.param("a: [x, y, z]\n", drop("a", 1), "a: [x, z]\n", id="second in brackets"),
        pytest.param("a: [x, y, z]\n", drop("a", 2), "a: [x, y]\n", id="last in brackets"),
        pytest.param("a: [x, y, ]\n", drop("a", 1), "a: [x, ]\n", id="before a comma at the end"),
        pytest.param("a: [x,  # c\n    y]\n", drop("a", 0), "a: [  # c\n    y]\n", id="a comment about all stays"),
        pytest.param("a: [x,  # c\n    y]\n", drop("a", 1), "a: [x,  # c\n    ]\n", id="a comment about another stays"),
        pytest.param("a: [x,\n    y]\n", drop("a", 1), "a: [x]\n", id="a line of its own but for the bracket"),
        pytest.param("a: [\n  x,  # 1\n  y,  # 2\n]\n", drop("a", 0), "a: [\n  y,  # 2\n]\n", id="one a line"),
        pytest.param("a: [\n  x,\n  y  # 2\n]\n", drop("a", 1), "a: [\n  x,\n]\n", id="last of one a line"),
        pytest.param("a: {en: [x], de: [y]}\n", drop("a", "en", 0), "a: {de: [y]}\n", id="what is left empty"),
        pytest.param("a:\n  en: [x]\n  de: [y]\n", drop("a", "en", 0), "a:\n  de: [y]\n", id="also in lines"),
        pytest.param("a: {b: [x]}\n", drop("a", "b", 0, within=("a", "b")), "a: {b: []}\n", id="not further"),
        pytest.param("a:\n- &x b\n- c\n", drop("a", 0), "a:\n- c\n", id="an anchor that nobody uses"),
        pytest.param("b: &x c\na:\n- *x\n- d\n", drop("a", 0), "b: &x c\na:\n- d\n", id="an alias"),
    ],
)
def test_item_is_removed_with_its_comment_but_not_those_above(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("# 1\na: 1  # 2\n# 3\nb: 2\n", drop_key("a"), "# 1\n# 3\nb: 2\n", id="comments above stay"),
        pytest.param("# 0\n\n# 1\na: 1\nb: 2\n", drop_key("a", comments=True), "# 0\n\nb: 2\n", id="comments above go"),
        pytest.param(
            "b: 2\r\n# 1\r\na: 1\r\n", drop_key("a", comments=True), "b: 2\r\n", id="comments above with CRLF"
        ),
        pytest.param("x:\n  # 1\n# 2\n  a: 1\n  b: 2\n", drop_key("x", "a", comments=True), "x:\n  # 1\n# 2\n  b: 2\n"),
        pytest.param("x:\n  a:\n    - 1\n  b: 2\n", drop_key("x", "a"), "x:\n  b: 2\n", id="all below it"),
        pytest.param("x:\n  a: 1\ny: 2\n", drop_key("x", "a", within=("x",)), "x:\ny: 2\n", id="the only one"),
        pytest.param("x: {a: 1}\n", drop_key("x", "a", within=("x",)), "x: {}\n", id="the only one in brackets"),
        pytest.param("x: {a: 1, b: {c: 2}}\n", drop_key("x", "b"), "x: {a: 1}\n", id="in brackets"),
    ],
)
def test_key_is_removed_with_its_value_and_optional_comments_above(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("a: x  # c\n", text("a"), "a: new  # c\n", id="plain"),
        pytest.param("a: 'x'\n", text("a", new="it's"), "a: 'it''s'\n", id="single quotes"),
        pytest.param('a: "x"\n', text("a", new='"'), 'a: "\\""\n', id="double quotes"),
        pytest.param("a: &b !!str x\n", text("a"), "a: &b !!str new\n", id="anchor and tag"),
        pytest.param("a:\nb: 1\n", text("a"), "a: new\nb: 1\n", id="empty"),
        pytest.param("a: [x, y]\n", text("a", 0, new="b, c"), 'a: ["b, c", y]\n', id="among brackets"),
        pytest.param("a: x\n", text("a", new="x"), "a: x\n", id="the same"),
        pytest.param("a: x\n", lambda d: d.with_text(key(d, "a"), "b: c"), '"b: c": x\n', id="a key"),
        pytest.param("{a: x}\n", lambda d: d.with_text(key(d, "a"), "b, c"), '{"b, c": x}\n', id="a key in brackets"),
    ],
)
def test_replaced_text_keeps_its_quotes(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param("a:\n  - x\n", note("a", 0), "a:\n  - x  # new\n", id="none before"),
        pytest.param("a:\n  - x # old\n", note("a", 0), "a:\n  - x  # new\n", id="in place of another"),
        pytest.param("a:\n  - x # old\n", note("a", 0, comment=""), "a:\n  - x\n", id="gone"),
        pytest.param("a: [x, y]  # c\n", note("a", 0), "a:  # c\n  - x  # new\n  - y\n", id="brackets are opened"),
        pytest.param("a: {b: [x]}\n", note("a", "b", 0), "a:\n  b:\n    - x  # new\n", id="all of them"),
    ],
)
def test_comment_is_written_beside_and_opens_brackets(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        pytest.param(
            "a:  # 1\n  # 2\n  - x  # 3\n\n  - y\nb: 1\n", nest("a"),
            "a:  # 1\n  en:\n    # 2\n    - x  # 3\n\n    - y\nb: 1\n", id="in lines",
        ),
        pytest.param("a:\n- x\n- y\n", nest("a"), "a:\n  en:\n  - x\n  - y\n", id="dashes below the key"),
        pytest.param("a:\n  - |\n    x\n     y\n", nest("a"), "a:\n  en:\n    - |\n      x\n       y\n", id="a block"),
        pytest.param("a: [x]  # c\n", nest("a"), "a:\n  en: [x]  # c\n", id="in brackets"),
        pytest.param("{a: [x]}\n", nest("a"), "{a: {en: [x]}}\n", id="all in brackets"),
        pytest.param("b:\n    c:\n        - x\na: [y]\n", nest("a"), "b:\n    c:\n        - x\na:\n    en: [y]\n"),
        pytest.param("a:\r\n- x", nest("a"), "a:\r\n  en:\r\n  - x", id="CRLF"),
    ],
)  # fmt: skip
def test_nested_moves_a_list_below_a_new_key(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "message"),
    [
        ("a: &x [y]\nb: *x\n", add("a"), r"f\.yaml:1 cannot be edited automatically: .* used as \*x at f\.yaml:2"),
        ("a: &x [y]\nb: *x\n", add("b"), r"f\.yaml:2 .*the alias \*x of the value at f\.yaml:1"),
        ("a: &x\n  b: [y]\nc: *x\n", add("a", "b"), r"it is also used as \*x at f\.yaml:3"),
        ("a: [&x y, z]\nb: *x\n", drop("a", 0), r"f\.yaml:1 .*it is also used as \*x at f\.yaml:2"),
        ("a: {b: &x y, c: z}\nd: *x\n", drop_key("a", "b"), r"it is also used as \*x at f\.yaml:2"),
        ("a: text\n", add("a"), "it is not a list"),
        ("a: {b: c}\n", add("a"), "it is not a list"),
        ("a: text\n", put("a"), "it is not a mapping"),
        ("- a\n", put(), "it is not a mapping"),
        ("a: |\n  x\n", text("a"), "it is not a text on one line"),
        ("a: [x,\n  y]\n", note("a", 0), "the brackets leave no place for the comment '# new'"),
        ("[[x]]\n", note(0, 0), "leave no place for the comment"),
        ("a:\n- - x\n  - y\n", drop("a", 0, 0), "it shares its line with another value"),
        ("? a\n: b\n? c\n: d\n", drop_key("a"), "shares its line"),
        ("a:\n  - |+\n    x\n\n", add("a"), "Edit it by hand"),
        ("a: [x, y]\nb: &c d\ne:\n  - *c\n", add("e", text="\ud800"), "a lone surrogate"),
    ],
)  # fmt: skip
def test_impossible_edits_are_refused_with_location_and_reason(before: str, edit: Edit, message: str) -> None:
    with pytest.raises(InputError, match=message):
        after(before, edit)
