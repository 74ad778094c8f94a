"""Many list items are removed at once; comments, anchors and whole lists stay."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from intentmatch.core.errors import Location
from intentmatch.registry import read_registry
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.removal import RemoveItems


def without(folder: Path, text: str, *places: tuple[int, int], file: str = "bot.yaml") -> str:
    """Return a file without the items at these places."""
    path = folder / file
    path.write_bytes(text.encode())
    changes = plan(folder, [RemoveItems(frozenset(Location(str(path), *place) for place in places))])
    return next((change.new for change in changes.files), text)


BLOCK = "intents:\n  a:\n    utterances:\n      # one of them\n      - one\n      - two\n      # last\n      - three\n"


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ([(5, 9)], ["two", "three"]),
        ([(6, 9)], ["one", "three"]),
        ([(5, 9), (8, 9)], ["two"]),
        ([(8, 9), (6, 9)], ["one"]),
        ([(5, 8), (5, 10), (1, 1), (3, 5), (99, 9)], ["one", "two", "three"]),
        ([], ["one", "two", "three"]),
    ],
)
def test_exactly_the_items_at_the_places_go(tmp_path: Path, places, left):
    """Comments on lines of their own stay."""
    new = without(tmp_path, BLOCK, *places)

    assert [line.text for line in _utterances(tmp_path, new)] == left
    assert ("# one of them" in new, "# last" in new) == (True, True)


def _utterances(folder: Path, text: str):
    (folder / "bot.yaml").write_text(text, encoding="utf-8")
    return read_registry(folder).utterances


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ([(1, 33)], "[one, three, four]"),
        ([(1, 28)], "[two, three, four]"),
        ([(1, 45)], "[one, two, three]"),
        ([(1, 28), (1, 33), (1, 38)], "[four]"),
        ([(1, 38), (1, 45)], "[one, two]"),
    ],
)
def test_items_in_brackets_go_with_their_commas(tmp_path: Path, places, left):
    text = "intents: {{a: {{utterances: {}}}}}"

    assert without(tmp_path, text.format("[one, two, three, four]"), *places) == text.format(left)


def test_list_that_would_be_empty_goes_with_its_key(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("intents: {a: {utterances: {en: [one, two]}}}", encoding="utf-8")
    german = "      de:\n        - eins\n"
    text = f"intents:\n  a:\n    title: A\n    utterances:\n      en:\n        - one\n        - two\n{german}"

    assert without(tmp_path, text, (6, 11), (7, 11)) == (f"intents:\n  a:\n    title: A\n    utterances:\n{german}")


def test_list_in_brackets_that_would_be_empty_goes_with_its_key(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("intents: {a: {utterances: {en: [one, two]}}}", encoding="utf-8")
    text = "intents:\n  a:\n    title: A\n    utterances: {en: [one, two]}\n"

    assert without(tmp_path, text, (4, 23), (4, 28)) == "intents:\n  a:\n    title: A\n"


def test_list_of_no_intent_keeps_its_first_item(tmp_path: Path):
    text = "slots:\n  c: {values: {x: [one, two]}}\nintents:\n  a: {utterances: [hi]}\n"

    assert without(tmp_path, text, (2, 20), (2, 25)) == text.replace("[one, two]", "[one]")


@pytest.mark.parametrize(
    "text",
    [
        "intents: {a: {utterances: \n  [one, &x two], not: [*x]}}",
        "intents:\n  a:\n    utterances: &all\n      - one\n      - two\n  b: {not: *all, utterances: [x]}",
        "intents:\n  a:\n    utterances:\n      - one\n      - two  # a reason\n",
        "intents:\n  a:\n    utterances:\n      - one\n      - {x: y}\n",
    ],
    ids=["anchor of an item", "anchor of the list", "comment", "mapping"],
)
def test_item_stays_if_something_would_be_lost(tmp_path: Path, text):
    places = [(line, column) for line in (2, 5) for column in (3, 8, 9)]

    (tmp_path / "bot.yaml").write_text(text, encoding="utf-8")
    assert without(tmp_path, text, *places) in (text, text.replace("[one, &x two]", "[&x two]"))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings_and_byte_order_mark_stay(tmp_path: Path, ending):
    text = "\ufeff" + BLOCK.replace("\n", ending)

    assert without(tmp_path, text, (6, 9)) == text.replace(f"      - two{ending}", "")


def test_thousand_items_go_in_one_step(tmp_path: Path):
    lines = "".join(f"      - line {number}\n" for number in range(3000))
    text = f"intents:\n  a:\n    utterances:\n{lines}"

    started = time.process_time()
    new = without(tmp_path, text, *[(4 + number, 9) for number in range(1000, 2000)])

    assert new.count("\n") == text.count("\n") - 1000
    assert time.process_time() - started < 20.0  # one by one it takes minutes
