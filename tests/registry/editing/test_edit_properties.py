"""Property test of edits: an edit changes the content as intended, and no other lines."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.core.errors import InputError
from intentmatch.core.types import Registry, Utterance
from intentmatch.registry import examine
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
)
from intentmatch.registry.editing.layout import WrittenNode
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.templates.syntax import labelled

DATA = sorted((Path(__file__).parents[1] / "data").glob("valid/*.yaml"))
SHIPPED = sorted((Path(__file__).parents[3] / "intents").glob("*.yaml"))


Content = dict[str, Any]
"""Content of a registry without locations."""


def content(registry: Registry) -> Content:
    """Return everything but locations, with lines as written.

    Of the slots only those that an intent declares: it has shared ones for as long as a line of it uses them.
    """
    shared = {slot.name for slot in registry.slots}
    found: Content = {"lines": Counter(), "intents": {}, "rest": (dict(registry.settings), len(registry.slots))}
    for intent in registry:
        for kind, lines in (("utterances", intent.utterances), ("not", intent.negatives)):
            found["lines"].update((kind, intent.name, line.template or line.text, line.language) for line in lines)
        found["intents"][intent.name] = (
            intent.title, intent.description, intent.threshold, dict(intent.responses), dict(intent.metadata),
            [slot.name for slot in intent.slots if slot.name not in shared], intent.when,
        )  # fmt: skip
    found["tests"] = [(case.text, case.expected, case.language) for case in registry.tests]
    return found


def renamed(found: Content, old: str, new: str) -> Content:
    def name(one: Any) -> Any:
        return tuple(map(name, one)) if isinstance(one, tuple) else new if one == old else one

    return {
        "lines": Counter({(k, name(i), t, c): n for (k, i, t, c), n in found["lines"].items()}),
        "intents": {name(intent): rest for intent, rest in found["intents"].items()},
        "tests": [(text, name(expected), language) for text, expected, language in found["tests"]],
        "rest": found["rest"],
    }


def expected_content(found: Content, edit: Edit, language: str | None) -> Content:
    """Apply an edit to the content; a line without a language may be given one."""
    lines, intents = Counter(found["lines"]), dict(found["intents"])
    if isinstance(edit, RenameIntent):
        return renamed(found, edit.old, edit.new)
    if isinstance(edit, AddUtterance):
        lines["not" if edit.negative else "utterances", edit.intent, labelled(edit.text), language] += 1
    elif isinstance(edit, AddIntent):
        lines["utterances", edit.name, labelled(edit.text), language] += 1
        intents[edit.name] = (None, None, None, {}, {}, [], ())
    elif isinstance(edit, RemoveUtterance):
        lines["not" if edit.negative else "utterances", edit.intent, edit.text, edit.language] -= 1
    elif isinstance(edit, MoveUtterance):
        kind = "not" if edit.negative else "utterances"
        lines[kind, edit.source, edit.text, edit.language] -= 1
        lines[kind, edit.to, edit.text, language] += 1
    elif isinstance(edit, RemoveIntent):
        del intents[edit.name]
        lines = Counter({line: count for line, count in lines.items() if line[1] != edit.name})
    return {**found, "lines": +lines, "intents": intents}


TEXTS = ["something else", "no: that", "[a] {b} (c)", 'it\'s "it"', "# x", "12:34", "- ö 👍", "a, b"]


def draw_edit(registry: Registry, draw: Any) -> Edit:
    """Draw any edit with all its fields given."""
    intent = draw(st.sampled_from(registry.intents))
    other = draw(st.sampled_from(registry.intents))
    own: list[tuple[Utterance, bool]] = [(line, False) for line in intent.utterances]
    own += [(line, True) for line in intent.negatives]
    line, negative = draw(st.sampled_from(own))
    authored = line.template or line.text
    text = draw(st.sampled_from(TEXTS))
    language = draw(st.sampled_from([line.language, line.language, "de", "sw"]))
    return draw(
        st.sampled_from(
            [
                AddUtterance(intent.name, text, language, draw(st.booleans())),
                AddIntent("brand new", text, language),
                RemoveUtterance(authored, intent.name, line.language, negative),
                MoveUtterance(authored, other.name, intent.name, line.language, negative),
                RemoveIntent(intent.name),
                RenameIntent(intent.name, draw(st.sampled_from(["other", "true", "a: b", "x y"]))),
            ]
        )
    )


@settings(max_examples=300)
@given(st.data(), st.sampled_from([*DATA, *SHIPPED]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_edit_changes_only_its_own_lines(data: Any, file: Path, ending: str, last: bool) -> None:
    """The registry equals the old one with the edit applied to its values; all other lines remain in order."""
    text = file.read_text(encoding="utf-8").replace("\n", ending)
    text = text if last else text.rstrip("\r\n")
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "f.yaml"
        copy.write_bytes(text.encode("utf-8"))
        before, _ = examine(copy, expand=False)
        edit = draw_edit(before, data.draw)
        try:
            changes = plan(copy, [edit])
        except InputError:
            # Anchors, a moved line that is there already, a name that is not: all of it among the data files alone.
            assert file in DATA or isinstance(edit, MoveUtterance)
            return
        (change,) = changes.files
        change.path.write_bytes(change.new.encode("utf-8"))
        after, found = examine(copy, expand=False)
        new = content(after)["lines"] - content(before)["lines"]
        language = getattr(edit, "language", None) or next((line[3] for line in new), None)
        assert content(after) == expected_content(content(before), edit, language)
        if not any(problem.severity == "error" for problem in found):
            assert not changes.errors
        assert not set(change.new.replace(ending, "")) & set("\r\n")
        assert_other_lines_unchanged(text, change.new, edit)


def editable_lines(document: Document, edit: Edit) -> set[int]:
    """Return the 0-based lines that an edit may change."""
    intents = document.root.get("intents")
    if isinstance(edit, RenameIntent):
        return {number for number, line in enumerate(document.body.splitlines()) if edit.old.strip() in line}
    if isinstance(edit, AddIntent):
        return line_range(document, intents, intents) if intents.style else set()
    found: set[int] = set()
    names = {getattr(edit, name, None) for name in ("intent", "source", "to", "name")}
    for name, value in intents.entries:
        if name.text.strip() in names and isinstance(edit, RemoveIntent):
            found |= line_range(document, name, value)
        for key, lines in value.entries if name.text.strip() in names else ():
            found |= line_range(document, key, lines) if key.text in ("utterances", "not") else set()
    return found


def line_range(document: Document, first: WrittenNode, last: WrittenNode) -> set[int]:
    start, end = document.body.count("\n", 0, first.start), document.body.count("\n", 0, last.end)
    while start and document.body.splitlines()[start - 1].lstrip().startswith("#"):
        start -= 1
    return set(range(start, end + 1))


def assert_other_lines_unchanged(old: str, new: str, edit: Edit) -> None:
    """Check that all other lines are still there, in the same order."""
    allowed = editable_lines(Document("", old), edit)
    was, now = (text.replace("\r\n", "\n").split("\n") for text in (old, new))
    rest = iter(now)
    for number, line in enumerate(was):
        assert number in allowed or line in rest, line
    assert len(now) - len(was) <= 6
