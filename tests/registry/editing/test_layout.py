"""The written form of a file: every piece is where it says, and what is in brackets or behind a dash is found."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.registry.editing.layout import Part, bare, dash, layout
from intentmatch.registry.reading import nodes

DATA = Path(__file__).parents[1] / "data"
SHIPPED = Path(__file__).parents[3] / "intents"
FILES = sorted([*DATA.glob("valid/*.yaml"), *SHIPPED.glob("*.yaml")])


def body(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig")


def as_nodes(part: Part) -> object:
    """What is read, aliases looked through."""
    meant = part.resolved
    if meant.kind == "text":
        return meant.text
    if meant.kind == "list":
        return [as_nodes(item) for item in meant.items]
    return [(as_nodes(key), as_nodes(value)) for key, value in meant.entries]


def read(node: nodes.Node) -> object:
    if isinstance(node, nodes.Scalar):
        return node.text
    if isinstance(node, nodes.Sequence):
        return [read(item) for item in node.items]
    return [(read(key), read(value)) for key, value in node.entries]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_read_is_what_the_reader_reads(file: Path) -> None:
    """The same tree, whatever the style."""
    text = body(file)
    root, node = layout(text), nodes.parse(text, "")

    assert root is not None
    assert node is not None
    assert as_nodes(root) == read(node)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_part_is_where_it_says(file: Path) -> None:
    """Read alone, a piece of text gives what its part says; parts are in order and inside each other."""
    text = body(file)
    root = layout(text)
    assert root is not None
    for part in root.walk():
        piece = text[part.start : part.end]
        if part.kind == "alias":
            assert piece == f"*{part.text}"
            continue
        assert piece == piece.strip()
        for before, after in zip(part.children, part.children[1:], strict=False):
            assert part.start <= before.start <= before.end <= after.start <= after.end <= part.end
        inner = text[bare(text, part) : part.end]
        if part.kind == "text" and part.style in ("", "'", '"') and inner:
            assert [scalar.text for scalar in nodes.parse(f"- {inner}", "").items] == [part.text]
        if part.kind == "list" and not part.style:
            assert all(text[dash(text, part, number)] == "-" for number in range(len(part.items)))


def test_nothing_is_no_part() -> None:
    """Comments alone are nothing."""
    assert layout("") is None
    assert layout("# only this\n") is None


@pytest.mark.parametrize("text", ["a: *b", "[", "\t- a", "a: 'b"])
def test_what_is_no_yaml_is_refused(text: str) -> None:
    """An alias of nothing as well."""
    with pytest.raises(yaml.YAMLError):
        layout(text)


def test_a_dash_is_found_among_comments_and_anchors() -> None:
    """Wherever a dash might be taken for it."""
    text = "a: &my-list  # a - b\n  - &x-y one - two\n  # - c\n  -   # - d\n    - nested\n  -\n"
    root = layout(text)
    items = root.get("a") if root else None
    assert items is not None

    lines = [text.count("\n", 0, dash(text, items, number)) for number in range(3)]

    assert lines == [1, 3, 5]
    assert items.items[2].is_empty
    assert (items.anchor, items.items[0].anchor) == ("my-list", "x-y")


def test_what_is_empty_stands_behind_its_colon() -> None:
    """Between brackets too, where YAML's own mark is at the closing one."""
    for text in ("a:\nb: 1\n", "{a:  , b: 1}", "{b: 1, a:  }"):
        root = layout(text)
        value = root.get("a") if root else None
        assert value is not None
        assert value.is_empty
        assert text[: value.end].endswith("a:")
