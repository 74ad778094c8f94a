"""Standard layout: formatting is idempotent, and keeps every comment and text."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.core.errors import InputError
from intentmatch.registry import examine
from intentmatch.registry.editing import formatting
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.formatting import Format, formatted
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.reading.comments import comments

CASES = yaml.safe_load(Path(__file__).with_name("formatting.yaml").read_text(encoding="utf-8"))
DATA = Path(__file__).parents[1] / "data"
SHIPPED = Path(__file__).parents[3] / "intents"
FILES = sorted([*DATA.glob("valid/*.yaml"), *SHIPPED.glob("*.yaml")])


def neat(text: str) -> str:
    return formatted(Document("f.yaml", text)).text


@pytest.mark.parametrize(("before", "after"), [tuple(case.values()) for case in CASES.values()], ids=CASES)
def test_layout_rules_and_idempotence(before: str, after: str) -> None:
    assert neat(before) == after
    assert neat(after) == after


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_formatting_keeps_registry_problems_and_comments(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / file.name
    copy.write_bytes(file.read_bytes())
    before, problems = examine(copy)
    text = file.read_text(encoding="utf-8")

    changes = plan(copy, [Format()])
    changes.write()

    after, found = examine(copy)
    assert after.fingerprint == before.fingerprint
    assert [intent.metadata for intent in after] == [intent.metadata for intent in before]
    assert [(c.text, c.expected, c.language) for c in after.tests] == [
        (c.text, c.expected, c.language) for c in before.tests
    ]
    assert [problem.rule for problem in found] == [problem.rule for problem in problems]
    assert [note.text for note in comments(copy.read_text(encoding="utf-8"))] == [c.text for c in comments(text)]
    assert plan(copy, [Format()]).files == ()


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_files_are_formatted(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert neat(text) == text


@pytest.mark.parametrize("text", ["x # y", "x: y: z", "*x"])
def test_formatting_refuses_to_change_content(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(formatting, "is_plain", lambda _text, _place="line": True)

    with pytest.raises(InputError, match=r"f\.yaml cannot be formatted without changing its content"):
        neat(f"a: '{text}'\n")


# Strategies for any YAML in any style.


@st.composite
def values(draw: st.DrawFn, column: int, depth: int, *, in_list: bool) -> str:
    """Draw a value after a colon or a dash, to the end of its last line."""
    kind = draw(st.sampled_from(["text", "text", "flow", "block", "block"] if depth < 3 else ["text", "flow"]))
    beside = draw(st.sampled_from(["", "", "  # beside", " # b"]))
    if kind == "flow":
        return " " + draw(flows(0)) + beside + "\n"
    if kind == "block":
        inner = column + draw(st.sampled_from([1, 2, 4]))
        below = draw(blocks(inner, depth + 1))
        compact = in_list and below.startswith(" " * inner) and not below.lstrip().startswith("#")
        if compact and draw(st.booleans()):
            return " " * (inner - column - 1) + below[inner:]
        return beside + "\n" + below
    margin = " " * (column + 1)
    text = draw(st.sampled_from(TEXTS)).replace("~", margin)
    return f" {text}\n" if text[:1] in ("|", ">") else f" {text}{beside}\n"


TEXTS = [
    "a", "b c", "it's", "'q'", '"d"', "'it''s'", "yes", '"yes"', '""', "x:y", "", "+1", "1e999", "two\n~ lines",
    '"two\n~lines"', "'two\n\n~ lines'", '"one \\\n~ line"', '"\\u00a0"', "|\n~ block\n~   more", "|-\n~ block",
    ">+\n~ block\n\n", "|1\n~ block", "!!str t", "no",
]  # fmt: skip


@st.composite
def flows(draw: st.DrawFn, depth: int) -> str:
    """Draw a list or mapping in brackets."""
    kind = draw(st.sampled_from(["text", "list", "mapping"])) if depth < 2 else "text"
    if kind == "text":
        return draw(st.sampled_from(["a", "b c", "'q'", '"d, e"', "1", '"two\n   lines"']))
    inner = draw(st.lists(flows(depth + 1), max_size=3))
    between = draw(st.sampled_from([", ", " ,  ", ",\n      ", ", # among\n       "]))
    if kind == "list":
        return "[" + between.join(inner) + draw(st.sampled_from(["", ", "] if inner else [""])) + "]"
    return "{" + between.join(f"k{number}: {one}" for number, one in enumerate(inner)) + "}"


@st.composite
def blocks(draw: st.DrawFn, column: int = 0, depth: int = 0) -> str:
    """Draw a block list or mapping with comments and blank lines."""
    text, in_list = "", draw(st.booleans())
    for number in range(draw(st.integers(1, 3))):
        deep = max(0, column + draw(st.sampled_from([0, 0, 2, -2])))
        text += draw(st.sampled_from(["", "", "", "\n", "\n\n", " " * deep + "# above\n"]))
        head = "-" if in_list else draw(st.sampled_from(["k{}:", "'k {}':", "k{} :"])).format(number)
        text += " " * column + head + draw(values(column, depth, in_list=in_list))
    return text


@settings(max_examples=300)
@given(
    st.sampled_from(["", "", "---\n", "# top\n\n", "%YAML 1.1\n---\n"]),
    blocks(),
    st.sampled_from(["", "", "# end", "...\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_formatting_any_yaml_is_idempotent(head: str, block: str, end: str, ending: str) -> None:
    """`formatted` itself verifies that nothing is lost."""
    text = (head + block + end).replace("\n", ending)
    try:
        before = Document("f.yaml", text)
    except yaml.YAMLError:
        return

    once = formatted(before)

    assert formatted(once).text == once.text
    assert not any(line.startswith("\t") for line in once.text.splitlines())
