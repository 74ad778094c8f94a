"""The JSON Schema for editors accepts and rejects the same structures as the grammar."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from intentmatch.core.settings import PARSERS
from intentmatch.registry.reading import grammar, nodes, slot_grammar
from intentmatch.registry.reading.schema import schema
from intentmatch.registry.templates.syntax import is_name

DATA = Path(__file__).parents[1] / "data"
SHIPPED = Path(__file__).parents[3] / "intents"
# Rules that the schema covers; the others concern names, texts, other files, or YAML syntax.
STRUCTURAL = {
    "unknown-key",
    "wrong-type",
    "version",
    "language-code",
    "incomplete-test",
    "wrong-indentation",
    "foreign-file",
}
VALIDATOR = Draft7Validator(schema())


def plain(node: nodes.Node | None) -> Any:
    """Convert a node as an editor's YAML 1.2 parser does: `no` is a text and 12 a number."""
    if isinstance(node, nodes.Mapping):
        return {plain(key) if isinstance(key, nodes.Scalar) else "?": plain(value) for key, value in node.entries}
    if isinstance(node, nodes.Sequence):
        return [plain(item) for item in node.items]
    if node is None or (node.plain and node.text in ("", "~", "null")):
        return None
    literal = node.plain and re.fullmatch(r"true|false|-?(0|[1-9]\d{0,9})(\.\d+)?", node.text)
    return json.loads(node.text) if literal else node.text


def read(file: Path) -> Any:
    return plain(nodes.parse(file.read_text(encoding="utf-8"), str(file)))


def places(file: Path) -> list[str]:
    """Return the key paths of schema violations."""
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(read(file))]


def rules(file: Path) -> set[str]:
    first_line = file.read_text(encoding="utf-8").partition("\n")[0]
    return {problem.split()[1] for problem in first_line.removeprefix("# expect: ").split("; ")}


INVALID = [file for file in sorted(DATA.glob("invalid/*.yaml")) if not rules(file) & {"yaml-syntax", "alias-expansion"}]
WRONG = [file for file in INVALID if rules(file) & STRUCTURAL]
MEANT = {"bad-name", "bad-slot", "setting", "threshold", "duplicate-key"} | STRUCTURAL
RIGHT = [file for file in INVALID if not rules(file) & MEANT]


def test_schema_is_valid_draft_7():
    Draft7Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()


@pytest.mark.parametrize("file", [*DATA.glob("valid/*.yaml"), *SHIPPED.rglob("*.yaml")], ids=lambda file: file.stem)
def test_valid_files_satisfy_the_schema(file: Path):
    assert places(file) == []


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_structural_errors_violate_the_schema(file: Path):
    assert places(file)


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: file.stem)
def test_non_structural_errors_satisfy_the_schema(file: Path):
    assert places(file) == []


def test_schema_has_exactly_the_grammar_keys_with_descriptions():
    file = schema()
    intent = file["properties"]["intents"]["allOf"][0]["additionalProperties"]
    test = file["properties"]["tests"]["allOf"][0]["items"]
    slot = file["definitions"]["slots"]["additionalProperties"]
    settings = file["properties"]["settings"]["allOf"][0]

    for known, keys in [
        (file, grammar.FILE_KEYS),
        (intent, grammar.INTENT_KEYS),
        (test, grammar.TEST_KEYS),
        (slot, slot_grammar.SLOT_KEYS),
    ]:
        assert tuple(known["properties"]) == keys
        assert not known["additionalProperties"]
        assert all(value["description"].endswith(".") for value in known["properties"].values())
    assert all(kind in slot["properties"]["type"]["description"] for kind in slot_grammar.KINDS)
    assert set(settings["properties"]) == set(PARSERS)
    assert slot["properties"]["type"]["allOf"][0]["enum"] == list(slot_grammar.KINDS)


@pytest.mark.parametrize(
    "name", ["day", "order_number", "straße", "日付", "_x", "a.b-c", "3", "two words", "a=b", "-a"]
)
def test_schema_accepts_the_names_that_templates_accept(name: str):
    found = list(VALIDATOR.iter_errors({"rules": {name: "x"}, "slots": {name: {"type": "any"}}}))

    assert len(found) == (0 if is_name(name) else 2)


@pytest.mark.parametrize(
    ("spelling", "problems"),
    [({"en": {"gr8": "great"}, "default": {}}, 0), ({"en": "gr8"}, 1), ({"en": {"gr8": ["great"]}}, 1)],
)
def test_schema_describes_the_shorthand_of_an_author(spelling: object, problems: int):
    assert len(list(VALIDATOR.iter_errors({"settings": {"spelling": spelling}}))) == problems


@pytest.mark.parametrize(
    ("fallback", "problems"),
    [("Sorry?", 0), (["A?", "B?"], 0), ({"en": ["A?"], "default": "B?"}, 0), ({"english": "x"}, 1), ([[]], 1)],
)
def test_schema_describes_the_texts_of_the_fallback(fallback: object, problems: int):
    assert len(list(VALIDATOR.iter_errors({"settings": {"fallback": fallback}}))) == problems
