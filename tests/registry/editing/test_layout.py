"""Layout of a YAML text: the span, style and content of every part."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.registry.editing.layout import WrittenNode, bare, dash, layout
from intentmatch.registry.reading import nodes

DATA = Path(__file__).parents[1] / "data"
SHIPPED = Path(__file__).parents[3] / "intents"
FILES = sorted([*DATA.glob("valid/*.yaml"), *SHIPPED.glob("*.yaml")])


def body(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig")


def as_nodes(part: WrittenNode) -> object:
    """Return the content of a part with aliases resolved."""
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
def test_layout_has_the_content_that_the_reader_reads(file: Path) -> None:
    text = body(file)
    root, node = layout(text), nodes.parse(text, "")

    assert root is not None
    assert node is not None
    assert as_nodes(root) == read(node)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_parts_have_exact_nested_spans(file: Path) -> None:
    """A part parsed alone has the same content."""
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


def test_empty_text_has_no_root() -> None:
    assert layout("") is None
    assert layout("# only this\n") is None


@pytest.mark.parametrize("text", ["a: *b", "[", "\t- a", "a: 'b"])
def test_invalid_yaml_raises_yaml_error(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        layout(text)


def test_dash_is_found_behind_comments_and_anchors() -> None:
    text = "a: &my-list  # a - b\n  - &x-y one - two\n  # - c\n  -   # - d\n    - nested\n  -\n"
    root = layout(text)
    items = root.get("a") if root else None
    assert items is not None

    lines = [text.count("\n", 0, dash(text, items, number)) for number in range(3)]

    assert lines == [1, 3, 5]
    assert items.items[2].is_empty
    assert (items.anchor, items.items[0].anchor) == ("my-list", "x-y")


def test_empty_value_is_located_behind_its_colon() -> None:
    """PyYAML locates it at the closing bracket."""
    for text in ("a:\nb: 1\n", "{a:  , b: 1}", "{b: 1, a:  }"):
        root = layout(text)
        value = root.get("a") if root else None
        assert value is not None
        assert value.is_empty
        assert text[: value.end].endswith("a:")
