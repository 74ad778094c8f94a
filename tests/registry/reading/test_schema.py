"""The JSON Schema for editors: it knows what the grammar knows, and no more."""

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
# Rules of which the schema says the same; the others are about names, texts, other files, or YAML itself.
STRUCTURAL = {"unknown-key", "wrong-type", "version", "language-code", "incomplete-test"}
VALIDATOR = Draft7Validator(schema())


def plain(node: nodes.Node | None) -> Any:
    """A node as an editor's YAML reader gives it: of YAML 1.2, in which `no` is a text and 12 a number."""
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
    """Where the schema finds fault, as a path of keys."""
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(read(file))]


def rules(file: Path) -> set[str]:
    first_line = file.read_text(encoding="utf-8").partition("\n")[0]
    return {problem.split()[1] for problem in first_line.removeprefix("# expect: ").split("; ")}


INVALID = [file for file in sorted(DATA.glob("invalid/*.yaml")) if not rules(file) & {"yaml-syntax", "alias-expansion"}]
WRONG = [file for file in INVALID if rules(file) & STRUCTURAL]
MEANT = {"bad-name", "bad-slot", "setting", "threshold", "duplicate-key"} | STRUCTURAL
RIGHT = [file for file in INVALID if not rules(file) & MEANT]


def test_it_is_a_schema():
    """By the rules of its own draft."""
    Draft7Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()


@pytest.mark.parametrize("file", [*DATA.glob("valid/*.yaml"), *SHIPPED.rglob("*.yaml")], ids=lambda file: file.stem)
def test_what_reads_without_a_problem_is_valid(file: Path):
    """All of our own files, and the intents that are shipped."""
    assert places(file) == []


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_what_is_built_wrongly_is_invalid(file: Path):
    """Keys that are not known, lists for texts, and whatever else has another form."""
    assert places(file)


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: file.stem)
def test_what_is_built_rightly_and_wrong_is_valid(file: Path):
    """Duplicates, names that are not there: not for a schema to say."""
    assert places(file) == []


def test_it_knows_the_keys_of_the_grammar():
    """No more and no fewer, each with something to show for it."""
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
    assert set(settings["properties"]) == set(PARSERS)
    assert slot["properties"]["type"]["allOf"][0]["enum"] == list(slot_grammar.KINDS)


@pytest.mark.parametrize(
    "name", ["day", "order_number", "straße", "日付", "_x", "a.b-c", "3", "two words", "a=b", "-a"]
)
def test_it_knows_what_a_name_is(name: str):
    """As templates do."""
    found = list(VALIDATOR.iter_errors({"rules": {name: "x"}, "slots": {name: {"type": "any"}}}))

    assert len(found) == (0 if is_name(name) else 2)
