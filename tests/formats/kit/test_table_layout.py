"""Tests for guessing the layout of a table from its content."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import Location
from intentmatch.formats.kit.table_layout import TableRow, as_one_intent, by_column, guess, name_of


def rows(text: str, path: str = "shop/faq.csv") -> list[TableRow]:
    """A row for each line, with cells at each `|`; an empty line is an empty row."""
    return [TableRow(line.split("|") if line else [], Location(path, n)) for n, line in enumerate(text.splitlines(), 1)]


def lines(text: str, path: str = "shop/faq.csv") -> list[tuple[str, str]]:
    """The guessed pairs of intent and message."""
    found = guess(rows(text, path))
    assert found is not None
    return [(line.intent, line.text) for line in found.lines]


LABELLED = [
    ("where is my order", "order_status"),
    ("how long will it take", "order_status"),
    ("hi", "greet"),
]


@pytest.mark.parametrize("header", ["", "Nachricht|Thema\n"])
@pytest.mark.parametrize("swapped", [False, True])
def test_messages_beside_repeated_intents_are_told_apart(header: str, swapped: bool) -> None:
    """In either order, with or without a header; the sentence says which columns were taken."""
    text = header + "\n".join("|".join(pair) for pair in [*LABELLED, ("hello", "greet")])
    if swapped:
        text = "\n".join("|".join(reversed(line.split("|"))) for line in text.splitlines())
    found = guess(rows(text))

    assert found is not None
    assert [(line.text, line.intent) for line in found.lines] == [*LABELLED, ("hello", "greet")]
    assert found.lines[0].place == Location("shop/faq.csv", 2 if header else 1)
    columns = ("column 2", "column 1") if swapped else ("column 1", "column 2")
    names = (" ('Nachricht')", " ('Thema')") if header else ("", "")
    assert f"text is {columns[0]}{names[0]}, intent is {columns[1]}{names[1]}" in found.taken
    assert ("the first row is read as their header" in found.taken) == bool(header)


def test_empty_cells_are_kept_for_the_report() -> None:
    """Of a few rows without a message or an intent."""
    assert lines("where is it|status\nhow long|status\n|greet\nhi|greet\nhello|") == [
        ("status", "where is it"),
        ("status", "how long"),
        ("greet", ""),
        ("greet", "hi"),
        ("", "hello"),
    ]


def test_intents_that_occur_once_are_told_by_their_form() -> None:
    assert lines("Frage|Thema\nWo ist mein Paket?|versand\nKann ich das zurückgeben?|retoure") == [
        ("versand", "Wo ist mein Paket?"),
        ("retoure", "Kann ich das zurückgeben?"),
    ]


def test_first_message_is_no_header() -> None:
    """A sentence, or a label in the form of the others."""
    assert len(lines("Where is it?|one\nhow far is it|two\nhow long|two")) == 3
    assert len(lines("hi|greet_user\nhow far is it|order_status\nhow long is it|order_status")) == 3


def test_numbers_and_languages_are_no_intents() -> None:
    """A column of them is named as not imported."""
    found = guess(rows("1|where is it|a|en\n2|wo ist es|a|de\n3|hello you|b|en\n4|hallo du|b|de"))

    assert found is not None
    assert [line.intent for line in found.lines] == ["a", "a", "b", "b"]
    assert found.taken.endswith("not imported: column 1, 4")


@pytest.mark.parametrize(
    "text",
    [
        "order_status|greet\nwhere is it|hi\nhow long does it take|",
        "order_status|greet|leave\nwhere is it|hi|bye\nhow long does it take|hello|see you",
    ],
)
def test_names_on_top_make_each_column_an_intent(text: str) -> None:
    """Columns of unequal length, or names that are no messages."""
    found = lines(text)

    assert found[:2] == [("order_status", "where is it"), ("greet", "hi")]
    assert ("order_status", "how long does it take") in found


@pytest.mark.parametrize(
    "text",
    [
        "one|two\nx|y",
        "one|two\nwhere is it|how long\nwho are you|what now",
        "name|price\napple pie|3.50\nplum cake|4\n|5",
        "Where is it?|Hello there!\nhow long|hi\nwhere|",
        "same|Same\nhow long is it|hi\nwhere is it|",
        "one|two|three",
        "a_b|c_d|e_f\nhow long|hi|",
        "how long|order_status|\nwhere is it||yes\nwhere is it|greet|\nhi||yes\nhi||yes",
    ],
)
def test_table_with_several_meanings_is_not_guessed(text: str) -> None:
    """Nor a table of numbers, of sentences on top, of a header alone, or with an empty column."""
    assert guess(rows(text)) is None


def test_by_column_takes_any_names() -> None:
    found = by_column(rows("one|two\nwhere is it|hello\n|hi"))

    assert found is not None
    assert [(line.intent, line.text) for line in found.lines] == [
        ("one", "where is it"),
        ("two", "hello"),
        ("two", "hi"),
    ]
    assert found.taken == "each column is read as an intent: one, two"
    assert by_column(rows("one|two")) is None
    assert by_column([]) is None


def test_by_column_keeps_messages_without_a_name() -> None:
    """The reader reports them."""
    found = by_column(rows("one|\nwhere is it|hello"))

    assert found is not None
    assert [(line.intent, line.text) for line in found.lines] == [("one", "where is it"), ("", "hello")]


@pytest.mark.parametrize(
    ("text", "names", "messages"),
    [
        ("greet:\nhi\nhello\n\nleave:\nbye", ["greet", "leave"], 3),
        ("order_status\nwhere is it\n\nleave\nbye", ["order_status", "leave"], 2),
        ("where is it\nhow long\n\n\nhi\nhello\n", ["where_is_it", "hi"], 4),
    ],
)
def test_groups_of_one_column_are_intents(text: str, names: list[str], messages: int) -> None:
    """The first row of a group is its name, or a message that gives the name."""
    found = lines(text)

    assert list(dict.fromkeys(intent for intent, _ in found)) == names
    assert len(found) == messages


def test_groups_that_repeat_their_first_row_are_questions_with_answers() -> None:
    found = guess(rows("Do you ship?\nYes.\nto France?\ndo you ship\n\nHi\nHello!\nhi"))

    assert found is not None
    assert [(line.intent, line.text, line.response) for line in found.lines] == [
        ("do_you_ship", "to France?", "Yes."),
        ("do_you_ship", "do you ship", "Yes."),
        ("hi", "hi", "Hello!"),
    ]


@pytest.mark.parametrize(
    ("text", "path", "intent", "messages"),
    [
        ("where is it\nhow long\nno", "a/order_status.csv", "order_status", 3),
        ("where is it\nhow long\nno", "a.xlsx/Order v1.2", "Order v1.2", 3),
        ("where is it\nhow long", "<stdin>", "messages", 2),
        ("greet_user\nwhere is it\nhow long", "a.csv", "greet_user", 2),
        ("Order status:\nwhere is it\nhow long", "a.csv", "Order status", 2),
        ("where is it\n\nhow long\n\nno\n", "a/faq.csv", "faq", 3),
    ],
)
def test_single_list_is_one_intent(text: str, path: str, intent: str, messages: int) -> None:
    """Named by its first row if that is a name, otherwise by the sheet or file."""
    found = lines(text, path)

    assert {name for name, _ in found} == {intent}
    assert len(found) == messages


@pytest.mark.parametrize("text", ["", "\n\n", "Notes"])
def test_table_of_one_row_is_not_guessed(text: str) -> None:
    assert guess(rows(text)) is None


def test_as_one_intent_skips_empty_and_short_rows() -> None:
    found = as_one_intent(rows("x|hello\n\n|\ny|bye"), 1, "greet")

    assert [(line.intent, line.text, line.place.line) for line in found.lines] == [
        ("greet", "hello", 1),
        ("greet", "bye", 4),
    ]


@pytest.mark.parametrize(("text", "name"), [("Where is it?", "where_is_it"), ("?!", "question"), ("x" * 80, "x" * 40)])
def test_name_of_message(text: str, name: str) -> None:
    assert name_of(text) == name
